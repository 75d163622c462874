// SPDX-License-Identifier: Apache-2.0
//
// What a part of the page is to the whole, and pieces that several parts are made of.

import { h, type Child } from "./dom";
import { matches, type Item, type State, type Store } from "./state";
import { t } from "./text";
import type { Choices } from "./toolbar";

/** A section of the page that the filters act on. */
export interface Part {
  element: HTMLElement;
  title: string; // in the contents
  view?: string; // shown in this view only
  items: Item[];
  update: (what: Set<keyof State>) => void; // after the filters or the order changed; only while something is left of it
}

export interface View {
  kicker: string;
  title: string;
  sub: string;
  parts: Part[];
  choices: Choices;
  views: { value: string; title: string }[]; // to switch between; the first is the default
  counted: (shown: number, total: number) => string;
}

export function section(title: string, question: string, ...children: Child[]): HTMLElement {
  const heading = h("h2", { tabindex: -1 }, title);
  return h("section", { class: "part" }, heading, question ? h("p", { class: "question" }, question) : null, ...children);
}

/** A section that is the same whatever is filtered. */
export const still = (title: string, element: HTMLElement): Part => ({ element, title, items: [], update: () => undefined });

/** The line that comes before all others. */
export const causeLine = (cause: string): HTMLElement | null =>
  cause ? h("ul", { class: "findings" }, h("li", { class: "caution" }, h("p", {}, cause))) : null;

export const facts = (pairs: [string, string][], kind = "facts"): HTMLElement =>
  h("dl", { class: kind }, ...pairs.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));

export const list = (items: string[], kind = "foot"): HTMLElement | null =>
  items.length ? h("ul", { class: kind }, ...items.map((item) => h("li", {}, item))) : null;

export const matching = <Row>(store: Store, rows: { row: Row; item: Item }[]): Row[] =>
  rows.filter(({ item }) => matches(store.state, item)).map(({ row }) => row);

/** What takes no part, and why: folded where it is long. */
export function reasons(title: string, question: string, entries: { what: string; reason: string; where: string[] }[]): Part | null {
  if (!entries.length) return null;
  const body = h("tbody");
  for (const entry of entries) {
    const where = entry.where.length > 3
      ? h("details", {}, h("summary", {}, t("places", entry.where.length)), list(entry.where))
      : entry.where.join(", ");
    body.append(h("tr", {}, h("th", { scope: "row" }, entry.what), h("td", { "data-l": t("reason") }, entry.reason), h("td", { "data-l": t("where") }, where)));
  }
  const head = h("tr", {}, ...[t("what"), t("reason"), t("where")].map((text) => h("th", { scope: "col" }, text)));
  const table = h("table", { class: "reasons" }, h("caption", { class: "unseen" }, title), h("thead", {}, head), body);
  return still(title, section(title, question, h("div", { class: "wide", role: "region", "aria-label": title, tabindex: 0 }, table)));
}
