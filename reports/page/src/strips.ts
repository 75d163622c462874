// SPDX-License-Identifier: Apache-2.0
//
// Values one by one, as small drawings in a table: each panel is a process or a side, each dot a value.

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

/** Up is better in every one. `inverse`: the values are such that low is better. */
export function strip(panels: { values: number[]; colour: number }[], inverse: boolean): SVGElement | null {
  const drawn = panels.filter((panel) => panel.values.length > 0);
  const all = drawn.flatMap((panel) => panel.values);
  if (all.length < 2) return null;
  const low = Math.min(...all);
  const high = Math.max(...all);
  const scale = high > low ? high - low : 1;
  const gap = 4;
  const panel = (width - gap * (drawn.length - 1)) / drawn.length;
  const picture = s("svg", {
    class: "strip", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": t("strip_label", all.length, `${(((high - low) / ((high + low) / 2)) * 100).toPrecision(2)}%`),
  });
  drawn.forEach(({ values, colour }, index) => {
    const x0 = index * (panel + gap);
    picture.append(s("rect", { x: x0.toFixed(1), width: panel.toFixed(1), height, rx: 2 }));
    const dots = thinned(values);
    const path = dots
      .map((value, place) => {
        const x = x0 + 3 + ((panel - 6) * (place + 0.5)) / dots.length;
        const share = high > low ? (value - low) / scale : 0.5;
        const y = 4 + (height - 8) * (inverse ? share : 1 - share);
        return `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
      })
      .join("");
    picture.append(s("path", { class: `c${colour % 6}`, d: path, style: `stroke-width:${dots.length > 24 ? 2 : 4}` }));
  });
  return picture;
}
