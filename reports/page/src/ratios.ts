// SPDX-License-Identifier: Apache-2.0
//
// Ratios as bars from 1.0, with their intervals and the band in which a change is too small to be called.

import { Chart, tooltip, type Drawing } from "./chart";
import type { Contrast, Maybe } from "./data";
import { axis, barGrid, barSeries, downwards, rowHeight, type Bar } from "./draw";
import { ratio, span } from "./format";
import { outcomeWord, t } from "./text";
import type { Theme } from "./theme";

export interface RatioRow {
  name: string;
  sides: { label: string; colour: number; contrast: Pick<Contrast, "ratio" | "low" | "high"> & { outcome?: string; text: string } }[];
}

const widest = 64; // times: what lies beyond is cut off, with its figure beside it

export function ratioDrawing(colours: Theme, rows: RatioRow[], minimumEffect: number): Drawing {
  const lanes = Math.max(1, ...rows.map((row) => row.sides.length));
  const bars: Bar[] = [];
  const about: { name: string; label: string; text: string; outcome: string }[] = [];
  rows.forEach((row, index) =>
    row.sides.forEach(({ label, colour, contrast }, lane) => {
      if (contrast.ratio === null || contrast.ratio <= 0) return;
      const called = contrast.outcome === undefined || contrast.outcome === "better" || contrast.outcome === "worse";
      const hue = lanes > 1 || contrast.outcome === undefined ? colours.sides[colour % 6]
        : contrast.outcome === "better" ? colours.good
        : contrast.outcome === "worse" ? colours.bad : colours.soft;
      bars.push({ row: index, lane, value: contrast.ratio, low: contrast.low, high: contrast.high, colour: hue as string, faded: !called, mark: null });
      about.push({ name: row.name, label, text: contrast.text, outcome: contrast.outcome ? outcomeWord(contrast.outcome) : "" });
    }),
  );
  const inside = (value: number): number => Math.min(widest, Math.max(1 / widest, value));
  const ends = bars.flatMap((bar) => [bar.value, wide(bar.low, bar.value), wide(bar.high, bar.value)]).map(inside);
  const most = Math.max(1 + 3 * minimumEffect, ...ends);
  const least = Math.min(1 - 3 * minimumEffect, ...ends);
  const log = most / least > 3;
  const margin = log ? 1.08 : 1;
  const min = log ? least / margin : least - (most - least) * 0.04;
  const max = log ? most * margin : most + (most - least) * 0.04;
  const height = rows.length * rowHeight(lanes);
  const names = rows.map((row) => ({
    name: row.name,
    value: row.sides.length === 1 ? (row.sides[0]?.contrast.text ?? "") : "",
  }));
  const [series, labels] = barSeries(colours, names, bars, lanes, 1);
  return {
    height: height + 30,
    option: {
      grid: barGrid,
      xAxis: axis(colours, { format: ratio, min, max, log: log ? 2 : undefined }),
      yAxis: downwards(height),
      tooltip: tooltip(colours, (_, index) => {
        const one = about[index];
        return one ? [one.name, one.label, `${one.outcome ? `${one.outcome}: ` : ""}${one.text}`] : [];
      }),
      series: [
        {
          ...(series as object),
          markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colours.ink, type: "solid", width: 1 }, data: [{ xAxis: 1 }] },
          markArea: {
            silent: true, itemStyle: { color: colours.soft, opacity: 0.13 },
            data: [[{ xAxis: 1 / (1 + minimumEffect) }, { xAxis: 1 + minimumEffect }]],
          },
        },
        labels,
      ],
    },
  };
}

/** Ends of intervals count for the axis, unless they are so far out that nothing else would be seen. */
function wide(end: Maybe, value: number): number {
  if (end === null || end <= 0) return value;
  return Math.min(value * 4, Math.max(value / 4, end));
}

export function ratioChart(label: () => string, rows: () => RatioRow[], minimumEffect: number): Chart {
  return new Chart({
    label,
    draw: (colours) => ratioDrawing(colours, rows(), minimumEffect),
    caption: [t("ratio_caption", `${(minimumEffect * 100).toFixed(minimumEffect < 0.01 ? 1 : 0)}%`)],
  });
}

export const ratioText = (contrast: Pick<Contrast, "ratio" | "low" | "high">): string =>
  contrast.ratio === null ? "" : `${ratio(contrast.ratio)} ${span(contrast.low, contrast.high, (end) => end.toFixed(2))}`.trim();
