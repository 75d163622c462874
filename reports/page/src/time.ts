// SPDX-License-Identifier: Apache-2.0
//
// A value over time: points with intervals, and numbered changes found by a test.

import { nearestTooltip, type Spec } from "./chart";
import type { TimeChart } from "./data";
import { h } from "./dom";
import { axis, bounds, labelsAcross, levelsOf, whiskers } from "./draw";
import { day, quantity, span } from "./format";
import { t } from "./text";
import { timeTicks } from "./ticks";

/** Ends of intervals count for the axis as far as they do not make the points a line. */
function range(data: TimeChart): number[] {
  const values = data.points.map((point) => point.value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max(high - low, high * 0.02);
  const ends = data.points.flatMap((point) => [point.low ?? point.value, point.high ?? point.value]);
  return [...values, ...ends.filter((end) => end > low - room && end < high + room)];
}

const sides = { left: 76, right: 14 }; // px beside the plot
const line = 15; // px, of marks above each other

export function time(data: TimeChart): Spec {
  const value = (number: number): string => quantity(number, data.unit);
  const from = Math.min(...data.points.map((point) => point.seconds));
  const to = Math.max(...data.points.map((point) => point.seconds));
  const margin = Math.max((to - from) * 0.02, to > from ? 0 : 43200); // half a day, where there is one only
  const machines = new Set(data.points.map((point) => point.label)).size;
  // Found changes have numbers, which the key explains.
  const named = data.marks.filter((mark) => mark.text !== "");
  const key = h("ol", { class: "legend columns" }, ...named.map((mark, index) => h("li", {}, h("b", { class: `badge ${mark.outcome || "limit"}` }, String(index + 1)), ` ${mark.text}`)));
  const levels = (width: number): number[] => {
    const scale = (width - sides.left - sides.right) / (to - from + 2 * margin);
    return levelsOf(data.marks.map((mark) => ({ at: (mark.seconds - from) * scale, width: mark.text ? 18 : 0 })));
  };
  return {
    key: named.length > 0 ? key : null,
    height: (width, onPaper) => (onPaper ? 120 : 176) + line * (1 + Math.max(0, ...levels(width))),
    draw: (colours, width) => {
      const ys = bounds(range(data));
      const room = Math.max((ys.max - ys.min) * 0.12, ys.max * 0.01);
      const level = levels(width);
      const marks = data.marks.map((mark, index) => {
        const hue = mark.outcome === "" ? colours.soft : mark.outcome === "better" ? colours.good : colours.bad;
        const number = named.indexOf(mark) + 1;
        return { xAxis: mark.seconds * 1000, name: number ? String(number) : "", lineStyle: { color: hue, type: mark.outcome ? "solid" : [4, 4], width: mark.outcome ? 1.5 : 1 }, label: { color: hue, offset: [0, -line * (level[index] ?? 0)] } };
      });
      const across = timeTicks(from - margin, to + margin, labelsAcross(width - sides.left - sides.right));
      return {
        grid: { ...sides, top: 6 + line * (1 + Math.max(0, ...level)), bottom: 26 },
        xAxis: axis(colours, { format: (x) => across.format(x / 1000), grid: false, min: (from - margin) * 1000, max: (to + margin) * 1000, at: across.at.map((seconds) => seconds * 1000) }),
        yAxis: axis(colours, { format: (y) => quantity(y, data.unit, true), log: ys.log ? 10 : undefined, min: ys.log ? ys.min / 1.2 : Math.max(0, ys.min - room), max: ys.log ? ys.max * 1.2 : ys.max + room, labels: 5 }),
        tooltip: nearestTooltip(colours, (id, index) => {
          const point = id === "points" ? data.points[index] : undefined;
          return point ? [`${value(point.value)} ${span(point.low, point.high, value)}`, day(point.seconds), point.label] : [];
        }),
        series: [
          whiskers("intervals", colours.sides[0] as string, data.points.map((point) => ({ x: point.seconds * 1000, low: point.low, high: point.high }))),
          {
            id: "points", type: machines > 1 ? "scatter" : "line", color: colours.sides[0], symbol: "circle", showSymbol: true, lineStyle: { width: 1.2, opacity: 0.5 },
            symbolSize: data.points.length > 80 ? 4 : 6, itemStyle: { opacity: 0.85 }, z: 3,
            data: data.points.map((point) => [point.seconds * 1000, point.value]),
            markLine: { silent: true, symbol: "none", animation: false, label: { fontSize: 12, fontWeight: 600, fontFamily: colours.font, position: "end", formatter: (mark: { name: string }) => mark.name }, data: marks },
          },
        ],
      };
    },
    figures: () => ({
      head: [t("date"), t("value"), t("interval"), t("about")],
      rows: data.points.map((point) => [day(point.seconds), value(point.value), span(point.low, point.high, value), point.label]),
    }),
  };
}
