// SPDX-License-Identifier: Apache-2.0
//
// The page: reads the data that stand in it, builds its parts, and lets the filters act on them.

import { printAll, redrawAll } from "./chart";
import { comparisonView } from "./comparison";
import type { Page } from "./data";
import { add, h } from "./dom";
import { historyView } from "./history";
import { reportView } from "./report";
import { matches, Store, type State } from "./state";
import { speak, t } from "./text";
import { useTheme } from "./theme";
import { toolbar } from "./toolbar";
import type { Part, View } from "./view";

function viewOf(page: Page, store: Store): View {
  if (page.comparison) return comparisonView(page.comparison, store);
  if (page.history) return historyView(page.history, store);
  return reportView(page.report?.reports ?? [], store);
}

/** Rules that hide a column or a side, each behind a class of the page. */
function hidingRules(root: HTMLElement, view: View): (state: State) => void {
  const sheet = h("style");
  document.head.append(sheet);
  const rule = (name: string): void => {
    sheet.sheet?.insertRule(`.hide-${name} .${name}{display:none!important}`);
  };
  const sides = view.choices.sides.map((side, index) => ({ side: side.value, name: `side-${index + 1}` }));
  for (const { name } of sides) rule(name);
  for (const column of view.choices.columns) rule(`col-${column.value}`);
  return (state) => {
    for (const { side, name } of sides) root.classList.toggle(`hide-${name}`, state.hiddenSides.has(side));
    for (const column of view.choices.columns) root.classList.toggle(`hide-col-${column.value}`, state.hiddenColumns.has(column.value));
  };
}

function contents(parts: Part[]): { element: HTMLElement; show: (part: Part, shown: boolean) => void } {
  const links = new Map<Part, HTMLElement>();
  parts.forEach((part, index) => {
    part.element.id ||= `part-${index}`;
    const link = h("a", { href: `#${part.element.id}` }, part.title);
    link.addEventListener("click", (event) => {
      event.preventDefault(); // the address keeps what was chosen
      part.element.scrollIntoView();
      part.element.querySelector("h2")?.focus({ preventScroll: true });
    });
    links.set(part, h("li", {}, link));
  });
  return {
    element: h("nav", { class: "contents", "aria-label": t("contents") }, h("ul", {}, ...links.values())),
    show: (part, shown) => {
      const link = links.get(part);
      if (link) link.hidden = !shown;
    },
  };
}

function viewSwitch(store: Store, view: View): HTMLElement | null {
  if (view.views.length < 2) return null;
  const buttons = view.views.map(({ value, title }) => {
    const button = h("button", { type: "button", class: "chip" }, title);
    button.addEventListener("click", () => store.change({ view: value === view.views[0]?.value ? "" : value }));
    return { button, value };
  });
  const press = (): void => {
    const now = store.state.view || view.views[0]?.value;
    for (const { button, value } of buttons) button.setAttribute("aria-pressed", String(value === now));
  };
  store.listen(press);
  press();
  return h("div", { class: "chips switch", role: "group", "aria-label": t("view") }, ...buttons.map(({ button }) => button));
}

function start(page: Page): void {
  speak(page.language === "zh" ? "zh" : "en");
  const store = new Store();
  useTheme(store.state.theme);
  const root = document.getElementById("page") as HTMLElement;
  const view = viewOf(page, store);
  const tools = toolbar(store, view.choices);
  const toc = contents(view.parts);
  const hide = hidingRules(root, view);
  const nothing = h("p", { class: "nothing", hidden: true }, t("nothing"));

  const apply = (what: Set<keyof State>): void => {
    const began = performance.now();
    const now = store.state.view || view.views[0]?.value;
    let shown = 0;
    let total = 0;
    for (const part of view.parts) {
      const inView = !part.view || !view.views.length || part.view === now;
      const left = part.items.filter((item) => matches(store.state, item)).length;
      if (inView) {
        shown += left;
        total += part.items.length;
      }
      const visible = inView && (part.items.length === 0 || left > 0);
      part.element.hidden = !visible;
      toc.show(part, visible);
      if (visible) part.update(what);
    }
    nothing.hidden = shown > 0 || total === 0;
    tools.say(view.counted(shown, total));
    hide(store.state);
    root.dataset["view"] = now ?? "";
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
  const main = h("main", { id: "main", tabindex: -1 }, nothing, ...view.parts.map((part) => part.element));
  add(
    root, skip,
    h("header", { class: "top" }, h("p", { class: "kicker" }, view.kicker), h("h1", {}, page.title || view.title), h("p", { class: "sub" }, view.sub), viewSwitch(store, view), toc.element),
    tools.element, main,
    h("footer", {}, h("p", {}, t("made", page.version, page.created.replace("T", " ").replace("Z", " UTC"))), h("p", { class: "keys" }, t("keys"))),
  );
  document.title = page.title || view.title;
  apply(new Set());
  printAll(() => store.state.theme);
  performance.mark("assay:built");
}

start(JSON.parse(document.getElementById("data")?.textContent ?? "{}") as Page);
