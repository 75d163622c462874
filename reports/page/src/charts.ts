// SPDX-License-Identifier: Apache-2.0
//
// A drawing for each kind of chart that a document may have.

import { Chart } from "./chart";
import { curves } from "./curves";
import type { ChartData } from "./data";
import { heat } from "./heat";
import { ratios } from "./ratios";
import { roofline } from "./roofline";
import { time } from "./time";

/** `hidden` are the sides of a comparison that the reader does not want to see. */
export function chartOf(figure: HTMLElement, data: ChartData, sides: string[], hidden: () => Set<string>): Chart {
  const isShown = (side: number): boolean => side === 0 || !hidden().has(sides[side - 1] ?? "");
  switch (data.kind) {
    case "curves":
      return new Chart(figure, curves(data, isShown));
    case "heat":
      return new Chart(figure, heat(data));
    case "roofline":
      return new Chart(figure, roofline(data));
    case "ratios":
      return new Chart(figure, ratios(data, sides, isShown));
    case "time":
      return new Chart(figure, time(data));
  }
}
