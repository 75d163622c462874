// SPDX-License-Identifier: Apache-2.0
//
// Finds the curves and matrices in a comparison: rows that differ in one number, or in two parameters. Nobody
// declares sweeps (reports/model/curves.hpp does the same for a run).

import type { Comparison, ComparedRow, ComparedTable } from "./data";
import { ratio } from "./format";
import type { Heat } from "./heat";
import type { Sweep, SweepLine } from "./sweep";
import { t } from "./text";

const fewestPoints = 4; // fewer are easier to read as bars
const mostLines = 12; // of a chart
const mostCurves = 4; // of a side in it: as many as there are kinds of lines
const fewestCells = 3; // rows and columns of a matrix
const filled = 0.7; // share of its cells that a matrix must have

const withBlanks = (name: string): string => name.replaceAll("_", " ");
/** As reports/model/words.cpp has it: parameters that are amounts of memory. */
const isBytes = (name: string): boolean => /^(footprint|bytes|message|working_set)$|._bytes$/.test(name);

function rest(row: ComparedRow, without: string[]): string {
  return JSON.stringify([row.benchmark, row.library, row.metric, Object.entries(row.parameters).filter(([name]) => !without.includes(name))]);
}

function groups(rows: ComparedRow[], without: string[]): ComparedRow[][] {
  const found = new Map<string, ComparedRow[]>();
  for (const row of rows) {
    const key = rest(row, without);
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found.values()];
}

const numeric = (row: ComparedRow, name: string): number | null => {
  const value = row.parameters[name];
  return typeof value === "number" && value > 0 ? value : null;
};

function label(row: ComparedRow, common: Set<string>): string {
  const parts = Object.entries(row.parameters).filter(([name, value]) => !common.has(`${name}=${value}`));
  return [row.library, ...parts.map(([name, value]) => `${withBlanks(name)} ${value}`)].filter(Boolean).join(", ");
}

/** Parameters that all rows share, as "name=value". */
function shared(rows: ComparedRow[]): Set<string> {
  const first = Object.entries(rows[0]?.parameters ?? {}).map(([name, value]) => `${name}=${value}`);
  return new Set(first.filter((pair) => rows.every((row) => Object.entries(row.parameters).some(([name, value]) => `${name}=${value}` === pair))));
}

function sweepsOf(data: Comparison, rows: ComparedRow[], swept: string): Sweep[] {
  const curves = groups(rows.filter((row) => numeric(row, swept) !== null), [swept]).filter((curve) => curve.length >= fewestPoints);
  const perChart = Math.max(1, Math.min(mostCurves, Math.floor(mostLines / data.sides.length)));
  const out: Sweep[] = [];
  for (let from = 0; from < curves.length; from += perChart) {
    const chosen = curves.slice(from, from + perChart);
    const first = chosen[0]?.[0];
    if (!first) continue;
    const common = shared(chosen.flat());
    const lines = chosen.flatMap((curve, dash): SweepLine[] =>
      data.sides.map((side, index) => {
        const name = label({ ...(curve[0] as ComparedRow), parameters: Object.fromEntries(Object.entries((curve[0] as ComparedRow).parameters).filter(([key]) => key !== swept)) }, common);
        return {
          label: chosen.length > 1 && name ? `${side.label}: ${name}` : side.label,
          colour: index, dash, side: String(index),
          points: curve
            .flatMap((row) => {
              const cell = row.cells[index];
              return cell && cell.value !== null ? [{ x: numeric(row, swept) as number, y: cell.value, low: cell.low, high: cell.high }] : [];
            })
            .sort((a, b) => a.x - b.x),
        };
      }),
    );
    const caption = [...(chosen.length === 1 && first.library ? [first.library] : []), ...[...common].map((pair) => withBlanks(pair.replace("=", " ")))].join(", ");
    out.push({
      title: `${first.benchmark}: ${first.metric}`, caption: caption ? `${caption}.` : "",
      x: withBlanks(swept), xUnit: isBytes(swept) ? "B" : "", y: first.metric, unit: first.unit, higherIsBetter: first.higher_is_better,
      lines: lines.filter((line) => line.points.length > 0), marks: [],
    });
  }
  return out;
}

const byBenchmark = (rows: ComparedRow[]): ComparedRow[][] => {
  const found = new Map<string, ComparedRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.benchmark, row.metric]);
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found.values()];
};

export function findSweeps(data: Comparison, rows: ComparedRow[]): Sweep[] {
  return byBenchmark(rows).flatMap((same) => {
    const names = Object.keys(same[0]?.parameters ?? {});
    let best: { name: string; points: number } | null = null;
    for (const name of names) {
      const points = Math.max(0, ...groups(same.filter((row) => numeric(row, name) !== null), [name]).map((curve) => curve.length));
      if (points >= fewestPoints && points > (best?.points ?? 0)) best = { name, points };
    }
    return best ? sweepsOf(data, same, best.name) : [];
  });
}

/** Ratios of all sides, where there are several; or of one over two parameters. */
export function findHeat(data: Comparison, table: ComparedTable): Heat[] {
  const caption = t("heat_ratio_caption", data.sides[0]?.label ?? "");
  const base = { caption, format: ratio, ratio: true };
  if (data.sides.length > 2) {
    const rows = table.rows.filter((row) => row.cells.some((cell) => cell.contrast?.ratio !== null && cell.contrast !== null));
    if (rows.length < 2 || rows.length > 60) return [];
    return [{
      ...base, title: t("heat_sides", table.title), rowTitle: t("case_title"), columnTitle: t("side"),
      rows: rows.map((row) => [row.what, row.library].filter(Boolean).join(" · ")), columns: data.sides.slice(1).map((side) => side.label),
      values: rows.flatMap((row) => row.cells.slice(1).map((cell) => cell.contrast?.ratio ?? null)),
    }];
  }
  return byBenchmark(table.rows).flatMap((same) => {
    const names = Object.keys(same[0]?.parameters ?? {});
    for (let a = 0; a < names.length; ++a)
      for (let b = a + 1; b < names.length; ++b) {
        const found = groups(same, [names[a] as string, names[b] as string]).map((rows) => matrix(rows, names[a] as string, names[b] as string));
        const fine = found.filter((one) => one !== null);
        if (fine.length) return fine.map((one) => ({ ...base, ...one }));
      }
    return [];
  });

  function matrix(rows: ComparedRow[], down: string, across: string): Pick<Heat, "title" | "rowTitle" | "columnTitle" | "rows" | "columns" | "values"> | null {
    const places = (name: string): string[] => [...new Set(rows.map((row) => String(row.parameters[name])))].sort((x, y) => x.localeCompare(y, "en", { numeric: true }));
    const lines = places(down);
    const columns = places(across);
    if (lines.length < fewestCells || columns.length < fewestCells || rows.length < lines.length * columns.length * filled) return null;
    const values: (number | null)[] = Array<number | null>(lines.length * columns.length).fill(null);
    for (const row of rows) values[lines.indexOf(String(row.parameters[down])) * columns.length + columns.indexOf(String(row.parameters[across]))] = row.cells[1]?.contrast?.ratio ?? null;
    const first = rows[0] as ComparedRow;
    return { title: [first.benchmark, first.library].filter(Boolean).join(" · "), rowTitle: withBlanks(down), columnTitle: withBlanks(across), rows: lines, columns, values };
  }
}
