// SPDX-License-Identifier: Apache-2.0
//
// Heat maps: what a case measured between places, and ratios over two things at once. Every cell carries its
// figure where there is room, so colour is never the only one to tell.

import { tooltip, type Spec } from "./chart";
import type { HeatMap, Maybe } from "./data";
import type { RenderItem } from "./draw";
import { change, quantity } from "./format";
import { windowOf } from "./rows";
import { mix, type Theme } from "./theme";

function colourOf(colours: Theme, heat: HeatMap, value: number, low: number, high: number): string {
  if (!heat.ratio) return mix(colours.heat, colours.paper, 0.06 + 0.7 * (high > low ? (value - low) / (high - low) : 0.5));
  // A factor of 1.5 has the full colour; what is within 1% has none to speak of.
  const strength = Math.min(1, Math.abs(Math.log(value)) / Math.log(1.5));
  return mix(value > 1 ? colours.good : colours.bad, colours.paper, 0.04 + 0.6 * strength);
}

const mostNamed = 34; // characters of a row's name

/** `changed`: other rows of a long map are to be drawn. */
export function heat(whole: HeatMap, changed: () => void): Spec {
  const known = whole.values.filter((value): value is number => value !== null);
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  const rows = windowOf(whole, changed, (colours, value) => colourOf(colours, whole, value, low, high));
  const text = (value: Maybe): string => (value === null ? "–" : whole.ratio ? change(value) : quantity(value, whole.unit));
  return {
    legend: rows?.element ?? null,
    draw: (colours, width) => {
      const map = rows ? rows.shown(colours, width) : whole;
      const name = (index: number): string => {
        const row = Math.floor(index / map.columns.length);
        return `${map.rows[row]} · ${map.columns[index % map.columns.length]}`;
      };
      const left = Math.min(width * 0.36, 28 + Math.min(mostNamed, Math.max(...map.rows.map((row) => row.length))) * 7);
      const room = (width - left - 10) / map.columns.length;
      const size = map.ratio ? 26 : Math.max(14, Math.min(30, room * 0.7));
      const renderItem: RenderItem = (params, api) => {
        const value = map.values[params.dataIndex] ?? null;
        const [x, y] = api.coord([api.value(0), api.value(1)]);
        const fill = value === null ? colours.faint : colourOf(colours, map, value, low, high);
        const label = text(value);
        const fits = label.length * 6.6 < room - 4;
        return {
          type: "rect", shape: { x: x - room / 2 + 0.5, y: y - size / 2 + 0.5, width: room - 1, height: size - 1 }, style: { fill },
          textContent: fits ? { type: "text", style: { text: label, fill: colours.ink, fontSize: 12, fontFamily: colours.font } } : undefined,
          textConfig: { position: "inside" },
        };
      };
      const names = { color: colours.soft, fontSize: 12, fontFamily: colours.font };
      const plain = { axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false } };
      return {
        height: map.rows.length * size + 52,
        option: {
          grid: { left, right: 10, top: 6, bottom: 46 },
          xAxis: { type: "category", data: map.columns, name: map.column_title, nameLocation: "middle", nameGap: 28, nameTextStyle: names, axisLabel: { ...names, hideOverlap: true, width: room, overflow: "truncate" }, ...plain },
          yAxis: { type: "category", data: map.rows, inverse: true, axisLabel: { ...names, width: left - 12, overflow: "truncate", interval: size < 14 ? "auto" : 0 }, ...plain },
          tooltip: tooltip(colours, (_, index) => [name(index), text(map.values[index] ?? null)]),
          series: [{ id: "cells", type: "custom", renderItem, data: map.values.map((_, index) => [index % map.columns.length, Math.floor(index / map.columns.length)]), encode: { x: 0, y: 1 } }],
        },
      };
    },
    figures: () => ({
      head: [whole.row_title, ...whole.columns],
      rows: whole.rows.map((row, index) => [row, ...whole.columns.map((_, column) => text(whole.values[index * whole.columns.length + column] ?? null))]),
    }),
  };
}
