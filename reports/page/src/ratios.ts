// SPDX-License-Identifier: Apache-2.0
//
// Ratios as bars from 1.0, with their intervals; shares as bars from 0 with a mark at the bound of each; or amounts
// of money.

import { tooltip, type Spec } from "./chart";
import type { Ratio, RatioChart } from "./data";
import { h } from "./dom";
import { axis, barGrid, barSeries, downwards, labelsAcross, rowHeight, type Bar, type BarRow } from "./draw";
import { change, money, percent, ratio, span } from "./format";
import { outcomeWord, t } from "./text";
import { ticks } from "./ticks";

const far = 12; // times as far out as the others: the axis ends before
const cutRoom = 64; // px for the value of rows that are cut

/** The axis reaches the largest distance, unless fewer than half of the bars are so far out that the others would vanish. */
function reach(distances: number[]): number {
  const sorted = distances.filter((one) => one > 0).sort((a, b) => a - b);
  for (let kept = Math.ceil(sorted.length * 0.6); kept < sorted.length; ++kept)
    if ((sorted[kept] as number) > far * (sorted[kept - 1] as number)) return sorted[kept - 1] as number;
  return sorted[sorted.length - 1] ?? 0;
}

interface Range {
  least: number;
  most: number;
  log: boolean;
}
const leastRange = Math.log(1.03);

/** The range about 1, with the intervals. */
function aboutOne(all: Ratio[]): Range {
  const ends = all.map((one) => [one.ratio, one.from ?? 1, one.low, one.high, one.mark].filter((end): end is number => end !== null && end > 0).map(Math.log));
  const limit = Math.max(leastRange, reach(ends.map((logs) => Math.max(...logs.map(Math.abs)))));
  const shown = ends.flat().filter((log) => Math.abs(log) <= limit);
  const most = Math.exp(Math.max(leastRange, ...shown));
  const least = Math.exp(Math.min(-leastRange, ...shown));
  return { least, most, log: most / least > 3 };
}

function fromZero(all: Ratio[], share: boolean): Range {
  const ends = all.map((one) => [one.ratio, one.from ?? 0, one.high ?? one.ratio, one.mark ?? one.ratio]);
  const limit = reach(ends.map((some) => Math.max(...some.map(Math.abs))));
  const shown = ends.flat().filter((end) => Math.abs(end) <= limit);
  return { least: Math.min(0, ...shown), most: Math.max(share ? 1 : 0, ...shown) || 1, log: false };
}

export function ratios(data: RatioChart, sides: string[], shown: (side: number) => boolean): Spec {
  const good = new Set(["better", "PASS"]);
  const bad = new Set(["worse", "FAIL", "ERROR"]);
  const share = data.unit === "share";
  const start = data.unit === "" ? 1 : 0;
  const said = share ? percent : data.unit ? (value: number): string => money(value, data.unit) : sides.length > 0 ? change : ratio; // a comparison has sides
  const visible = (): Ratio[] => data.ratios.filter((one) => (one.ratio > 0 || start === 0) && shown(one.side));
  const shownSides = [...new Set(data.ratios.map((one) => one.side))].sort((a, b) => a - b);
  const legend = h("ul", { class: "legend" }, ...shownSides.map((side) => h("li", { class: `side-${side}` }, h("span", { class: `key c${(side - 1) % 6}`, "aria-hidden": "true" }), sides[side - 1])));
  const namesOf = (all: Ratio[]): string[] => [...new Set(all.map((one) => one.label))];
  const lanesOf = (all: Ratio[]): number => {
    const lanes = new Map<string, number>();
    for (const one of all) lanes.set(one.label, (lanes.get(one.label) ?? 0) + 1);
    return Math.max(1, ...lanes.values());
  };
  const single = lanesOf(data.ratios) === 1; // each name has one value, said beside it: no key is needed
  const rowsOf = (all: Ratio[]): BarRow[] => namesOf(all).map((name) => ({ name, value: single ? (all.find((one) => one.label === name)?.text ?? "") : "" }));
  const heightOf = (all: Ratio[], width: number): number => rowsOf(all).length * rowHeight(rowsOf(all), lanesOf(all), width);
  return {
    legend: single ? null : legend,
    height: (width) => heightOf(visible(), width) + 30,
    draw: (colours, width) => {
      const all = visible();
      const names = namesOf(all);
      const { least, most, log } = start ? aboutOne(all) : fromZero(all, share);
      const lane = new Map<string, number>(); // of those of each name
      const bars = all.map((one): Bar => {
        const row = names.indexOf(one.label);
        const at = lane.get(one.label) ?? 0;
        lane.set(one.label, at + 1);
        const ink = sides.length > 2 ? colours.sides[(one.side - 1) % 6] : good.has(one.outcome) ? colours.good : bad.has(one.outcome) ? colours.bad : colours.soft;
        const value = Math.min(most, Math.max(least, one.ratio));
        return {
          row, lane: at, value, low: one.low, high: one.high, colour: ink as string, faded: !good.has(one.outcome) && !bad.has(one.outcome), mark: one.mark, from: one.from ?? start,
          ...(value === one.ratio ? {} : { cut: said(one.ratio) }),
        };
      });
      const [series, labels] = barSeries(colours, rowsOf(all), bars, lanesOf(all), start, width);
      // A little air at the ends, or room for values of bars that are cut.
      const cut = (end: number): number => (bars.some((bar) => bar.cut !== undefined && bar.value === end) ? cutRoom : 8) / Math.max(100, width - 2 * cutRoom);
      const scale = (from: number, to: number, part: number): number => (log ? to * (to / from) ** part : to + (to - from) * part);
      return {
        grid: barGrid,
        xAxis: axis(colours, {
          format: log || most > 1.5 || least < 0.5 ? (share || data.unit ? said : ratio) : said, edge: least === 0, log: log ? 10 : undefined,
          min: least === 0 ? 0 : scale(most, least, cut(least)), max: scale(least, most, cut(most)), at: ticks(least, most, labelsAcross(width, 100), log ? 10 : undefined),
        }),
        yAxis: downwards(heightOf(all, width)),
        tooltip: tooltip(colours, (_, index) => {
          const one = all[index];
          if (one && start === 0) return [one.label, said(one.ratio), one.text];
          return one ? [one.label, sides[one.side - 1], `${outcomeWord(one.outcome)}: ${one.text}`] : [];
        }),
        series: [
          { ...(series as object), markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colours.ink, type: "solid", width: 1 }, data: share || start ? [{ xAxis: 1 }] : [{ xAxis: 0 }] } },
          labels,
        ],
      };
    },
    figures: () => ({
      head: [t("case_title"), start === 0 ? t("value") : t("sides"), t("ratio"), t("interval")],
      rows: visible().map((one) => [one.label, start === 0 ? one.text : (sides[one.side - 1] ?? ""), said(one.ratio), span(one.low, one.high, said)]),
    }),
  };
}
