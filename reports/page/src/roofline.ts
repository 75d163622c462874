// SPDX-License-Identifier: Apache-2.0
//
// The roofline of Williams, Waterman and Patterson (2009): a case cannot compute faster than the peak, nor than
// its intensity times the bandwidth. Both limits were measured in the same run.

import { tooltip, type Spec } from "./chart";
import type { RooflineChart } from "./data";
import { axis } from "./draw";
import { quantity } from "./format";
import { t } from "./text";

/** Those, from the highest down, that are far enough from each other to be named. */
function apart(roofs: { name: string; value: number }[]): { name: string; value: number }[] {
  const named: { name: string; value: number }[] = [];
  for (const roof of roofs) if (!named.some((other) => other.value / roof.value < 1.6)) named.push(roof);
  return named;
}

export function roofline(data: RooflineChart): Spec {
  const rate = (value: number): string => quantity(value, "FLOP/s");
  const intensity = (value: number): string => `${Number(value.toPrecision(3))} FLOP/B`;
  const peak = Math.max(...data.peaks.map((roof) => roof.value));
  const bandwidth = Math.max(...data.bandwidths.map((roof) => roof.value));
  const ridge = Math.max(bandwidth, ...data.levels.map((roof) => roof.value)); // where the peak begins
  const least = Math.min(0.1, ...data.points.map((one) => one.intensity / 2));
  const most = Math.max((peak / bandwidth) * 8, ...data.points.map((one) => one.intensity * 2));
  const bottom = Math.min(...data.points.map((one) => one.rate), ...data.bandwidths.map((roof) => roof.value * least)) / 2;
  return {
    draw: (colours, width) => {
      const roof = (id: string, points: [number, number][]): object => ({
        id, type: "line", data: points, symbol: "none", silent: true, color: colours.mark,
        lineStyle: { width: 1.8, type: id.startsWith("peak") ? "solid" : [6, 4] }, tooltip: { show: false },
      });
      const label = (point: [number, number], text: string, align: "left" | "right"): object => ({
        value: point,
        label: { show: true, formatter: text, position: align === "right" ? "left" : "right", offset: align === "right" ? [4, -9] : [10, 13], color: colours.soft, textBorderColor: colours.paper, textBorderWidth: 3, fontSize: 11.5, fontFamily: colours.font, width: width * 0.5, overflow: "truncate" },
      });
      const series: object[] = [
        ...data.peaks.map((one, index) => roof(`peak ${index}`, [[Math.max(one.value / ridge, least), one.value], [most, one.value]])),
        ...data.levels.filter((one) => peak / one.value > least).map((one, index) => roof(`level ${index}`, [[least, one.value * least], [peak / one.value, peak]])),
        ...data.bandwidths.map((one, index) => roof(`bandwidth ${index}`, [[least, one.value * least], [peak / one.value, peak]])),
        {
          id: "names", type: "scatter", symbolSize: 0.1, silent: true, color: colours.mark, tooltip: { show: false }, z: 4,
          data: [
            ...apart(data.peaks).map((one) => label([most, one.value], `${rate(one.value)} · ${one.name}`, "right")),
            ...apart([...data.levels.filter((one) => peak / one.value > least), ...data.bandwidths]).map((one) => label([least, one.value * least], `${quantity(one.value, "B/s")} · ${one.name}`, "left")),
          ],
        },
        {
          id: "points", type: "scatter", color: colours.sides[0], symbolSize: 11, z: 5, itemStyle: { borderColor: colours.paper, borderWidth: 1.5 },
          labelLayout: { hideOverlap: true, moveOverlap: "shiftY" },
          data: data.points.map((one) => ({
            value: [one.intensity, one.rate],
            label: { show: true, formatter: one.label, position: one.intensity > peak / bandwidth ? "left" : "right", color: colours.ink, textBorderColor: colours.paper, textBorderWidth: 3, fontSize: 11.5, fontFamily: colours.font, width: width * 0.4, overflow: "truncate" },
          })),
        },
      ];
      return {
        height: Math.round(Math.min(400, Math.max(260, width * 0.45))),
        option: {
          grid: { left: 76, right: 18, top: 14, bottom: 46 },
          xAxis: axis(colours, { name: t("intensity"), format: (value) => String(Number(value.toPrecision(3))), log: 10, min: least, max: most, grid: false }),
          yAxis: axis(colours, { format: (value) => quantity(value, "FLOP/s", true), log: 10, min: bottom, max: peak * 2.2 }),
          tooltip: tooltip(colours, (id, index) => {
            const one = id === "points" ? data.points[index] : undefined;
            return one ? [one.label, `${rate(one.rate)} · ${intensity(one.intensity)}`] : [];
          }),
          series,
        },
      };
    },
    figures: () => ({
      head: [t("case_title"), t("intensity"), t("rate"), t("of_roof")],
      rows: data.points.map((one) => [one.label, intensity(one.intensity), rate(one.rate), `${((one.rate / Math.min(peak, one.intensity * bandwidth)) * 100).toFixed(0)}%`]),
    }),
  };
}
