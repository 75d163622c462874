// SPDX-License-Identifier: Apache-2.0
//
// Values one by one, as small drawings in a table: each panel is a replica, each dot a value. Up is faster.

import { s } from "./dom";
import { t } from "./text";

const width = 132; // px
const height = 30;
const mostDots = 60; // of a panel: more are not told apart at this size

function thinned(values: number[]): number[] {
  if (values.length <= mostDots) return values;
  const step = values.length / mostDots;
  return Array.from({ length: mostDots }, (_, index) => values[Math.floor(index * step)] as number);
}

function strip(panels: number[][]): SVGElement | null {
  const drawn = panels.filter((panel) => panel.length > 0);
  const all = drawn.flat();
  if (all.length < 2) return null;
  const low = Math.min(...all);
  const high = Math.max(...all);
  const gap = 4;
  const panel = (width - gap * (drawn.length - 1)) / drawn.length;
  const picture = s("svg", {
    class: "strip", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": t("strip_label", all.length, `${(((high - low) / ((high + low) / 2)) * 100).toPrecision(2)}%`),
  });
  drawn.forEach((values, index) => {
    const x0 = index * (panel + gap);
    picture.append(s("rect", { x: x0.toFixed(1), width: panel.toFixed(1), height, rx: 2 }));
    const dots = thinned(values);
    const path = dots
      .map((value, place) => {
        const x = x0 + 3 + ((panel - 6) * (place + 0.5)) / dots.length;
        const share = high > low ? (value - low) / (high - low) : 0.5;
        return `M${x.toFixed(1)} ${(4 + (height - 8) * share).toFixed(1)}h0`;
      })
      .join("");
    picture.append(s("path", { class: "c0", d: path, style: `stroke-width:${dots.length > 24 ? 2 : 4}` }));
  });
  return picture;
}

export function drawStrips(main: HTMLElement): void {
  for (const place of main.querySelectorAll<HTMLElement>("[data-strips]")) {
    const panels = (place.dataset["strips"] ?? "").split(";").map((panel) => panel.split(",").map(Number));
    const picture = strip(panels);
    if (picture) place.append(picture);
  }
}
