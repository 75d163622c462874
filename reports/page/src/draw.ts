// SPDX-License-Identifier: Apache-2.0
//
// Shared by several charts: axes in the page's type, whiskers, rows of bars with their names above.

import type { Theme } from "./theme";

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
  min?: number;
  max?: number;
  grid?: boolean;
  edge?: boolean; // begins at the edge of the chart: its first label must not stand across it
}
export function axis(colours: Theme, options: AxisOptions): Record<string, unknown> {
  return {
    type: options.log ? "log" : "value",
    ...(options.log ? { logBase: options.log } : {}),
    min: options.min,
    max: options.max,
    name: options.name,
    nameLocation: "middle",
    nameGap: 28,
    nameTextStyle: { color: colours.soft, fontSize: 12, fontFamily: colours.font },
    axisLine: { show: false },
    axisTick: { show: false },
    minorTick: { show: false },
    splitLine: { show: options.grid !== false, lineStyle: { color: colours.line } },
    splitNumber: options.log === 2 ? 8 : 4, // powers of two lie closer
    axisLabel: {
      color: colours.soft, fontSize: 11.5, fontFamily: colours.font, hideOverlap: true,
      formatter: (value: number) => options.format(value),
      // Ends taken from the data are not round numbers.
      showMinLabel: options.min === 0, showMaxLabel: options.max === undefined, alignMinLabel: options.edge ? "left" : undefined,
    },
    tooltip: { show: false },
  };
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
}
export interface BarRow {
  name: string;
  value: string;
}
export const rowHeight = (lanes: number): number => 21 + lanes * 13;

/** Bars from `from` on the axis, each row under its name: names may be long, and screens narrow. */
export function barSeries(colours: Theme, rows: BarRow[], bars: Bar[], lanes: number, from: number): object[] {
  const height = rowHeight(lanes);
  const names: RenderItem = (params, api) => {
    const row = rows[params.dataIndex] as BarRow;
    const y = api.coord([from, params.dataIndex * height])[1];
    const { x, width } = params.coordSys;
    const text = { fontSize: 13, fontFamily: colours.font, fill: colours.ink, stroke: colours.paper, lineWidth: 3 };
    const room = Math.max(80, width - 12 - row.value.length * 8);
    return {
      type: "group", silent: true,
      children: [
        { type: "text", style: { ...text, text: row.name, x, y: y + 3, width: room, overflow: "truncate" } },
        { type: "text", style: { ...text, text: row.value, x: x + width, y: y + 3, align: "right", fontWeight: 600, backgroundColor: colours.paper } },
      ],
    };
  };
  const draw: RenderItem = (params, api) => {
    const bar = bars[params.dataIndex] as Bar;
    const top = bar.row * height + 19 + bar.lane * 13;
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
    if (bar.low !== null && bar.high !== null) {
      const low = api.coord([bar.low, top])[0];
      const high = api.coord([bar.high, top])[0];
      children.push(line(low, middle, high, middle, colours.ink, 1.5), line(low, y + 1, low, bottom - 1, colours.ink, 1.5),
        line(high, y + 1, high, bottom - 1, colours.ink, 1.5));
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
