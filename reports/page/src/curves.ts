// SPDX-License-Identifier: Apache-2.0
//
// Curves over a swept number, on logarithmic axes: those of a run, and those of all sides of a comparison.

import { nearestTooltip, type Spec } from "./chart";
import type { Curve, CurveChart } from "./data";
import { h } from "./dom";
import { axis, band, bounds, labelsAcross, labelsDown, levelsOf, textWidth } from "./draw";
import { bytes, quantity, span } from "./format";
import { t } from "./text";

/** Are the sizes powers of two, or bytes? */
function doubling(data: CurveChart): boolean {
  const xs = data.curves.flatMap((line) => line.points.map((point) => point.x));
  return data.x_unit === "B" || xs.filter((x) => Number.isInteger(Math.log2(x))).length > xs.length / 2;
}

const beside = { left: 74, right: 26 }; // px, of the plot
const dashes = ["solid", [6, 4], [2, 3], [8, 3, 2, 3]];
const symbols = ["circle", "rect", "triangle", "diamond"];

export function curves(data: CurveChart, shown: (side: number) => boolean): Spec {
  const format = (x: number): string => (data.x_unit === "B" ? bytes(x) : String(Number(x.toPrecision(6))));
  const visible = (): [Curve, number][] => data.curves.map((line, index): [Curve, number] => [line, index]).filter(([line]) => shown(line.side));
  // Curves of one side have its colour and differ in their dashes; without sides each has its own colour.
  const look = (line: Curve, index: number): { colour: number; dash: number } =>
    line.side > 0
      ? { colour: line.side - 1, dash: data.curves.slice(0, index).filter((other) => other.side === line.side).length }
      : { colour: index % 6, dash: Math.floor(index / 6) };
  const legend = h("ul", { class: "legend" });
  data.curves.forEach((line, index) => {
    const { colour, dash } = look(line, index);
    legend.append(h("li", { class: line.side > 0 ? `side-${line.side}` : null }, h("span", { class: `key c${colour % 6} d${dash % 4}`, "aria-hidden": "true" }), line.label));
  });
  return {
    legend: data.curves.length > 1 ? legend : null,
    height: (width, onPaper) => (onPaper ? 205 : Math.round(Math.min(340, Math.max(230, width * 0.42)))),
    draw: (colours, width, height) => {
      const lines = visible();
      const xs = bounds(lines.flatMap(([line]) => line.points.map((point) => point.x)));
      const ys = bounds(lines.flatMap(([line]) => line.points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y])));
      const marks = data.marks.filter((mark) => mark.x >= xs.min && mark.x <= xs.max);
      const plot = width - beside.left - beside.right;
      const across = (x: number): number => (plot * Math.log(x / xs.min)) / Math.log(xs.max / xs.min);
      const levels = levelsOf(marks.map((mark) => ({ at: across(mark.x), width: textWidth(mark.text, 6.4) + 6 })));
      const series = lines.flatMap(([line, place], index) => {
        const { colour, dash } = look(line, place);
        const ink = colours.sides[colour % 6] as string;
        return [
          {
            id: `line ${index}`, type: "line", name: line.label, color: ink, z: 2,
            lineStyle: { width: 2, type: dashes[dash % 4] }, symbol: symbols[dash % 4],
            symbolSize: line.points.length > 60 ? 3 : 6,
            data: line.points.map((point) => [point.x, point.y]),
            ...(index === 0 && marks.length
              ? {
                  markLine: {
                    silent: true, symbol: "none", lineStyle: { color: colours.mark, type: [3, 3], width: 1 },
                    label: { formatter: (mark: { name: string }) => mark.name, color: colours.soft, fontSize: 11, fontFamily: colours.font, position: "end" },
                    data: marks.map((mark, at) => ({ xAxis: mark.x, name: mark.text, label: { offset: [Math.min(0, plot + beside.right - across(mark.x) - textWidth(mark.text, 3.2)), -14 * (levels[at] ?? 0)] } })),
                  },
                }
              : {}),
          },
          band(`interval ${index}`, ink, line.points),
        ];
      });
      const factor = ys.log ? 1.15 : 1.06;
      return {
        grid: { ...beside, top: 12 + (marks.length ? 14 * (1 + Math.max(...levels)) : 0), bottom: 46 },
        xAxis: axis(colours, { name: data.x_title, format, log: doubling(data) ? 2 : 10, min: xs.min, max: xs.max, grid: false, labels: labelsAcross(plot, 64) }),
        yAxis: axis(colours, { format: (value) => quantity(value, data.unit, true), log: ys.log ? 10 : undefined, min: ys.log ? ys.min / factor : 0, max: ys.max * factor, labels: labelsDown(height - 72) }),
        tooltip: nearestTooltip(colours, (id, index) => {
          const line = lines[Number(id.split(" ")[1])]?.[0];
          const point = line?.points[index];
          if (!line || !point) return [];
          return [line.label, `${data.x_title} ${format(point.x)}`, `${quantity(point.y, data.unit)} ${span(point.low, point.high, (end) => quantity(end, data.unit))}`];
        }),
        series,
      };
    },
    figures: () => ({
      head: [t("curve"), data.x_title, data.y_title, t("interval")],
      rows: visible().flatMap(([line]) =>
        line.points.map((point) => [line.label, format(point.x), quantity(point.y, data.unit), span(point.low, point.high, (end) => quantity(end, data.unit))]),
      ),
    }),
  };
}
