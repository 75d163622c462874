// SPDX-License-Identifier: Apache-2.0
//
// A drawing for each kind of chart that a document may have.

import { Chart } from "./chart";
import { curves } from "./curves";
import type { ChartData } from "./data";
import { tableOf, type Table } from "./download";
import { heat } from "./heat";
import { ranking } from "./ranking";
import { ratios } from "./ratios";
import { roofline } from "./roofline";
import { time } from "./time";

/** The sides of a comparison, as a chart has them. */
export interface Sides {
  names: string[]; // the first is the baseline, which is always shown
  hue: (side: number) => number; // of its colour: a side keeps it whatever the baseline is
}

/** `hidden` are the sides that the reader does not want to see. */
export function chartOf(figure: HTMLElement, data: ChartData, sides: Sides, hidden: () => Set<string>): Chart {
  const isShown = (side: number): boolean => side <= 1 || !hidden().has(sides.names[side - 1] ?? "");
  const rows = (): Table => tableOf(data, sides.names);
  switch (data.kind) {
    case "curves":
      return new Chart(figure, curves(data, sides.hue, isShown), rows);
    case "heat": {
      const chart: Chart = new Chart(figure, heat(data, () => chart.update()), rows);
      return chart;
    }
    case "roofline":
      return new Chart(figure, roofline(data), rows);
    case "ratios":
      return new Chart(figure, ratios(data, sides, isShown), rows);
    case "ranking": {
      const chart: Chart = new Chart(figure, ranking(data, () => chart.update()), rows);
      return chart;
    }
    case "time":
      return new Chart(figure, time(data), rows);
  }
}
