// SPDX-License-Identifier: Apache-2.0
//
// What the page is given: exactly what `assay report|compare|history --json` print, in one envelope.
// Figures are SI base units, rounded to seven digits; a figure that is not known is null, never 0.

export interface Page {
  schema: "assay.page/1";
  language: "en" | "zh";
  version: string; // of assay
  created: string; // UTC, ISO 8601
  title: string;
  report: { schema: "assay.report/1"; reports: Report[] } | null;
  comparison: Comparison | null;
  history: History | null;
}

export type Maybe = number | null;

// --- assay compare -------------------------------------------------------------------------------------

export type Outcome = "better" | "worse" | "same" | "cannot_tell" | "missing";

export interface Contrast {
  outcome: Outcome;
  ratio: Maybe; // times as good as the first side: above 1 is better, also where low figures are
  low: Maybe; // 95% interval
  high: Maybe;
  p: Maybe; // adjusted for the number of series
  detectable: Maybe; // smallest change that would be found: 0.03 is 3%
  paired: boolean;
  reason_code: "disturbed" | "two_levels" | "between_times" | null; // why there is no verdict
  between_runs: { deviation: number; source: string } | null; // what stands for other times where runs are few
  text: string; // "1.08x [1.05, 1.11]", "~ cannot tell below 4%"
}

export interface Cell {
  value: Maybe;
  low: Maybe;
  high: Maybe;
  count: number; // independent values behind it
  values: number[]; // one each, in time order; at most 200
  library: string; // of the best, in tables by question
  share_of_ceiling: Maybe;
  text: string; // "505 GFLOP/s"
  interval: string; // "±0.4%"
  contrast: Contrast | null; // null on the first side
  notes: string[];
}

export interface ComparedRow {
  identity: string;
  family: string;
  benchmark: string;
  what: string;
  library: string;
  parameters: Record<string, string | number | boolean>;
  metric: string;
  unit: string;
  higher_is_better: boolean;
  cells: Cell[]; // one for each side
}

export interface MeanRatio {
  ratio: Maybe;
  low: Maybe;
  high: Maybe;
  count: number;
  text: string;
}

export interface Tally {
  better: number;
  worse: number;
  same: number;
  cannot_tell: number;
  missing: number;
}

export interface ComparedTable {
  name: string;
  title: string;
  question: string;
  rows: ComparedRow[];
  means: MeanRatio[];
  tallies: Tally[];
}

export interface Side {
  label: string;
  what: string;
  runs: number;
  machines: number;
  measured: number; // series with a figure
  files: string[];
}

export interface Comparison {
  schema: "assay.comparison/1";
  title: string;
  summary: { name: string; text: string }[]; // lines for whoever reads no further
  sides: Side[];
  tables: ComparedTable[]; // library by library
  questions: ComparedTable[]; // the best library of each side
  means: MeanRatio[];
  tallies: Tally[];
  question_means: MeanRatio[]; // the same over `questions`
  question_tallies: Tally[];
  series: number; // in the union of all sides
  method: { alpha: number; correction: string; minimum_effect: number; unit: string; paired: boolean; text: string };
  notes: string[];
  not_compared: { what: string; reason: string; where: string[] }[];
}

// --- assay history -------------------------------------------------------------------------------------

export interface HistoryPoint {
  seconds: number; // since 1970
  value: number;
  low: Maybe;
  high: Maybe;
  runs: number;
  machine: string;
  files: string[];
}

export interface ChangedFact {
  cause: "instance" | "software";
  name: string;
  before: string;
  after: string;
  without_effect: number; // other machines on which it changed alike without a step
}

export interface HistoryStep {
  seconds: number; // of the first point after it
  earliest: number; // it happened between these
  latest: number;
  machine: string; // empty where machines follow one another
  before: number;
  after: number;
  ratio: number; // times as good
  low: Maybe;
  high: Maybe;
  p: number;
  cause: "instance" | "software" | "unexplained";
  facts: ChangedFact[];
  text: string;
}

// Steps of several series with one cause.
export interface HistoryEvent {
  seconds: number;
  until: number;
  cause: "instance" | "software" | "unexplained";
  facts: ChangedFact[];
  machines: string[];
  better: number; // series
  worse: number;
  measured: number; // series measured on both sides
  text: string;
}

export interface Quarter {
  name: string; // "2026 Q1"
  value: number; // geometric mean over machines
  low: Maybe;
  high: Maybe;
  machines: number;
  runs: number;
}

export interface HistorySeries {
  identity: string;
  family: string;
  benchmark: string;
  what: string;
  library: string;
  metric: string;
  unit: string;
  higher_is_better: boolean;
  points: HistoryPoint[];
  steps: HistoryStep[];
  breaks: { seconds: number; machine: string; text: string }[];
  quarters: Quarter[];
  change: {
    from: string; // quarters
    to: string;
    ratio: number; // times as good
    low: Maybe;
    high: Maybe;
    machines: number; // measured in both
    text: string;
  } | null;
  trend: { per_year: number; low: number; high: number; text: string } | null;
  spread: {
    machines: number;
    p05: number;
    p50: number;
    p95: number;
    tolerance: Maybe;
    slowest: { machines: number; value: number }[];
    text: string;
  } | null;
}

export interface HistoryGroup {
  name: string;
  what: string;
  runs: number;
  machines: number;
  from: number; // seconds since 1970
  to: number;
  events: HistoryEvent[]; // by time
  series: HistorySeries[];
}

export interface History {
  schema: "assay.history/1";
  cause: string; // what disturbed values that are left out
  groups: HistoryGroup[];
  notes: string[];
  not_used: { where: string; reason: string }[];
  runs: number;
}

// --- assay report --------------------------------------------------------------------------------------

export interface Report {
  label: string;
  title: string;
  source: string;
  run: Record<string, string>;
  machine: Record<string, string>;
  libraries: Record<string, string>;
  cause: string; // what disturbed the run; empty where nothing did
  summary: Record<string, string>;
  findings: { severity: "note" | "caution" | "serious"; what: string; action: string }[];
  sections: Section[];
  rooflines: Roofline[];
  not_measured: { status: string; reason: string; cases: string[] }[];
  checks: { benchmark: string; method: string; passed: number; total: number }[];
  caps: string[]; // what was left out because the run is large
  /** What the keys above are called in the page's language, where that is not English. */
  names: Record<"run" | "machine" | "libraries" | "summary" | "figures", Record<string, string>>;
}

export interface Section {
  family: string;
  title: string;
  question: string;
  ceilings: string[];
  cases: Case[];
  curves: Curve[];
  maps: HeatMap[];
}

export interface Case {
  identity: string;
  benchmark: string;
  case: string;
  library: string;
  status: string;
  text: string;
  value: Maybe;
  low: Maybe;
  high: Maybe;
  unit: string;
  interval: string;
  covers: string;
  metric: string; // title: "bandwidth"
  higher_is_better: boolean;
  on_curve: boolean; // a point of one of the section's curves
  of_ceiling: string;
  ceiling: Maybe;
  ceiling_note: Maybe; // which of the section's ceilings, from 1
  other_ceilings: { of_ceiling: string; ceiling: Maybe; ceiling_note: number }[]; // said among the notes, too
  notes: string[];
  figures: Record<string, string>;
  settings: string;
  strips: number[][]; // seconds per call over time, one array for each replica
}

/** Curves with the same `chart` share their axes. */
export interface Curve {
  benchmark: string;
  chart: number;
  curve: string;
  common: string; // what all curves of the chart share
  x: string;
  x_unit: string;
  y: string;
  unit: string;
  higher_is_better: boolean;
  points: [number, number][];
  intervals: [Maybe, Maybe][]; // of each point
  marks: { x: number; text: string }[]; // places on the x axis: where a cache ends
  levels: string[];
}

/** What cases reach against how much they compute for each byte they move. */
export interface Roofline {
  place: string;
  peaks: { name: string; value: number }[]; // FLOP/s, measured in the run
  bandwidths: { name: string; value: number }[]; // B/s
  cases: { identity: string; benchmark: string; case: string; library: string; intensity: number; rate: number }[];
}

export interface HeatMap {
  benchmark: string;
  case: string;
  metric: string;
  unit: string;
  row_title: string;
  column_title: string;
  rows: string[];
  columns: string[];
  merged: number;
  slow: string[]; // sentences: who slows pairs down
  values: Maybe[];
}
