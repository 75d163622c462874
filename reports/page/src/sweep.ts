// SPDX-License-Identifier: Apache-2.0
//
// Curves over a swept number, on logarithmic axes: those of a report, and those of all sides of a comparison.

import { Chart, tooltip } from "./chart";
import type { Maybe } from "./data";
import { h } from "./dom";
import { axis, bounds, whiskers } from "./draw";
import { bytes, quantity, span } from "./format";
import { t } from "./text";

export interface SweepLine {
  label: string;
  colour: number;
  dash: number;
  side: string; // hidden with it; "" in a report
  points: { x: number; y: number; low: Maybe; high: Maybe }[];
}
export interface Sweep {
  title: string;
  caption: string;
  x: string;
  xUnit: string;
  y: string;
  unit: string;
  higherIsBetter: boolean;
  lines: SweepLine[];
  marks: { x: number; text: string }[];
}

/** Are the steps of the sweep powers of two, or too few for powers of ten? */
function doubling(lines: SweepLine[]): boolean {
  const xs = lines.flatMap((line) => line.points.map((point) => point.x));
  return xs.every((x) => Number.isInteger(Math.log2(x))) || Math.max(...xs) / Math.min(...xs) < 100;
}

const dashes = ["solid", [6, 4], [2, 3], [8, 3, 2, 3]];
const symbols = ["circle", "rect", "triangle", "diamond"];

export function sweepChart(sweep: Sweep, shown: (line: SweepLine) => boolean): Chart {
  const format = (x: number): string => (sweep.xUnit === "B" ? bytes(x) : String(Number(x.toPrecision(6))));
  const lines = (): SweepLine[] => sweep.lines.filter(shown);
  const chart = new Chart({
    label: () => t("sweep_label", sweep.title, lines().length, sweep.y, sweep.x),
    draw: (colours, width) => {
      const visible = lines();
      const xs = bounds(visible.flatMap((line) => line.points.map((point) => point.x)));
      const ys = bounds(visible.flatMap((line) => line.points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y])));
      const log = ys.log;
      const series = visible.flatMap((line, index) => {
        const colour = colours.sides[line.colour % 6] as string;
        return [
          {
            id: `line ${index}`, type: "line", name: line.label, color: colour, z: 2,
            lineStyle: { width: 2, type: dashes[line.dash % 4] }, symbol: symbols[line.dash % 4],
            symbolSize: line.points.length > 60 ? 3 : 6,
            data: line.points.map((point) => [point.x, point.y]),
            ...(index === 0 && sweep.marks.length
              ? {
                  markLine: {
                    silent: true, symbol: "none", lineStyle: { color: colours.mark, type: [3, 3], width: 1 },
                    label: { formatter: (mark: { name: string }) => mark.name, color: colours.soft, fontSize: 11, fontFamily: colours.font, position: "end" },
                    data: sweep.marks.filter((mark) => mark.x >= xs.min && mark.x <= xs.max).map((mark) => ({ xAxis: mark.x, name: mark.text })),
                  },
                }
              : {}),
          },
          whiskers(`interval ${index}`, colour, line.points),
        ];
      });
      const factor = log ? 1.15 : 1.06;
      return {
        height: Math.round(Math.min(340, Math.max(230, width * 0.42))),
        option: {
          grid: { left: 64, right: 18, top: 26, bottom: 46 },
          xAxis: { ...axis(colours, { name: sweep.x, format, log: doubling(visible) ? 2 : 10, min: xs.min, max: xs.max, grid: false }) },
          yAxis: { ...axis(colours, { format: (value) => quantity(value, sweep.unit, true), log: log ? 10 : undefined, min: log ? ys.min / factor : 0, max: ys.max * factor }) },
          tooltip: tooltip(colours, (id, index) => {
            const line = visible[Number(id.split(" ")[1])];
            const point = line?.points[index];
            if (!line || !point) return [];
            return [line.label, `${sweep.x} ${format(point.x)}`, quantity(point.y, sweep.unit), span(point.low, point.high, (end) => quantity(end, sweep.unit))];
          }),
          series,
        },
      };
    },
    figures: () => ({
      head: [t("curve"), sweep.x, sweep.y, t("interval")],
      rows: lines().flatMap((line) =>
        line.points.map((point) => [line.label, format(point.x), quantity(point.y, sweep.unit), span(point.low, point.high, (end) => quantity(end, sweep.unit))]),
      ),
    }),
  });
  const legend = h("ul", { class: "legend" });
  for (const line of sweep.lines) legend.append(h("li", { "data-side": line.side || null }, key(line.colour, line.dash), line.label));
  chart.element.prepend(h("h3", {}, sweep.title), legend);
  chart.element.querySelector(".chart")?.after(
    h("figcaption", {}, [sweep.caption, t(sweep.higherIsBetter ? "more_is_better" : "less_is_better")].filter(Boolean).join(" ")),
  );
  return chart;
}

/** A piece of the line, as it is drawn. */
function key(colour: number, dash: number): Node {
  return h("span", { class: `key c${colour % 6} d${dash % 4}`, "aria-hidden": "true" });
}
