// SPDX-License-Identifier: Apache-2.0
//
// Heat maps: what a case measured between places, and ratios over two things at once. Every cell carries its
// figure where there is room, so colour is never the only one to tell.

import { tooltip, type Spec } from "./chart";
import type { HeatMap, Maybe } from "./data";
import { textWidth, type RenderItem } from "./draw";
import { change, quantity } from "./format";
import { t } from "./text";
import { windowOf } from "./rows";
import { mix, type Theme } from "./theme";

const neutral = Math.log(1.01); // within 1% of the median nothing is better or worse

type Colour = (colours: Theme, value: number) => string;
function colourOf(map: HeatMap): Colour {
  const known = map.values.filter((value): value is number => value !== null);
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  if (!map.ratio) return (colours, value) => mix(colours.heat, colours.paper, 0.06 + 0.7 * (high > low ? (value - low) / (high - low) : 0.5));
  const full = Math.min(Math.log(1.5), Math.max(Math.log(1.1), -Math.log(low), Math.log(high)));
  return (colours, value) => {
    const size = Math.abs(Math.log(value));
    if (size <= neutral) return colours.faint;
    return mix(value > 1 ? colours.good : colours.bad, colours.paper, 0.1 + 0.52 * Math.min(1, size / full));
  };
}

const paperRow = 14; // px: a map of 40 rows fits on a page
const letter = 6.6; // px, of a name
const mostNamed = 34 * letter; // of a row
const mostTitled = 26 * letter; // of a column, where it stands aslant

interface Layout {
  left: number;
  right: number;
  top: number;
  room: number; // of a column
  size: number; // of a row on a screen
  turn: number; // degrees, of the names of columns
}
function layoutOf(map: HeatMap, width: number): Layout {
  const longest = Math.max(0, ...map.columns.map((name) => textWidth(name, letter)));
  const left = Math.min(width * 0.36, 26 + Math.min(mostNamed, Math.max(...map.rows.map((row) => textWidth(row)))));
  const slant = longest > (width - left - 10) / map.columns.length - 8;
  const turn = slant ? (width > 600 ? 45 : 90) : 0; // upright names need no room beside the map
  const name = Math.min(mostTitled, longest);
  const right = turn === 45 ? Math.min(width * 0.25, name * 0.65) : 6;
  const room = (width - left - right) / map.columns.length;
  return { left, right, top: 44 + Math.sin((turn * Math.PI) / 180) * name, room, size: map.ratio ? 26 : Math.max(14, Math.min(30, room * 0.7)), turn };
}

/** `changed`: other rows of a long map are to be drawn. */
export function heat(whole: HeatMap, changed: () => void): Spec {
  const colour = colourOf(whole);
  const rows = windowOf(whole, changed, colour);
  const text = (value: Maybe): string => (value === null ? "–" : whole.ratio ? change(value) : quantity(value, whole.unit));
  const brief = (value: Maybe): string => (value === null ? "–" : (value < 0.5 || value > 1.5) ? String(Number(value.toPrecision(2))) : `${Math.round(100 * (value - 1))}`.replace("-", "−"));
  return {
    legend: rows?.element ?? null,
    height: (width, onPaper) => {
      const { top, size } = layoutOf(whole, width);
      return Math.round((rows?.count() ?? whole.rows.length) * (onPaper ? Math.min(size, paperRow) : size) + top + 8);
    },
    draw: (colours, width, height) => {
      const { left, right, top, room, turn } = layoutOf(whole, width);
      const map = rows ? rows.shown(colours, width) : whole;
      const size = (height - top - 8) / Math.max(1, map.rows.length);
      const name = (index: number): string => {
        const row = Math.floor(index / map.columns.length);
        return `${map.rows[row]} · ${map.columns[index % map.columns.length]}`;
      };
      const fits = (label: string, size: number): boolean => textWidth(label, size) < room - 3;
      // All cells in full, or all in whole percent.
      const short = whole.ratio && !map.values.every((value) => fits(text(value), letter));
      const renderItem: RenderItem = (params, api) => {
        const value = map.values[params.dataIndex] ?? null;
        const [x, y] = api.coord([api.value(0), api.value(1)]);
        const label = short ? brief(value) : text(value);
        return {
          type: "rect", shape: { x: x - room / 2 + 0.5, y: y - size / 2 + 0.5, width: Math.max(1, room - 1), height: size - 1 }, style: { fill: value === null ? colours.faint : colour(colours, value) },
          textContent: fits(label, short ? 5.4 : letter) ? { type: "text", style: { text: label, fill: colours.ink, fontSize: short ? 10.5 : 12, fontFamily: colours.font } } : undefined,
          textConfig: { position: "inside" },
        };
      };
      const names = { color: colours.soft, fontSize: 12, fontFamily: colours.font };
      const plain = { axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false } };
      return {
        grid: { left, right, top, bottom: 4, outerBoundsMode: "none" },
        xAxis: {
          type: "category", position: "top", data: map.columns, name: short ? t("in_percent", map.column_title) : map.column_title, nameLocation: "middle", nameGap: top - 16, nameTextStyle: names,
          axisLabel: { ...names, interval: room < 12 ? "auto" : 0, ...(turn ? { rotate: turn === 90 ? 90 : -turn, width: mostTitled } : { width: room }), overflow: "truncate" }, ...plain,
        },
        yAxis: { type: "category", data: map.rows, inverse: true, axisLabel: { ...names, width: left - 12, overflow: "truncate", interval: size < 14 ? "auto" : 0 }, ...plain },
        tooltip: tooltip(colours, (_, index) => [name(index), text(map.values[index] ?? null)]),
        series: [{ id: "cells", type: "custom", renderItem, data: map.values.map((_, index) => [index % map.columns.length, Math.floor(index / map.columns.length)]), encode: { x: 0, y: 1 } }],
      };
    },
    figures: () => ({
      head: [whole.row_title, ...whole.columns],
      rows: whole.rows.map((row, index) => [row, ...whole.columns.map((_, column) => text(whole.values[index * whole.columns.length + column] ?? null))]),
    }),
  };
}
