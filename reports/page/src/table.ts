// SPDX-License-Identifier: Apache-2.0
//
// Tables sort by the columns that have a key: all tables with that column at once, so that a page keeps one order.

import { h } from "./dom";
import type { Store } from "./state";
import { t } from "./text";
import type { Choice } from "./toolbar";

export interface Sorting {
  sorts: Choice[]; // columns that can be sorted by
  columns: Choice[]; // and those that can be hidden: not the names, not those of a side
  apply: () => void;
}

interface Head {
  element: HTMLElement;
  body: HTMLTableSectionElement;
  index: number;
  key: string;
  numeric: boolean;
  title: string;
  ofSide: boolean;
  seen: boolean; // not folded away
}

const keyOf = (element: Element): string => [...element.classList].find((name) => name.startsWith("col-"))?.slice(4) ?? "";

function headsOf(table: HTMLTableElement): Head[] {
  const body = table.tBodies[0];
  if (!body || !body.querySelector("tr[data-outcome]")) return [];
  const seen = new Map<string, number>();
  return [...table.querySelectorAll<HTMLElement>("thead th")].flatMap((element, index) => {
    const named = index === 0 ? "name" : keyOf(element);
    if (!named) return [];
    const side = (seen.get(named) ?? 0) + 1; // the same column of the next side
    seen.set(named, side);
    return [{
      element, body, index, key: side > 1 ? `${named}-${side}` : named, numeric: element.classList.contains("n"), title: element.textContent ?? "",
      ofSide: element.className.includes("side-"), seen: element.closest("details") === null,
    }];
  });
}

function valueOf(row: HTMLTableRowElement, index: number): number | string | null {
  const cell = row.cells[index];
  const number = cell?.dataset["v"];
  if (number !== undefined) return Number(number);
  return index === 0 || !cell?.classList.contains("n") ? cell?.textContent || null : null;
}

export function sortable(main: HTMLElement, store: Store): Sorting {
  const heads = [...main.querySelectorAll("table")].flatMap(headsOf);
  const original = new Map(heads.map(({ body }) => [body, [...body.rows]]));
  for (const head of heads) {
    const button = h("button", { type: "button", class: "sort", title: t("sort_by", head.title) }, head.title, h("span", { class: "arrow", "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      const { sort, down } = store.state;
      if (sort !== head.key) store.change({ sort: head.key, down: head.numeric }); // values begin with the largest, names with A
      else if (down === head.numeric) store.change({ down: !head.numeric });
      else store.change({ sort: "", down: false });
    });
    head.element.replaceChildren(button);
  }
  const apply = (): void => {
    const { sort, down } = store.state;
    for (const [body, rows] of original) {
      const head = heads.find((one) => one.body === body && one.key === sort);
      if (!head) {
        body.append(...rows);
        continue;
      }
      const keys = new Map(rows.map((row) => [row, valueOf(row, head.index)]));
      body.append(...[...rows].sort((a, b) => order(keys.get(a) ?? null, keys.get(b) ?? null, down)));
    }
    for (const { element, key } of heads) element.setAttribute("aria-sort", key === sort ? (down ? "descending" : "ascending") : "none");
  };
  apply();
  return { sorts: choicesOf(heads), columns: choicesOf(heads.filter((head) => head.key !== "name" && !head.ofSide)), apply };
}

/** A choice for each column, under the title that most tables give it. */
function choicesOf(heads: Head[]): Choice[] {
  const titles = new Map<string, Map<string, number>>();
  const seen = heads.filter((head) => head.seen);
  for (const { key, title } of seen.length > 0 ? seen : heads) {
    const counts = titles.get(key) ?? new Map<string, number>();
    titles.set(key, counts.set(title, (counts.get(title) ?? 0) + 1));
  }
  return [...titles].map(([value, counts]) => ({ value, title: [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0] }));
}

/** Rows without a value come last in both directions. */
function order(x: number | string | null, y: number | string | null, down: boolean): number {
  if (x === null || y === null) return Number(x === null) - Number(y === null);
  const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
  return down ? -less : less;
}
