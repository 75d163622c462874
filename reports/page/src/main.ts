// SPDX-License-Identifier: Apache-2.0
//
// The page can be read without a script; this one draws its charts, sorts and filters its tables, and keeps what the
// reader chose in the address.

import { printAll, redrawAll, type Chart } from "./chart";
import { chartOf } from "./charts";
import type { Page, View } from "./data";
import { h } from "./dom";
import { matches, Store, type Item, type State } from "./state";
import { drawStrips } from "./strips";
import { sortable, type Sorting } from "./table";
import { count, outcomeWord, speak, t } from "./text";
import { useTheme } from "./theme";
import { toolbar, type Choice, type Choices } from "./toolbar";

interface Row extends Item {
  element: HTMLTableRowElement;
  counted: boolean; // one case: not a family, not out of the way
}
interface Part {
  element: HTMLElement;
  title: string;
  rows: Row[]; // that can be filtered
  link: HTMLElement;
}

const listOf = (text: string | undefined): string[] => (text ? text.split("|") : []);

function rowsOf(part: HTMLElement): Row[] {
  return [...part.querySelectorAll<HTMLTableRowElement>("tbody tr[data-outcome]")].map((element) => ({
    element, counted: Boolean(element.dataset["library"]) && element.closest("details") === null, family: element.dataset["family"] ?? "", libraries: listOf(element.dataset["library"]), outcomes: listOf(element.dataset["outcome"]),
    text: `${element.textContent} ${element.dataset["family"]} ${element.dataset["library"]}`.toLowerCase(),
  }));
}

function linkTo(element: HTMLElement, title: string): HTMLElement {
  const link = h("a", { href: `#${element.id}` }, title);
  link.addEventListener("click", (event) => {
    event.preventDefault(); // the address keeps what was chosen
    element.scrollIntoView();
    element.querySelector("h2")?.focus({ preventScroll: true });
  });
  return h("li", {}, link);
}

function partsOf(main: HTMLElement): Part[] {
  return [...main.querySelectorAll<HTMLElement>(".part")].map((element) => {
    const title = element.querySelector("h2")?.textContent ?? "";
    return { element, title, rows: rowsOf(element), link: linkTo(element, title) };
  });
}

function distinct(choices: Choice[]): Choice[] {
  return [...new Map(choices.map((choice) => [choice.value, choice])).values()].filter((choice) => choice.value);
}

/** A document of the page with all that acts on it. */
interface Shown {
  view: View;
  nodes: Element[];
  parts: Part[];
  sorting: Sorting;
  charts: Chart[];
}

function shownOf(page: Page, view: View, root: HTMLElement, store: Store): Shown {
  const primary = page.views[0]?.sides ?? [];
  const sides = { names: view.sides, hue: (side: number) => primary.indexOf(view.sides[side - 1] ?? "") };
  const charts = [...root.querySelectorAll<HTMLElement>("figure[data-chart]")].flatMap((figure) => {
    const data = page.charts[Number(figure.dataset["chart"])];
    return data ? [chartOf(figure, data, sides, () => store.state.hiddenSides)] : [];
  });
  drawStrips(root);
  return { view, nodes: [...(root.querySelector("article") ?? root).children], parts: partsOf(root), sorting: sortable(root, store), charts };
}

/** What can be chosen stands behind the answer: the header, and the first section where that is what one reads first. */
const leading = ({ parts }: Shown): number => (parts.length === 0 || parts[0]?.rows.length ? 1 : 2);

function scaleTitle(scale: string): string {
  return scale === "core" ? t("per_core") : scale === "currency" ? t("per_currency") : t("per_machine");
}

function choicesOf(page: Page, { parts, sorting }: Shown, others: Iterable<HTMLTableRowElement>): Choices {
  const rows = parts.flatMap((part) => part.rows.map((row) => ({ row, title: part.title })));
  const outcomes = [...rows.flatMap(({ row }) => row.outcomes), ...[...others].flatMap((row) => listOf(row.dataset["outcome"]))];
  const names = (values: string[]): Choice[] => distinct(values.map((value) => ({ value, title: value })));
  const sides = names(page.views[0]?.sides ?? []);
  return {
    family: distinct(rows.map(({ row, title }) => ({ value: row.family, title }))),
    library: names(rows.flatMap(({ row }) => row.libraries).sort()),
    outcome: distinct(outcomes.map((value) => ({ value, title: outcomeWord(value) }))),
    sides: sides.length > 2 ? sides : [],
    columns: sorting.columns.filter((column) => column.value !== "name"),
    sorts: sorting.columns,
    baselines: sides.filter((side) => page.views.some((view) => view.sides[0] === side.value)),
    scales: distinct(page.views.map(({ scale }) => ({ value: scale, title: scaleTitle(scale) }))),
  };
}

/** Rules that hide a column or a side, each behind a class of the page. */
function hidingRules(root: HTMLElement, sides: number, columns: Choice[]): (state: State, view: View) => void {
  const sheet = h("style");
  document.head.append(sheet);
  const rule = (name: string): void => {
    sheet.sheet?.insertRule(`.hide-${name} .${name}{display:none!important}`);
  };
  for (let side = 2; side <= sides; ++side) rule(`side-${side}`); // the first is the baseline
  for (const column of columns) rule(`col-${column.value}`);
  return (state, view) => {
    view.sides.forEach((side, index) => root.classList.toggle(`hide-side-${index + 1}`, state.hiddenSides.has(side)));
    for (const column of columns) root.classList.toggle(`hide-col-${column.value}`, state.hiddenColumns.has(column.value));
  };
}

const margins = new CSSStyleSheet();
/** In the margin of printed pages, in place of that of the file. */
function runningTitle(text: string): void {
  document.adoptedStyleSheets = [margins];
  margins.replaceSync(`@page{@top-left{content:"${text.replace(/[^\p{L}\p{N} ]/gu, (sign) => `\\${sign.codePointAt(0)?.toString(16)} `)}";font:8pt sans-serif;color:#666}}`);
}

function start(page: Page): void {
  speak(page.language);
  const store = new Store();
  useTheme(store.state.theme);
  const root = document.getElementById("page") as HTMLElement;
  const main = document.getElementById("main") as HTMLElement;
  const alternatives = [...main.querySelectorAll<HTMLTemplateElement>(":scope > template")];
  const first = shownOf(page, page.views[0] as View, main, store);
  const known = new Map<View, Shown>([[first.view, first]]);
  const choices = choicesOf(page, first, alternatives.flatMap((one) => [...one.content.querySelectorAll<HTMLTableRowElement>("tr[data-outcome]")]));
  const tools = toolbar(store, choices);
  const hide = hidingRules(root, first.view.sides.length, choices.columns);
  root.classList.toggle("still", first.parts.every((part) => part.rows.length === 0)); // nothing to filter
  const nothing = h("p", { class: "nothing", hidden: true }, t("nothing"));
  const links = h("ul");
  const contents = h("nav", { class: "contents", "aria-label": t("contents") }, links);
  const fixed = [contents, tools.element, nothing];
  let shown = first;

  /** The view that the reader chose: its nodes replace those around what can be chosen, which stays where it is. */
  const choose = (): void => {
    const { baseline, scale } = store.state;
    const fits = (view: View): boolean => view.scale === (scale || first.view.scale) && view.sides[0] === (baseline || first.view.sides[0]);
    const place = Math.max(0, page.views.findIndex(fits));
    const view = page.views[place] as View;
    if (view === shown.view) return;
    let next = known.get(view);
    if (!next) {
      const article = document.adoptNode(alternatives[place - 1]?.content.firstElementChild as HTMLElement);
      next = shownOf(page, view, article, store);
      known.set(view, next);
    }
    for (const node of shown.nodes) node.remove();
    put(next);
  };
  const put = (next: Shown): void => {
    const article = contents.parentElement as Element;
    article.prepend(...next.nodes.slice(0, leading(next)));
    article.append(...next.nodes.slice(leading(next)));
    const answer = article.querySelector("h1")?.textContent ?? "";
    document.title = answer;
    runningTitle(article.querySelector("header .sub")?.textContent ?? "");
    offer(next);
    tools.answer(answer);
    next.sorting.apply();
    for (const chart of next.charts) chart.update();
    shown = next;
  };
  const offer = (next: Shown): void => {
    links.replaceChildren(...next.parts.map((part) => part.link));
    tools.show(next.sorting.columns, next.view.sides[0] ?? "");
  };

  const apply = (what: Set<keyof State>): void => {
    const began = performance.now();
    if (what.has("baseline") || what.has("scale")) choose();
    let fitting = 0;
    let total = 0;
    for (const part of shown.parts) {
      let left = 0;
      for (const row of part.rows) {
        const fits = matches(store.state, row);
        row.element.hidden = !fits;
        left += Number(fits);
        if (!row.counted) continue;
        fitting += Number(fits);
        ++total;
      }
      const visible = part.rows.length === 0 || left > 0;
      part.element.hidden = !visible;
      part.link.hidden = !visible;
    }
    nothing.hidden = fitting > 0 || total === 0;
    tools.say(total === 0 ? "" : t("counted", fitting, count("cases", total)));
    hide(store.state, shown.view);
    if (what.has("sort") || what.has("down")) shown.sorting.apply();
    if (what.has("hiddenSides")) for (const chart of shown.charts) chart.update();
    performance.measure("assay:filter", { start: began });
  };
  store.listen((what) => {
    if (what.has("theme")) {
      useTheme(store.state.theme);
      redrawAll();
    }
    if (what.size > 1 || !what.has("theme")) apply(what);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);

  const skip = h("a", { class: "skip", href: "#main" }, t("skip"));
  skip.addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  first.nodes[leading(first) - 1]?.after(...fixed);
  offer(first);
  root.prepend(skip);
  main.parentElement?.querySelector(":scope > footer")?.append(h("p", { class: "keys" }, t("keys")));
  root.classList.add("scripted");
  apply(new Set(["baseline"]));
  printAll(() => store.state.theme, main);
  performance.mark("assay:complete");
}

start(JSON.parse(document.getElementById("data")?.textContent ?? "{}") as Page);
