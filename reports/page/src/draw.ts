// SPDX-License-Identifier: Apache-2.0
//
// Shared by several charts: axes in the page's type, whiskers, rows of bars with their names above.

import type { Theme } from "./theme";
import { ticks } from "./ticks";

// The parts that we use of what ECharts hands to a custom series.
export interface Api {
  coord(point: [number, number]): [number, number];
  value(dimension: number): number;
}
interface Params {
  dataIndex: number;
  coordSys: { x: number; y: number; width: number; height: number };
}
export type RenderItem = (params: Params, api: Api) => object;

export const noData: [number, number] = [Number.NaN, Number.NaN];

interface AxisOptions {
  name?: string;
  format: (value: number) => string;
  log?: number; // base
  min: number;
  max: number;
  labels?: number; // at most
  at?: number[]; // where they stand, if not at round numbers between min and max
  grid?: boolean;
  edge?: boolean; // begins at the edge of the chart: its first label must not stand across it
}
export function axis(colours: Theme, options: AxisOptions): Record<string, unknown> {
  const at = options.at ?? ticks(options.min, options.max, options.labels ?? 7, options.log);
  return {
    type: options.log ? "log" : "value",
    min: options.min,
    max: options.max,
    name: options.name,
    nameLocation: "middle",
    nameGap: 28,
    nameTextStyle: { color: colours.soft, fontSize: 12, fontFamily: colours.font },
    axisLine: { show: false },
    axisTick: { show: false, customValues: at }, // grid lines stand there too
    minorTick: { show: false },
    splitLine: { show: options.grid !== false, lineStyle: { color: colours.line } },
    axisLabel: {
      color: colours.soft, fontSize: 11.5, fontFamily: colours.font, hideOverlap: true, customValues: at,
      formatter: (value: number) => options.format(value), alignMinLabel: options.edge ? "left" : undefined, alignMaxLabel: options.edge ? "right" : undefined,
    },
    axisPointer: { label: { show: false } },
    tooltip: { show: false },
  };
}

/** Labels of an axis that fit beside each other, `each` px wide, or below each other. */
export const labelsAcross = (width: number, each = 76): number => Math.max(3, Math.floor(width / each));
export const labelsDown = (height: number): number => Math.max(3, Math.floor(height / 26));

/** Texts that would lie on each other stand one above the other: the level of each, from 0. */
export function levelsOf(texts: { at: number; width: number }[]): number[] {
  const ends: number[] = []; // of each level, in px
  const out = texts.map(() => 0);
  for (const index of [...texts.keys()].sort((a, b) => (texts[a]?.at ?? 0) - (texts[b]?.at ?? 0))) {
    const { at, width } = texts[index] as { at: number; width: number };
    let level = ends.findIndex((end) => end <= at - width / 2);
    if (level < 0) level = ends.length;
    ends[level] = at + width / 2;
    out[index] = level;
  }
  return out;
}

const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, lineWidth: number): object => ({
  type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth }, silent: true,
});

/** Upright intervals at points of a line chart. */
export function whiskers(id: string, colour: string, points: { x: number; low: number | null; high: number | null }[]): object {
  const known = points.filter((point) => point.low !== null && point.high !== null);
  const renderItem: RenderItem = (_, api) => {
    const low = api.coord([api.value(0), api.value(1)]);
    const high = api.coord([api.value(0), api.value(2)]);
    return {
      type: "group",
      children: [
        line(low[0], low[1], high[0], high[1], colour, 1),
        line(low[0] - 3, low[1], low[0] + 3, low[1], colour, 1),
        line(high[0] - 3, high[1], high[0] + 3, high[1], colour, 1),
      ],
    };
  };
  return {
    id, type: "custom", silent: true, clip: true, renderItem, z: 1,
    data: known.map((point) => [point.x, point.low, point.high]),
    encode: { x: 0, y: [1, 2] }, tooltip: { show: false }, itemStyle: { opacity: 0.7 },
  };
}

/** The interval of a line chart between its points. */
export function band(id: string, colour: string, points: { x: number; low: number | null; high: number | null }[]): object {
  const known = points.filter((point) => point.low !== null && point.high !== null);
  const renderItem: RenderItem = (_, api) => ({
    type: "polygon", silent: true,
    shape: { points: [...known.map((point) => api.coord([point.x, point.high as number])), ...[...known].reverse().map((point) => api.coord([point.x, point.low as number]))] },
    style: { fill: colour, opacity: 0.22 },
  });
  return {
    id, type: "custom", silent: true, clip: true, renderItem, z: 1, data: known.slice(0, 1).map((point) => [point.x, point.low, point.high]), encode: { x: 0, y: [1, 2] }, tooltip: { show: false },
  };
}

export interface Bar {
  row: number; // of the rows, from above
  lane: number; // within its row
  value: number;
  low: number | null;
  high: number | null;
  colour: string;
  faded: boolean;
  mark?: number | null; // a bound of its own, drawn across the lane
  from?: number; // where it begins on the axis, if not where all do
  cut?: string; // its value, where the axis ends before it
}
export interface BarRow {
  name: string;
  value: string;
}
/** About as wide as a text is, in px: Chinese characters are twice as wide as Latin ones. */
export const textWidth = (text: string, letter = 7): number => [...text].reduce((sum, one) => sum + letter * (one >= "\u2e80" ? 1.9 : 1), 0);

const nameLine = 16; // px
/** Do all names stand beside their values? Otherwise these have a line of their own. */
const fits = (rows: BarRow[], width: number): boolean => rows.every((row) => row.value === "" || textWidth(row.name) + textWidth(row.value, 8) + 12 < width);
const above = (rows: BarRow[], width: number): number => (fits(rows, width) ? 1 : 2) * nameLine + 3;
export const rowHeight = (rows: BarRow[], lanes: number, width: number): number => 2 + above(rows, width) + lanes * 13;

/** Bars from `from` on the axis, each row under its name: names may be long, and screens narrow. */
export function barSeries(colours: Theme, rows: BarRow[], bars: Bar[], lanes: number, from: number, width: number): object[] {
  const height = rowHeight(rows, lanes, width);
  const head = above(rows, width);
  const beside = fits(rows, width);
  const names: RenderItem = (params, api) => {
    const row = rows[params.dataIndex] as BarRow;
    const y = api.coord([from, params.dataIndex * height])[1];
    const { x, width } = params.coordSys;
    const text = { fontSize: 13, fontFamily: colours.font, fill: colours.ink, stroke: colours.paper, lineWidth: 3 };
    const room = Math.max(80, beside ? width - 12 - textWidth(row.value, 8) : width);
    return {
      type: "group", silent: true,
      children: [
        { type: "text", style: { ...text, text: row.name, x, y: y + 3, width: room, overflow: "truncate" } },
        { type: "text", style: { ...text, text: row.value, x: beside ? x + width : x, y: beside ? y + 3 : y + 3 + nameLine, align: beside ? "right" : "left", fontWeight: 600, backgroundColor: colours.paper } },
      ],
    };
  };
  const draw: RenderItem = (params, api) => {
    const bar = bars[params.dataIndex] as Bar;
    const top = bar.row * height + head + bar.lane * 13;
    const [x0, y] = api.coord([bar.from ?? from, top]);
    const [x1, bottom] = api.coord([bar.value, top + 10]);
    const middle = (y + bottom) / 2;
    const children: object[] = [
      // The whole lane can be pointed at, even if the mark is short.
      { type: "rect", shape: { x: params.coordSys.x, y: y - 1, width: params.coordSys.width, height: bottom - y + 2 }, style: { fill: "transparent" } },
      {
        type: "rect", shape: { x: Math.min(x0, x1), y, width: Math.max(1, Math.abs(x1 - x0)), height: bottom - y, r: 1 },
        style: { fill: bar.colour, opacity: bar.faded ? 0.4 : 0.82 },
      },
    ];
    const [left, right] = [params.coordSys.x, params.coordSys.x + params.coordSys.width];
    if (bar.cut !== undefined) {
      const way = x1 < x0 ? -1 : 1;
      for (const at of [x1 - 12 * way, x1 - 7 * way]) children.push(line(at - 2, bottom + 1, at + 2, y - 1, colours.paper, 2.5));
      children.push({ type: "text", style: { text: bar.cut, x: x1 + 5 * way, y: middle, align: way < 0 ? "right" : "left", verticalAlign: "middle", fontSize: 12, fontWeight: 600, fontFamily: colours.font, fill: colours.ink } });
    } else if (bar.low !== null && bar.high !== null) {
      const low = bar.low > 0 || bar.value < 0 ? Math.max(left, api.coord([bar.low, top])[0]) : left;
      const high = Math.min(right, api.coord([bar.high, top])[0]);
      children.push(line(low, middle, high, middle, colours.ink, 1.5));
      // An end beyond the axis has an arrow.
      for (const [at, edge, way] of [[low, left, 1], [high, right, -1]] as const)
        if (Math.abs(at - edge) > 0.5) children.push(line(at, y + 1, at, bottom - 1, colours.ink, 1.5));
        else children.push(line(at, middle, at + 5 * way, y + 1, colours.ink, 1.5), line(at, middle, at + 5 * way, bottom - 1, colours.ink, 1.5));
    }
    if (typeof bar.mark === "number") {
      const at = api.coord([bar.mark, top])[0];
      children.push(line(at, y - 3, at, bottom + 3, colours.ink, 3));
    }
    return { type: "group", children };
  };
  return [
    { id: "bars", type: "custom", renderItem: draw, clip: true, data: bars.map((bar) => [bar.value, bar.row * height]), encode: { x: 0, y: 1 } },
    // Names carry the first value, so that an axis with a logarithm has no zero to stumble on.
    // Above the line at 1.
    { id: "names", type: "custom", renderItem: names, silent: true, data: rows.map((_, row) => [from, row * height]), encode: { x: 0, y: 1 }, z: 6 },
  ];
}

/** The room of bars: as wide as the text around them. */
export const barGrid = { left: 1, right: 6, top: 4, bottom: 26, outerBoundsMode: "none" };

/** The axis down the rows, in pixels. */
export const downwards = (height: number): object => ({ type: "value", min: 0, max: height, inverse: true, show: false });

/** Bounds around values for an axis, and whether it needs a logarithm. */
export function bounds(values: number[], always: number[] = []): { min: number; max: number; log: boolean } {
  const all = [...values, ...always].filter((value) => Number.isFinite(value) && value > 0);
  const min = Math.min(...all);
  const max = Math.max(...all);
  return { min, max, log: max / min > 20 };
}
