// SPDX-License-Identifier: Apache-2.0
//
// A map of thousands of rows: all of them in one small picture, of which a part is drawn with names and figures. The
// reader filters, sorts by a column, turns pages, or points at the picture.

import type { HeatMap } from "./data";
import { h, unique } from "./dom";
import { grouped, t } from "./text";
import type { Theme } from "./theme";

const page = 40; // rows that are drawn
const band = 12; // px of the picture for each column, at most

export interface Window {
  element: HTMLElement;
  count: () => number; // rows that are drawn
  /** The rows that are to be drawn, as a map of their own; paints the picture. */
  shown: (colours: Theme, width: number) => HeatMap;
}

/** Nothing for a map that can be drawn whole. */
export function windowOf(map: HeatMap, changed: () => void, colourOf: (colours: Theme, value: number) => string): Window | null {
  const columns = map.columns.length;
  if (map.rows.length <= page) return null;
  const names = map.rows.map((name) => name.toLowerCase());
  let order = map.rows.map((_, row) => row);
  let start = 0;

  const id = unique("rows");
  const box = h("input", { type: "search", id, placeholder: map.row_title, autocomplete: "off", spellcheck: "false" });
  const sort = h("select", { id: unique("rows") }, h("option", { value: "" }, t("order_of_file")), ...map.columns.map((name, index) => h("option", { value: index }, `${name} ↑`)));
  const back = h("button", { type: "button", class: "plain", "aria-label": t("rows_back") }, "‹");
  const on = h("button", { type: "button", class: "plain", "aria-label": t("rows_on") }, "›");
  const says = h("output", { class: "said", "aria-live": "polite" });
  const each = Math.max(3, Math.min(band, Math.floor(180 / columns)));
  const picture = h("canvas", { class: "picture", role: "img", "aria-label": t("rows_picture"), height: columns * each });
  picture.style.height = `${columns * each}px`;

  const tell = (): void => {
    back.disabled = start === 0;
    on.disabled = start + page >= order.length;
    says.textContent = order.length === 0 ? t("counted", 0, grouped(map.rows.length)) : t("rows_shown", grouped(start + 1), grouped(Math.min(start + page, order.length)), grouped(order.length));
  };
  const go = (to: number): void => {
    start = Math.max(0, Math.min(to, Math.floor(Math.max(0, order.length - 1) / page) * page));
    tell();
    changed();
  };
  const arrange = (): void => {
    const began = performance.now();
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    order = [];
    for (let row = 0; row < names.length; ++row) if (words.every((word) => names[row]?.includes(word))) order.push(row);
    if (sort.value !== "") {
      const value = (row: number): number => map.values[row * columns + Number(sort.value)] ?? Infinity;
      order.sort((a, b) => value(a) - value(b) || a - b);
    }
    go(0);
    performance.measure("assay:rows", { start: began });
  };
  box.addEventListener("input", arrange);
  sort.addEventListener("change", arrange);
  back.addEventListener("click", () => go(start - page));
  on.addEventListener("click", () => go(start + page));
  picture.addEventListener("click", (event) => go(Math.floor(((event.offsetX / picture.clientWidth) * order.length) / page) * page));

  /** Every row in order from the left, each column a band; where several rows share a pixel, the worst. */
  const paint = (colours: Theme, width: number): void => {
    const across = Math.max(1, Math.min(width, order.length));
    Object.assign(picture, { width: across, height: columns * each });
    const brush = picture.getContext("2d");
    if (!brush) return;
    for (let x = 0; x < across; ++x) {
      const from = Math.floor((x * order.length) / across);
      const to = Math.max(from + 1, Math.floor(((x + 1) * order.length) / across));
      for (let column = 0; column < columns; ++column) {
        let worst = Infinity;
        for (let i = from; i < to && i < order.length; ++i) worst = Math.min(worst, map.values[(order[i] as number) * columns + column] ?? Infinity);
        brush.fillStyle = worst === Infinity ? colours.faint : colourOf(colours, worst);
        brush.fillRect(x, column * each, 1, each);
      }
    }
    // The position of the drawn rows.
    if (order.length > page) {
      brush.fillStyle = colours.ink;
      const left = Math.floor((start / order.length) * across);
      brush.fillRect(left, 0, Math.max(2, Math.ceil((page / order.length) * across)), 2);
    }
  };
  const labelled = (label: string, element: HTMLElement): HTMLElement[] => [h("label", { class: "name", for: element.id }, label), element];
  const element = h("div", { class: "rows" }, h("div", { class: "line" }, ...labelled(t("filter"), box), ...labelled(t("order"), sort), back, on, says), picture);
  tell();
  return {
    element,
    count: () => Math.min(page, order.length - start),
    shown: (colours, width) => {
      paint(colours, Math.floor(width));
      const drawn = order.slice(start, start + page);
      return { ...map, rows: drawn.map((row) => map.rows[row] as string), values: drawn.flatMap((row) => map.values.slice(row * columns, (row + 1) * columns)) };
    },
  };
}
