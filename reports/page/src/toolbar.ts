// SPDX-License-Identifier: Apache-2.0
//
// Choices of the reader: words, families, libraries, outcomes, sides, columns, order, colours.

import { h, unique } from "./dom";
import type { State, Store } from "./state";
import { t } from "./text";
import { isDark } from "./theme";

export interface Choice {
  value: string;
  title: string;
}
export interface Choices {
  family: Choice[];
  library: Choice[];
  outcome: Choice[];
  sides: Choice[]; // that can be hidden: not the baseline
  columns: Choice[];
  sorts: Choice[];
}
type SetName = "family" | "library" | "outcome" | "hiddenSides" | "hiddenColumns";

export interface Toolbar {
  element: HTMLElement;
  /** Tells what the filters leave. */
  say: (text: string) => void;
}

export function toolbar(store: Store, choices: Choices): Toolbar {
  const output = h("output", { class: "count", "aria-live": "polite" });
  const box = h("input", { type: "search", id: "filter", placeholder: t("filter_hint"), autocomplete: "off", spellcheck: "false" });
  box.value = store.state.words;
  box.addEventListener("input", () => store.change({ words: box.value }));
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    box.focus();
  });

  const groups = [
    group(store, "family", t("families"), choices.family, false),
    group(store, "library", t("libraries"), choices.library, false),
    group(store, "outcome", t("outcomes"), choices.outcome, false),
    group(store, "hiddenSides", t("sides"), choices.sides, true),
    group(store, "hiddenColumns", t("columns"), choices.columns, true),
  ];
  const reset = h("button", { type: "button", class: "plain" }, t("reset"));
  reset.addEventListener("click", () => {
    const none = new Set<string>();
    store.change({ words: "", family: none, library: none, outcome: none, hiddenSides: none, hiddenColumns: none, sort: "", down: false });
    box.focus();
  });
  const more = h("details", { class: "more" }, h("summary", {}, t("filter_more")), h("div", { class: "groups" }, ...groups, order(store, choices.sorts), h("div", { class: "group" }, reset)));

  store.listen(() => {
    if (box.value !== store.state.words) box.value = store.state.words;
    reset.disabled = !chosen(store.state);
  });
  reset.disabled = !chosen(store.state);
  more.open = chosen(store.state) && store.state.words === "";

  const element = h(
    "div", { class: "toolbar", role: "search", "aria-label": t("filter") },
    h("div", { class: "line" }, h("label", { for: "filter" }, t("filter")), box, output, themeButton(store)),
    more,
  );
  return { element, say: (text) => (output.textContent = text) };
}

const chosen = (state: State): boolean =>
  Boolean(state.words || state.sort || state.family.size || state.library.size || state.outcome.size || state.hiddenSides.size || state.hiddenColumns.size);

/** Buttons that are pressed or not; arrow keys go from one to the next, so that Tab need not. */
function group(store: Store, name: SetName, title: string, choices: Choice[], inverse: boolean): HTMLElement | null {
  if (choices.length < (inverse ? 1 : 2)) return null;
  const id = unique("group");
  const buttons = choices.map((choice, index) => {
    const button = h("button", { type: "button", class: "chip", tabindex: index === 0 ? 0 : -1 }, choice.title);
    button.addEventListener("click", () => store.toggle(name, choice.value));
    return button;
  });
  const press = (): void =>
    choices.forEach((choice, index) => buttons[index]?.setAttribute("aria-pressed", String(store.state[name].has(choice.value) !== inverse)));
  store.listen(press);
  press();
  const row = h("div", { class: "chips", role: "group", "aria-labelledby": id }, ...buttons);
  row.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const next = buttons[(to + buttons.length) % buttons.length];
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next?.focus();
  });
  return h("div", { class: "group" }, h("span", { class: "name", id }, title), row);
}

function order(store: Store, sorts: Choice[]): HTMLElement {
  const id = unique("order");
  const element = h("select", { id }, h("option", { value: "" }, t("order_of_file")));
  for (const { value, title } of sorts)
    for (const down of [false, true]) element.append(h("option", { value: (down ? "-" : "") + value }, `${title} ${down ? "↓" : "↑"}`));
  element.addEventListener("change", () => store.change({ sort: element.value.replace(/^-/, ""), down: element.value.startsWith("-") }));
  const read = (): void => {
    element.value = (store.state.down && store.state.sort ? "-" : "") + store.state.sort;
  };
  store.listen(read);
  read();
  return h("div", { class: "group" }, h("label", { class: "name", for: id }, t("order")), element);
}

function themeButton(store: Store): HTMLElement {
  const button = h("button", { type: "button", class: "plain theme" });
  const read = (): void => {
    const dark = isDark(store.state.theme);
    button.textContent = dark ? "☀" : "☾";
    button.setAttribute("aria-label", t(dark ? "to_light" : "to_dark"));
    button.title = t(dark ? "to_light" : "to_dark");
  };
  button.addEventListener("click", () => store.change({ theme: isDark(store.state.theme) ? "light" : "dark" }));
  store.listen(read);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", read);
  read();
  return button;
}
