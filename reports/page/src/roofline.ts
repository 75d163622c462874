// SPDX-License-Identifier: Apache-2.0
//
// The roofline of Williams, Waterman and Patterson (2009): a case cannot compute faster than the peak, nor than
// its intensity times the bandwidth. Both limits were measured in the same run. Points have numbers and limits letters,
// which a key names: names in the chart would lie on each other.

import { nearestTooltip, type Spec } from "./chart";
import type { Roof, RooflineChart } from "./data";
import { h } from "./dom";
import { axis, labelsAcross, labelsDown, type RenderItem } from "./draw";
import { percent, quantity } from "./format";
import { t } from "./text";

type Place = [number, number]; // px
const badge = 8; // px, its radius

/** Where a badge of a place lies free of others: there, or about it. */
function freeOf(taken: Place[], dots: Place[], place: Place): Place {
  const distance = (a: Place, b: Place): number => Math.hypot(a[0] - b[0], a[1] - b[1]);
  for (let radius = 0; radius < 130; radius += radius ? 6 : 18)
    for (let turn = 0; turn < (radius ? 16 : 1); ++turn) {
      const angle = -Math.PI / 4 + (turn * Math.PI) / 8;
      const at: Place = radius ? [place[0] + radius * Math.cos(angle), place[1] + radius * Math.sin(angle)] : place;
      const near = dots.some((dot) => distance(dot, at) < badge + 2 && (radius > 0 || distance(dot, place) > 0.5));
      if (!near && taken.every((other) => distance(other, at) > 2 * badge + 1)) return at;
    }
  return place;
}

/** The first place of a line, from `from` to `to`, that is free of others. */
function freeOn(taken: Place[], from: Place, to: Place): Place {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  for (let along = 2 * badge; along < length; along += 6) {
    const at: Place = [from[0] + ((to[0] - from[0]) * along) / length, from[1] + ((to[1] - from[1]) * along) / length];
    if (taken.every((other) => Math.hypot(other[0] - at[0], other[1] - at[1]) > 2 * badge + 3)) return at;
  }
  return from;
}

const letter = (index: number): string => String.fromCharCode(65 + (index % 26)).repeat(1 + Math.floor(index / 26));

export function roofline(data: RooflineChart): Spec {
  const rate = (value: number): string => quantity(value, "FLOP/s");
  const intensity = (value: number): string => `${Number(value.toPrecision(3))} FLOP/B`;
  const peak = Math.max(...data.peaks.map((roof) => roof.value));
  const bandwidth = Math.max(...data.bandwidths.map((roof) => roof.value));
  const ridge = Math.max(bandwidth, ...data.levels.map((roof) => roof.value)); // where the peak begins
  const least = Math.min(0.1, ...data.points.map((one) => one.intensity / 2));
  const most = Math.max((peak / bandwidth) * 8, ...data.points.map((one) => one.intensity * 2));
  const bottom = Math.min(...data.points.map((one) => one.rate), ...data.bandwidths.map((roof) => roof.value * least)) / 2;
  const slopes = [...data.levels.filter((one) => peak / one.value > least), ...data.bandwidths];
  // Ends of the limits, those where they are named first.
  const limits: { roof: Roof; unit: string; ends: [Place, Place] }[] = [
    ...data.peaks.map((roof) => ({ roof, unit: "FLOP/s", ends: [[most, roof.value], [Math.max(roof.value / ridge, least), roof.value]] as [Place, Place] })),
    ...slopes.map((roof) => ({ roof, unit: "B/s", ends: [[least, roof.value * least], [peak / roof.value, peak]] as [Place, Place] })),
  ];
  const share = (one: { intensity: number; rate: number }): string => percent(Number((one.rate / Math.min(peak, one.intensity * bandwidth)).toPrecision(2)));
  const entry = (kind: string, mark: string, text: string, value: string): HTMLElement => h("li", {}, h("b", { class: `badge ${kind}` }, mark), ` ${text} `, h("span", { class: "quiet" }, value));
  return {
    key: h(
      "ul", { class: "legend columns" },
      ...limits.map(({ roof, unit }, index) => entry("limit", letter(index), roof.name, quantity(roof.value, unit))),
      ...data.points.map((one, index) => entry("point", String(index + 1), one.label, rate(one.rate))),
    ),
    height: (width, onPaper) => (onPaper ? 240 : Math.round(Math.min(400, Math.max(340, width * 0.45)))),
    draw: (colours, width, height) => {
      const draw: RenderItem = (_, api) => {
        const taken: Place[] = [];
        const children: object[] = [];
        const add = (at: Place, text: string, colour: string, radius: number): void => {
          taken.push(at);
          children.push(
            { type: "rect", shape: { x: at[0] - badge, y: at[1] - badge, width: 2 * badge, height: 2 * badge, r: radius }, style: { fill: colours.paper, stroke: colour, lineWidth: 1.2 } },
            { type: "text", style: { text, x: at[0], y: at[1] + 0.5, align: "center", verticalAlign: "middle", fill: colour, fontSize: text.length > 2 ? 9 : 10.5, fontWeight: 600, fontFamily: colours.font } },
          );
        };
        limits.forEach(({ ends }, index) => add(freeOn(taken, api.coord(ends[0]), api.coord(ends[1])), letter(index), colours.mark, 2));
        const dots = data.points.map((one): Place => api.coord([one.intensity, one.rate]));
        dots.forEach((dot, index) => {
          const at = freeOf(taken, dots, dot);
          if (at !== dot) children.unshift({ type: "line", shape: { x1: dot[0], y1: dot[1], x2: at[0], y2: at[1] }, style: { stroke: colours.soft, lineWidth: 1 } });
          add(at, String(index + 1), colours.ink, badge);
        });
        return { type: "group", silent: true, children };
      };
      return {
        grid: { left: 82, right: 18, top: 14, bottom: 46 },
        xAxis: axis(colours, { name: t("intensity"), format: (value) => String(Number(value.toPrecision(3))), log: 10, min: least, max: most, grid: false, labels: labelsAcross(width - 100, 60) }),
        yAxis: axis(colours, { format: (value) => quantity(value, "FLOP/s", true), log: 10, min: bottom, max: peak * 2.2, labels: labelsDown(height - 60) }),
        tooltip: nearestTooltip(colours, (id, index) => {
          const one = id === "points" ? data.points[index] : undefined;
          return one ? [`${index + 1} ${one.label}`, `${rate(one.rate)} · ${intensity(one.intensity)} · ${share(one)}`] : [];
        }),
        series: [
          ...limits.map(({ ends, unit }, index) => ({
            id: `limit ${index}`, type: "line", data: [...ends].sort((a, b) => a[0] - b[0]), symbol: "none", silent: true, color: colours.mark,
            lineStyle: { width: 1.8, type: unit === "B/s" ? [6, 4] : "solid" }, tooltip: { show: false },
          })),
          {
            id: "points", type: "scatter", color: colours.sides[0], symbolSize: 9, z: 5, itemStyle: { borderColor: colours.paper, borderWidth: 1.5 },
            data: data.points.map((one) => [one.intensity, one.rate]),
          },
          { id: "numbers", type: "custom", silent: true, renderItem: draw, z: 6, data: [[most, peak]], encode: { x: 0, y: 1 }, tooltip: { show: false } },
        ],
      };
    },
    figures: () => ({
      head: [t("case_title"), t("intensity"), t("rate"), t("of_roof")],
      rows: data.points.map((one) => [one.label, intensity(one.intensity), rate(one.rate), share(one)]),
    }),
  };
}
