// SPDX-License-Identifier: Apache-2.0
//
// Tables wider than a page of paper are printed in slices: below each other, each with the names of the rows.

import { h } from "./dom";

// px of an A4 page between the margins of the style sheet, upright and on its side; page.css has them too
const paper = 675;
const broadPaper = 1005;

export const paperOf = (element: Element): number => (element.closest(".broad") ? broadPaper : paper);

/** Cells beside the first that stand together on each slice: `room` px beside the first. */
function filled(widths: number[], room: number): number[][] {
  const slices: number[][] = [];
  let left = 0;
  widths.forEach((width, at) => {
    if (at === 0 || width === 0) return; // the name; hidden
    if (slices.length === 0 || width > left) {
      slices.push([]);
      left = room;
    }
    slices[slices.length - 1]?.push(at);
    left -= width;
  });
  return slices;
}

/** The fewest slices that fit, about equally wide. */
function slicesOf(table: HTMLTableElement, room: number): number[][] {
  const widths = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => head.offsetWidth);
  const [name = 0, ...others] = widths;
  const slices = filled(widths, room - name);
  const even = others.reduce((sum, width) => sum + width, 0) / slices.length + Math.max(...others) / 2;
  const evened = filled(widths, Math.min(room - name, even));
  return evened.length > slices.length ? slices : evened;
}

function sliceOf(table: HTMLTableElement, cells: number[]): HTMLTableElement {
  const copy = table.cloneNode(true) as HTMLTableElement;
  for (const row of copy.rows) [...row.cells].forEach((cell, index) => index > 0 && !cells.includes(index) && cell.remove());
  return copy;
}

export function splitTables(main: HTMLElement): void {
  main.classList.add("measured");
  const wide = [...main.querySelectorAll<HTMLElement>(".wide")].filter((region) => region.offsetWidth > 0);
  const found = wide.map((region) => ({ region, table: region.querySelector("table") as HTMLTableElement })).map(({ region, table }) => ({ region, table, slices: slicesOf(table, paperOf(region)) }));
  main.classList.remove("measured");
  for (const { region, table, slices } of found) {
    if (slices.length < 2) continue;
    region.classList.add("split");
    region.append(h("div", { class: "slices" }, ...slices.map((cells) => sliceOf(table, cells))));
  }
}

export function joinTables(main: HTMLElement): void {
  for (const slices of main.querySelectorAll(".slices")) {
    slices.parentElement?.classList.remove("split");
    slices.remove();
  }
}
