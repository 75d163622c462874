// SPDX-License-Identifier: Apache-2.0
//
// Made from the field lists of reports/document/chart.hpp by tests/unit/reports/page_types_test.cpp: what the
// page carries for its script. Numbers are SI base units, rounded to seven digits.

export type Maybe = number | null;

export interface Page {
  language: "en" | "zh";
  sides: string[]; // of a comparison, the first is side 1
  charts: ChartData[]; // of the figures, by their number
}

export type ChartData = CurveChart | HeatMap | RooflineChart | RatioChart | TimeChart | RankingChart;

export interface Point {
  x: number;
  y: number;
  low: Maybe;
  high: Maybe;
}

export interface Curve {
  label: string;
  side: number;
  points: Point[];
}

export interface Mark {
  x: number;
  text: string;
}

export interface CurveChart {
  kind: "curves";
  unit: string;
  y_title: string;
  x_title: string;
  x_unit: string;
  higher_is_better: boolean;
  curves: Curve[];
  marks: Mark[];
}

export interface HeatMap {
  kind: "heat";
  unit: string;
  row_title: string;
  column_title: string;
  rows: string[];
  columns: string[];
  values: Maybe[];
  ratio: boolean;
}

export interface Roof {
  name: string;
  value: number;
}

export interface RoofPoint {
  label: string;
  intensity: number;
  rate: number;
}

export interface RooflineChart {
  kind: "roofline";
  peaks: Roof[];
  bandwidths: Roof[];
  levels: Roof[];
  points: RoofPoint[];
}

export interface Ratio {
  label: string;
  side: number;
  ratio: number;
  low: Maybe;
  high: Maybe;
  outcome: string;
  text: string;
  mark: Maybe;
  from: Maybe;
}

export interface RatioChart {
  kind: "ratios";
  unit: string;
  ratios: Ratio[];
}

export interface TimePoint {
  seconds: number;
  value: number;
  low: Maybe;
  high: Maybe;
  label: string;
}

export interface TimeMark {
  seconds: number;
  text: string;
  outcome: string;
}

export interface TimeChart {
  kind: "time";
  unit: string;
  higher_is_better: boolean;
  points: TimePoint[];
  marks: TimeMark[];
}

export interface RankedMeasure {
  label: string;
  weight: number;
}

export interface RankedType {
  logs: number[];
}

export interface RankedChoice {
  label: string;
  type: number;
  price: number;
  other: number;
  by_use: boolean;
  commitment: number;
  best: Maybe;
}

export interface RankingChart {
  kind: "ranking";
  currency: string;
  measures: RankedMeasure[];
  types: RankedType[];
  choices: RankedChoice[];
  term: number;
  utilisation: number;
}
