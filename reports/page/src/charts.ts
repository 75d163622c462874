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

/** `sides` of a comparison: the first is the baseline, which is always shown; `hidden` are those that the reader does not want to see. */
export function chartOf(figure: HTMLElement, data: ChartData, sides: string[], hidden: () => Set<string>, width: number): Chart {
  const isShown = (side: number): boolean => side <= 1 || !hidden().has(sides[side - 1] ?? "");
  const rows = (): Table => tableOf(data, sides);
  switch (data.kind) {
    case "curves":
      return new Chart(figure, curves(data, isShown), rows, width);
    case "heat": {
      const chart: Chart = new Chart(figure, heat(data, () => chart.update()), rows, width);
      return chart;
    }
    case "roofline":
      return new Chart(figure, roofline(data), rows, width);
    case "ratios":
      return new Chart(figure, ratios(data, sides, isShown), rows, width);
    case "ranking": {
      const chart: Chart = new Chart(figure, ranking(data, () => chart.update()), rows, width);
      return chart;
    }
    case "time":
      return new Chart(figure, time(data), rows, width);
  }
}
