// SPDX-License-Identifier: Apache-2.0
//
// Ratios as bars from 1.0, with their intervals; or shares as bars from 0 with a mark at the bound of each.

import { tooltip, type Spec } from "./chart";
import type { Maybe, Ratio, RatioChart } from "./data";
import { h } from "./dom";
import { axis, barGrid, barSeries, downwards, rowHeight, type Bar } from "./draw";
import { change, percent, ratio, span } from "./format";
import { outcomeWord, t } from "./text";

const widest = 64; // times: what lies beyond is cut off, with its figure beside it

/** Ends of intervals count for the axis, unless they are so far out that nothing else would be seen. */
function wide(end: Maybe, value: number): number {
  if (end === null || end <= 0) return value;
  return Math.min(value * 4, Math.max(value / 4, end));
}

export function ratios(data: RatioChart, sides: string[], shown: (side: number) => boolean): Spec {
  const good = new Set(["better", "PASS"]);
  const bad = new Set(["worse", "FAIL", "ERROR"]);
  const said = data.share ? percent : sides.length > 0 ? change : ratio; // a comparison has sides
  const visible = (): Ratio[] => data.ratios.filter((one) => one.ratio > 0 && shown(one.side));
  const shownSides = [...new Set(data.ratios.map((one) => one.side))].sort((a, b) => a - b);
  const legend = h("ul", { class: "legend" }, ...shownSides.map((side) => h("li", { class: `side-${side}` }, h("span", { class: `key c${(side - 1) % 6}`, "aria-hidden": "true" }), sides[side - 1])));
  return {
    legend: sides.length > 2 ? legend : null,
    draw: (colours) => {
      const all = visible();
      const names = [...new Set(all.map((one) => one.label))];
      const lane = new Map<string, number>(); // of those of each name
      const bars = all.map((one): Bar => {
        const row = names.indexOf(one.label);
        const at = lane.get(one.label) ?? 0;
        lane.set(one.label, at + 1);
        const ink = sides.length > 2 ? colours.sides[(one.side - 1) % 6] : good.has(one.outcome) ? colours.good : bad.has(one.outcome) ? colours.bad : colours.soft;
        return { row, lane: at, value: one.ratio, low: one.low, high: one.high, colour: ink as string, faded: !good.has(one.outcome) && !bad.has(one.outcome), mark: one.mark, from: data.share ? 0 : one.from };
      });
      const lanes = Math.max(1, ...lane.values());
      const inside = (value: number): number => Math.min(widest, Math.max(1 / widest, value));
      const ends = bars.flatMap((bar) => [bar.value, bar.from || bar.value, bar.mark ?? bar.value, wide(bar.low, bar.value), wide(bar.high, bar.value)]).map(inside);
      const most = Math.max(1.03, ...ends);
      const least = data.share ? 0 : Math.min(0.97, ...ends);
      const log = !data.share && most / least > 3;
      const margin = log ? 1.08 : 1;
      const height = names.length * rowHeight(lanes);
      const rows = names.map((name) => ({ name, value: sides.length <= 2 || data.share ? (all.find((one) => one.label === name)?.text ?? "") : "" }));
      const [series, labels] = barSeries(colours, rows, bars, lanes, data.share ? 0 : 1);
      return {
        height: height + 30,
        option: {
          grid: barGrid,
          xAxis: axis(colours, { format: log ? ratio : said, edge: data.share, min: data.share ? 0 : log ? least / margin : least - (most - least) * 0.04, max: log ? most * margin : most + (most - least) * 0.04, log: log ? 2 : undefined }),
          yAxis: downwards(height),
          tooltip: tooltip(colours, (_, index) => {
            const one = all[index];
            if (one && data.share) return [one.label, said(one.ratio), one.text];
            return one ? [one.label, sides[one.side - 1], `${outcomeWord(one.outcome)}: ${one.text}`] : [];
          }),
          series: [
            { ...(series as object), markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colours.ink, type: "solid", width: 1 }, data: [{ xAxis: 1 }] } },
            labels,
          ],
        },
      };
    },
    figures: () => ({
      head: [t("case_title"), data.share ? t("value") : t("sides"), t("ratio"), t("interval")],
      rows: visible().map((one) => [one.label, data.share ? one.text : (sides[one.side - 1] ?? ""), said(one.ratio), span(one.low, one.high, said)]),
    }),
  };
}
