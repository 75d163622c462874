// SPDX-License-Identifier: Apache-2.0
//
// The page can be read without a script; this one draws its charts, sorts and filters its tables, and keeps what the
// reader chose in the address.

import { printAll, redrawAll, type Chart } from "./chart";
import { chartOf } from "./charts";
import type { Page } from "./data";
import { h } from "./dom";
import { matches, Store, type Item, type State } from "./state";
import { drawStrips } from "./strips";
import { sortable, type Sorting } from "./table";
import { count, familyWord, grouped, outcomeWord, speak, t } from "./text";
import { useTheme } from "./theme";
import { toolbar, type Choice, type Choices } from "./toolbar";

interface Row extends Item {
  element: HTMLTableRowElement;
}
interface Part {
  element: HTMLElement;
  title: string;
  rows: Row[]; // that can be filtered
  link: HTMLElement;
}

/** Rows that are counted: those that one sees, or all where all are folded away. */
function counted(parts: Part[]): Row[] {
  const rows = parts.flatMap((part) => part.rows);
  const seen = rows.filter((row) => row.element.closest("details") === null);
  return seen.length > 0 ? seen : rows;
}

const listOf = (text: string | undefined): string[] => (text ? text.split("|") : []);

function rowsOf(part: HTMLElement): Row[] {
  return [...part.querySelectorAll<HTMLTableRowElement>("tbody tr[data-outcome]")].map((element) => ({
    element, family: element.dataset["family"] ?? "", libraries: listOf(element.dataset["library"]), outcomes: listOf(element.dataset["outcome"]),
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

const distinct = (values: string[]): string[] => [...new Set(values)].filter(Boolean);

function chartsOf(page: Page, root: HTMLElement, store: Store): Chart[] {
  const width = root.clientWidth; // of all of them
  return [...root.querySelectorAll<HTMLElement>("figure[data-chart]")].flatMap((figure) => {
    const data = page.charts[Number(figure.dataset["chart"])];
    return data ? [chartOf(figure, data, page.sides, () => store.state.hiddenSides, width)] : [];
  });
}

/** The toolbar stands behind the answer: the header, and the first section where that is what one reads first. */
const leading = (parts: Part[]): number => (parts.length === 0 || parts[0]?.rows.length ? 1 : 2);

function choicesOf(page: Page, parts: Part[], sorting: Sorting): Choices {
  const rows = parts.flatMap((part) => part.rows);
  const named = (values: string[], title = (value: string): string => value): Choice[] => distinct(values).map((value) => ({ value, title: title(value) }));
  const sides = named(page.sides);
  const outcomes = rows.flatMap((row) => row.outcomes);
  return {
    family: named(rows.map((row) => row.family), familyWord),
    library: named(rows.flatMap((row) => row.libraries).sort()),
    outcome: named(outcomes, (name) => outcomeWord(name, outcomes)),
    sides: sides.length > 2 ? sides.slice(1) : [],
    columns: sorting.columns,
    sorts: sorting.sorts,
  };
}

/** Rules that hide a column or a side, each behind a class of the page. */
function hidingRules(root: HTMLElement, sides: string[], columns: Choice[]): (state: State) => void {
  const sheet = h("style");
  document.head.append(sheet);
  const rule = (name: string): void => {
    sheet.sheet?.insertRule(`.hide-${CSS.escape(name)} .${CSS.escape(name)}{display:none!important}`);
  };
  for (let side = 2; side <= sides.length; ++side) rule(`side-${side}`); // the first is the baseline
  for (const column of columns) rule(`col-${column.value}`);
  return (state) => {
    sides.forEach((side, index) => root.classList.toggle(`hide-side-${index + 1}`, state.hiddenSides.has(side)));
    for (const column of columns) root.classList.toggle(`hide-col-${column.value}`, state.hiddenColumns.has(column.value));
  };
}

/** Lays out, after the first paint, also what is out of sight: the browser remembers its height, and the page does not grow while it is scrolled. */
function settle(root: HTMLElement): void {
  const later = (then: () => void): number => requestAnimationFrame(() => requestAnimationFrame(then));
  later(() => {
    root.classList.add("whole");
    later(() => {
      root.classList.remove("whole");
      performance.mark("assay:laid-out");
    });
  });
}

function start(page: Page): void {
  speak(page.language);
  const store = new Store();
  useTheme(store.state.theme);
  const root = document.getElementById("page") as HTMLElement;
  const main = document.getElementById("main") as HTMLElement;
  const parts = partsOf(main);
  const sorting = sortable(main, store);
  const charts = chartsOf(page, main, store);
  drawStrips(main);
  const choices = choicesOf(page, parts, sorting);
  const tools = toolbar(store, choices);
  const hide = hidingRules(root, page.sides, choices.columns);
  root.classList.toggle("still", parts.every((part) => part.rows.length === 0)); // nothing to filter
  const nothing = h("p", { class: "nothing", hidden: true }, t("nothing"));
  const contents = h("nav", { class: "contents", "aria-label": t("contents") }, h("ul", {}, ...parts.map((part) => part.link)));

  const rows = counted(parts);
  const apply = (what: Set<keyof State>): void => {
    const began = performance.now();
    let any = false;
    for (const part of parts) {
      let left = 0;
      for (const row of part.rows) {
        const fits = matches(store.state, row);
        row.element.hidden = !fits;
        left += Number(fits);
        any ||= fits;
      }
      const visible = part.rows.length === 0 || left > 0;
      part.element.hidden = !visible;
      part.link.hidden = !visible;
    }
    nothing.hidden = any || rows.length === 0;
    tools.say(rows.length === 0 ? "" : t("counted", grouped(rows.filter((row) => !row.element.hidden).length), count("rows", rows.length)));
    hide(store.state);
    if (what.has("sort") || what.has("down")) sorting.apply();
    if (what.has("hiddenSides")) for (const chart of charts) chart.update();
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
  (main.querySelector("article") ?? main).children[leading(parts) - 1]?.after(contents, tools.element, nothing);
  root.prepend(skip);
  main.parentElement?.querySelector(":scope > footer")?.append(h("p", { class: "keys" }, t("keys")));
  root.classList.add("scripted");
  apply(new Set());
  settle(root);
  addEventListener("resize", () => settle(root));
  printAll(() => store.state.theme, main);
  performance.mark("assay:complete");
}

start(JSON.parse(document.getElementById("data")?.textContent ?? "{}") as Page);
