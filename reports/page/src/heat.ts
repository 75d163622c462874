// SPDX-License-Identifier: Apache-2.0
//
// Heat maps: what a case measured between places, and ratios over two things at once. Every cell carries its
// figure where there is room, so colour is never the only one to tell.

import { Chart, tooltip } from "./chart";
import type { Maybe } from "./data";
import { h } from "./dom";
import type { RenderItem } from "./draw";
import { mix, type Theme } from "./theme";
import { t } from "./text";

export interface Heat {
  title: string;
  caption: string;
  rowTitle: string;
  columnTitle: string;
  rows: string[];
  columns: string[];
  values: Maybe[]; // row by row
  format: (value: number) => string;
  ratio: boolean; // coloured around 1: above is good
}

function colourOf(colours: Theme, heat: Heat, value: number, low: number, high: number): string {
  if (!heat.ratio) return mix(colours.heat, colours.paper, 0.06 + 0.7 * (high > low ? (value - low) / (high - low) : 0.5));
  // A factor of 1.5 has the full colour; what is within 1% has none to speak of.
  const strength = Math.min(1, Math.abs(Math.log(value)) / Math.log(1.5));
  return mix(value > 1 ? colours.good : colours.bad, colours.paper, 0.04 + 0.6 * strength);
}

const mostNamed = 34; // characters of a row's name

export function heatChart(heat: Heat): Chart {
  const known = heat.values.filter((value): value is number => value !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  const name = (index: number): string => {
    const row = Math.floor(index / heat.columns.length);
    return `${heat.rows[row]} · ${heat.columns[index % heat.columns.length]}`;
  };
  const text = (value: Maybe): string => (value === null ? "–" : heat.format(value));
  const chart = new Chart({
    label: () => t("heat_label", heat.title, heat.rows.length, heat.columns.length),
    draw: (colours, width) => {
      const left = Math.min(width * 0.36, 28 + Math.min(mostNamed, Math.max(...heat.rows.map((row) => row.length))) * 7);
      const room = (width - left - 10) / heat.columns.length;
      const size = heat.ratio ? 26 : Math.max(14, Math.min(30, room * 0.7));
      const renderItem: RenderItem = (params, api) => {
        const value = heat.values[params.dataIndex] ?? null;
        const [x, y] = api.coord([api.value(0), api.value(1)]);
        const fill = value === null ? colours.faint : colourOf(colours, heat, value, low, high);
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
        height: heat.rows.length * size + 52,
        option: {
          grid: { left, right: 10, top: 6, bottom: 46 },
          xAxis: { type: "category", data: heat.columns, name: heat.columnTitle, nameLocation: "middle", nameGap: 28, nameTextStyle: names, axisLabel: { ...names, hideOverlap: true, width: room, overflow: "truncate" }, ...plain },
          yAxis: { type: "category", data: heat.rows, inverse: true, axisLabel: { ...names, width: left - 12, overflow: "truncate", interval: size < 14 ? "auto" : 0 }, ...plain },
          tooltip: tooltip(colours, (_, index) => [name(index), text(heat.values[index] ?? null)]),
          series: [{ id: "cells", type: "custom", renderItem, data: heat.values.map((_, index) => [index % heat.columns.length, Math.floor(index / heat.columns.length)]), encode: { x: 0, y: 1 } }],
        },
      };
    },
    caption: [heat.caption],
    figures: () => ({
      head: [heat.rowTitle, ...heat.columns],
      rows: heat.rows.map((row, index) => [row, ...heat.columns.map((_, column) => text(heat.values[index * heat.columns.length + column] ?? null))]),
    }),
  });
  chart.element.prepend(h("h3", {}, heat.title));
  return chart;
}
