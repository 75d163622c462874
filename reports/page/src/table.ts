// SPDX-License-Identifier: Apache-2.0
//
// A table that sorts and filters. Its rows are made in pieces while the browser is idle.

import { add, h, type Child } from "./dom";
import { later } from "./later";
import { matches, type Item, type Store } from "./state";
import { t } from "./text";

export interface Column<Row> {
  key: string; // of sorting, and of hiding: class col-KEY
  title: string;
  numeric?: boolean;
  side?: number;
  order?: (row: Row) => number | string | null; // absent: cannot be sorted by
  cell: (row: Row) => Child[];
}

interface Line<Row> {
  row: Row;
  item: Item;
  element: HTMLTableRowElement;
}

const piece = 100; // rows made at a time: a few milliseconds

export class Table<Row> {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly lines: Line<Row>[] = [];
  private readonly heads = new Map<string, HTMLElement>();

  constructor(
    caption: string,
    private readonly columns: Column<Row>[],
    private readonly rows: Row[],
    private readonly item: (row: Row) => Item,
    private readonly store: Store,
    underHeading = false, // that says the same
  ) {
    const head = h("tr", {}, ...columns.map((column) => this.head(column)));
    const table = h("table", {}, h("caption", { class: underHeading ? "unseen" : null }, caption), h("thead", {}, head), this.body);
    this.element = h("div", { class: "wide", role: "region", "aria-label": caption, tabindex: 0 }, table);
    this.make(0);
    this.markSort();
  }

  /** Shows what the filters leave, and says how many that are. */
  apply(): void {
    for (const line of this.lines) line.element.hidden = !matches(this.store.state, line.item);
  }

  sort(): void {
    this.markSort();
    const { sort, down } = this.store.state;
    const order = this.columns.find((column) => column.key === sort)?.order;
    const place = new Map(this.rows.map((row, index) => [row, index]));
    const keys = new Map(this.lines.map((line) => [line, order ? order(line.row) : null]));
    const sorted = [...this.lines].sort((a, b) => {
      const x = keys.get(a) ?? null;
      const y = keys.get(b) ?? null;
      if (x === null || y === null) {
        // What has no figure comes last, whichever the direction.
        if (x !== y) return x === null ? 1 : -1;
      } else if (x !== y) {
        const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
        if (less !== 0) return down ? -less : less;
      }
      return (place.get(a.row) ?? 0) - (place.get(b.row) ?? 0);
    });
    this.body.append(...sorted.map((line) => line.element));
  }

  private make(from: number): void {
    later(() => {
      const end = Math.min(this.rows.length, from + piece);
      for (const row of this.rows.slice(from, end)) {
        const element = h("tr");
        for (const column of this.columns) add(element, this.cell(column, row));
        const item = this.item(row);
        element.hidden = !matches(this.store.state, item);
        this.lines.push({ row, item, element });
        this.body.append(element);
      }
      if (end < this.rows.length) this.make(end);
      else if (this.store.state.sort) this.sort();
    });
  }

  private cell(column: Column<Row>, row: Row): HTMLElement {
    const content = column.cell(row).filter((child) => child !== null && child !== undefined && child !== "" && child !== false);
    const name = classes(column);
    if (column === this.columns[0]) return h("th", { scope: "row", class: name }, ...content);
    return h("td", { class: name, "data-l": content.length ? column.title : null }, ...content);
  }

  private head(column: Column<Row>): HTMLElement {
    const element = h("th", { scope: "col", class: classes(column) });
    if (!column.order) {
      element.append(column.title);
      return element;
    }
    const button = h("button", { type: "button", class: "sort" }, column.title, h("span", { class: "arrow", "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      const { sort, down } = this.store.state;
      const first = Boolean(column.numeric); // figures begin with the largest, names with A
      if (sort !== column.key) this.store.change({ sort: column.key, down: first });
      else if (down === first) this.store.change({ down: !first });
      else this.store.change({ sort: "", down: false });
    });
    button.title = t("sort_by", column.title);
    element.append(button);
    this.heads.set(column.key, element);
    return element;
  }

  private markSort(): void {
    for (const [key, element] of this.heads) {
      const chosen = key === this.store.state.sort;
      element.setAttribute("aria-sort", chosen ? (this.store.state.down ? "descending" : "ascending") : "none");
    }
  }
}

function classes<Row>(column: Column<Row>): string {
  return [`col-${column.key}`, column.numeric ? "n" : "", column.side === undefined ? "" : `side-${column.side}`].filter(Boolean).join(" ");
}
