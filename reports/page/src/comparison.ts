// SPDX-License-Identifier: Apache-2.0
//
// The page of `assay compare`: the verdict, then each family with its ratios, curves and figures.

import type { Comparison, ComparedRow, ComparedTable, Contrast, MeanRatio, Tally } from "./data";
import { add, h, hidden, type Child } from "./dom";
import { findHeat, findSweeps } from "./find";
import { percent } from "./format";
import { heatChart } from "./heat";
import { ratioChart, ratioText, type RatioRow } from "./ratios";
import type { Item, Store } from "./state";
import { strip } from "./strips";
import { sweepChart } from "./sweep";
import { Table, type Column } from "./table";
import { count, outcomeWord, t } from "./text";
import { facts, list, matching, reasons, section, still, type Part, type View } from "./view";

const outcomes = ["better", "worse", "same", "cannot_tell", "missing"] as const;
const signs: Record<string, string> = { better: "▲", worse: "▼", same: "=", cannot_tell: "~", missing: "–" };
const mostBars = 24; // of a chart, so that it fits on a sheet of paper; the table below has all
const namedBest = 5; // gains and losses in the overview

const strength = (ratio: number | null): number => (ratio === null || ratio <= 0 ? 0 : Math.abs(Math.log(ratio)));

function itemOf(row: ComparedRow, family: string): Item {
  const libraries = [...new Set([row.library, ...row.cells.map((cell) => cell.library)].filter(Boolean))];
  return {
    text: `${row.identity} ${row.benchmark} ${row.what} ${libraries.join(" ")} ${row.metric} ${family}`.toLowerCase(),
    family: row.family,
    libraries,
    outcomes: row.cells.flatMap((cell) => (cell.contrast ? [cell.contrast.outcome] : [])),
  };
}

const nameOf = (row: ComparedRow): string => [row.what, row.library].filter(Boolean).join(" · ");

function verdict(contrast: Contrast): Node {
  const text = contrast.text.startsWith("~") ? contrast.text.slice(1).trim() : contrast.text;
  return h("span", { class: `verdict ${contrast.outcome}` }, h("span", { "aria-hidden": "true" }, `${signs[contrast.outcome] ?? ""} `), hidden(`${outcomeWord(contrast.outcome)}: `), text);
}

function tallyBar(tally: Tally): HTMLElement {
  const total = outcomes.reduce((sum, name) => sum + tally[name], 0);
  const bar = h("div", { class: "tally", "aria-hidden": "true" });
  const words = h("ul", { class: "legend" });
  for (const name of outcomes) {
    if (!tally[name]) continue;
    const piece = h("span", { class: name });
    piece.style.flexGrow = String(tally[name] / total);
    bar.append(piece);
    words.append(h("li", {}, h("span", { class: `verdict ${name}`, "aria-hidden": "true" }, signs[name] ?? ""), ` ${tally[name]} ${outcomeWord(name)}`));
  }
  return h("div", {}, bar, words);
}

function card(data: Comparison, side: number, view: string): HTMLElement {
  const mean = (view === "questions" ? data.question_means : data.means)[side] as MeanRatio;
  const tally = (view === "questions" ? data.question_tallies : data.tallies)[side];
  const one = data.sides[side];
  const first = data.sides[0];
  return h(
    "div", { class: `card side-${side} only-${view}` },
    h("h3", {}, h("span", { class: `dot c${side % 6}`, "aria-hidden": "true" }), t("against", one?.label ?? "", first?.label ?? "")),
    h("p", { class: "big" }, mean.text || "–"),
    h("p", { class: "sub" }, count("mean_over", mean.count)),
    tally ? tallyBar(tally) : null,
  );
}

/** The largest changes that were called, of one kind. */
function extremes(data: Comparison, kind: "better" | "worse"): HTMLElement | null {
  const found = data.tables
    .flatMap((table) => table.rows.flatMap((row) => row.cells.map((cell, side) => ({ row, side, contrast: cell.contrast }))))
    .filter((entry) => entry.contrast?.outcome === kind)
    .sort((a, b) => strength(b.contrast?.ratio ?? null) - strength(a.contrast?.ratio ?? null))
    .slice(0, namedBest);
  if (!found.length) return null;
  const items = found.map(({ row, side, contrast }) =>
    h("li", { class: `side-${side}` }, verdict(contrast as Contrast), h("span", {}, ` ${row.benchmark}: ${nameOf(row)}`, data.sides.length > 2 ? ` (${data.sides[side]?.label})` : "")),
  );
  return h("div", {}, h("h3", {}, t(kind === "better" ? "largest_gains" : "largest_losses")), h("ul", { class: "extremes" }, ...items));
}

function overview(data: Comparison): Part {
  const rows: RatioRow[] = data.tables.map((table) => ({
    name: `${table.title} (${table.means[1]?.count ?? 0})`,
    sides: meansOf(data, table.means),
  }));
  const chart = ratioChart(() => t("families_label", rows.length), () => rows.filter((row) => row.sides.some((side) => side.contrast.ratio !== null)), data.method.minimum_effect);
  const coverage = data.sides.map((side, index) =>
    h("tr", { class: `side-${index}` },
      h("th", { scope: "row" }, h("span", { class: `dot c${index % 6}`, "aria-hidden": "true" }), side.label, h("small", {}, side.what)),
      h("td", { class: "n", "data-l": t("runs_title") }, String(side.runs)),
      h("td", { class: "n", "data-l": t("machines_title") }, String(side.machines)),
      h("td", { class: "n", "data-l": t("coverage") }, `${side.measured} / ${data.series}`, h("small", {}, data.series ? percent(side.measured / data.series) : "")),
    ),
  );
  const head = h("tr", {}, h("th", { scope: "col" }, t("side")), ...[t("runs_title"), t("machines_title"), t("coverage")].map((text) => h("th", { scope: "col", class: "n" }, text)));
  const element = section(
    t("overview"), "",
    data.summary.length ? facts(data.summary.map(({ name, text }) => [name, text]), "facts summary") : null,
    h("div", { class: "cards" }, ...data.sides.slice(1).flatMap((_, index) => [card(data, index + 1, "libraries"), data.questions.length ? card(data, index + 1, "questions") : null])),
    h("div", { class: "two even" }, extremes(data, "better"), extremes(data, "worse")),
    h("h3", {}, t("by_family")), legend(data), chart.element,
    h("table", {}, h("caption", {}, t("what_was_compared")), h("thead", {}, head), h("tbody", {}, ...coverage)),
    list([data.method.text, ...data.notes].filter(Boolean)),
  );
  return { ...still(t("overview"), element), update: (what) => what.has("hiddenSides") && chart.update() };

  function meansOf(whole: Comparison, means: MeanRatio[]): RatioRow["sides"] {
    return means.slice(1).map((mean, index) => ({
      label: whole.sides[index + 1]?.label ?? "", colour: index + 1, contrast: { ratio: mean.ratio, low: mean.low, high: mean.high, text: mean.text || ratioText(mean) },
    }));
  }
}

/** Which colour is whose; one side against another needs none. */
function legend(data: Comparison): HTMLElement | null {
  if (data.sides.length < 3) return null;
  return h("ul", { class: "legend" }, ...data.sides.slice(1).map((side, index) => h("li", { class: `side-${index + 1}` }, h("span", { class: `dot c${(index + 1) % 6}`, "aria-hidden": "true" }), side.label)));
}

/** What the runs of each side said of themselves; folded where there is more than a line. */
function notesOf(data: Comparison, row: ComparedRow): HTMLElement | null {
  const lines = row.cells.flatMap((cell, index) => (cell.notes.length ? [h("small", { class: `note side-${index}` }, `${data.sides[index]?.label}: ${cell.notes.join("; ")}`)] : []));
  if (lines.length < 2) return lines[0] ?? null;
  return h("details", {}, h("summary", {}, count("notes", lines.length)), ...lines);
}

function columns(data: Comparison): Column<ComparedRow>[] {
  const out: Column<ComparedRow>[] = [
    {
      key: "case", title: t("case_title"), order: (row) => nameOf(row),
      cell: (row) => [row.what || row.benchmark, h("small", {}, [row.benchmark, row.library, row.metric].filter(Boolean).join(" · ")), notesOf(data, row)],
    },
  ];
  data.sides.forEach((side, index) => {
    out.push({
      key: `value${index}`, title: side.label, numeric: true, side: index, order: (row) => row.cells[index]?.value ?? null,
      cell: (row) => {
        const cell = row.cells[index];
        if (!cell || cell.value === null) return [h("span", { class: "sub" }, "–")];
        const best = !row.library && cell.library ? h("small", {}, cell.library) : null;
        return [h("b", {}, cell.text), h("small", { class: "col-interval" }, [cell.interval, count("values", cell.count)].filter(Boolean).join(" · ")), best] as Child[];
      },
    });
    if (index === 0) return;
    out.push({
      key: `ratio${index}`, title: t("against", side.label, data.sides[0]?.label ?? ""), side: index, numeric: true, order: (row) => row.cells[index]?.contrast?.ratio ?? null,
      cell: (row) => {
        const contrast = row.cells[index]?.contrast;
        return contrast ? [verdict(contrast), contrast.paired ? h("small", {}, t("paired")) : null] : [];
      },
    });
  });
  out.push({ key: "strips", title: t("strips"), cell: (row) => [strip(row.cells.map((cell, index) => ({ values: cell.values, colour: index })), !row.higher_is_better)] });
  return out;
}

function familyPart(data: Comparison, table: ComparedTable, view: string, store: Store): Part {
  const rows = table.rows.map((row) => ({ row, item: itemOf(row, `${table.title} ${table.name}`) }));
  const shownSide = (index: number): boolean => !store.state.hiddenSides.has(data.sides[index]?.label ?? "");
  const left = h("p", { class: "foot" });
  const bars = (): RatioRow[] => {
    const all = matching(store, rows)
      .map((row) => ({
        name: nameOf(row) || row.benchmark,
        sides: row.cells.flatMap((cell, index) => (cell.contrast && cell.contrast.ratio !== null && shownSide(index) ? [{ label: data.sides[index]?.label ?? "", colour: index, contrast: cell.contrast }] : [])),
      }))
      .filter((row) => row.sides.length > 0);
    const most = (row: RatioRow): number => Math.max(...row.sides.map((side) => strength(side.contrast.ratio)));
    left.textContent = all.length > mostBars ? t("largest_shown", mostBars, all.length) : "";
    if (all.length <= mostBars) return all;
    const kept = new Set([...all].sort((a, b) => most(b) - most(a)).slice(0, mostBars));
    return all.filter((row) => kept.has(row));
  };
  const ratios = ratioChart(() => t("ratios_label", table.title, bars().length), bars, data.method.minimum_effect);
  const sweeps = findSweeps(data, table.rows).map((sweep) => sweepChart(sweep, (line) => shownSide(Number(line.side))));
  const heats = findHeat(data, table).map(heatChart);
  const figures = new Table(`${table.title}: ${t("figures")}`, columns(data), table.rows, (row) => itemOf(row, `${table.title} ${table.name}`), store);
  const means = table.means.slice(1).map((mean, index) =>
    h("li", { class: `side-${index + 1}` }, h("b", {}, mean.text || "–"), ` ${t("against", data.sides[index + 1]?.label ?? "", data.sides[0]?.label ?? "")}, ${count("mean_over", mean.count)}`),
  );
  const element = section(table.title, table.question, h("ul", { class: "means" }, ...means), legend(data), ratios.element, left);
  add(element, ...sweeps.map((chart) => chart.element), ...heats.map((chart) => chart.element), figures.element);
  return {
    element, title: table.title, view, items: rows.map(({ item }) => item),
    update: (what) => {
      if (what.has("sort") || what.has("down")) figures.sort();
      figures.apply();
      ratios.update();
      if (what.has("hiddenSides")) for (const chart of sweeps) chart.update();
    },
  };
}

export function comparisonView(data: Comparison, store: Store): View {
  const parts = [overview(data)];
  for (const table of data.tables) parts.push(familyPart(data, table, "libraries", store));
  for (const table of data.questions) parts.push(familyPart(data, table, "questions", store));
  const missing = reasons(t("not_compared"), t("not_compared_question"), data.not_compared);
  if (missing) parts.push(missing);
  const rows = [...data.tables, ...data.questions].flatMap((table) => table.rows);
  const first = data.sides[0]?.label ?? "";
  parts.push(still(t("sides"), section(t("sides"), "", ...data.sides.map((side) => h("details", {}, h("summary", {}, `${side.label}: ${count("files", side.files.length)}`), list(side.files))))));
  return {
    kicker: t("comparison"),
    title: data.title || data.sides.map((side) => side.label).slice(1).join(", ") + t("title_against", first),
    sub: data.sides.map((side) => `${side.label}: ${side.what}`).join(" · "),
    parts,
    choices: {
      family: familiesOf(data.tables),
      library: unique(rows.flatMap((row) => itemOf(row, "").libraries).sort().map((name) => ({ value: name, title: name }))),
      outcome: outcomes.filter((name) => data.tallies.some((tally) => tally[name] > 0)).map((name) => ({ value: name, title: `${signs[name]} ${outcomeWord(name)}` })),
      sides: data.sides.length > 2 ? data.sides.slice(1).map((side) => ({ value: side.label, title: side.label })) : [],
      columns: [{ value: "interval", title: t("interval") }, { value: "strips", title: t("strips") }],
      sorts: columns(data).filter((column) => column.order).map((column) => ({ value: column.key, title: column.title })),
    },
    views: data.questions.length ? [{ value: "libraries", title: t("by_library") }, { value: "questions", title: t("by_question") }] : [],
    counted: (shown, total) => t("counted", shown, count("series", total)),
  };
}

/** A family may have several tables, one for each metric: "Memory: bandwidth", "Memory: latency". */
function familiesOf(tables: ComparedTable[]): { value: string; title: string }[] {
  const titles = new Map<string, string>();
  for (const table of tables) {
    const family = table.rows[0]?.family ?? table.name;
    const known = titles.get(family);
    titles.set(family, known === undefined ? table.title : sharedStart(known, table.title) || family);
  }
  return [...titles].map(([value, title]) => ({ value, title }));
}

function sharedStart(a: string, b: string): string {
  let end = 0;
  while (end < a.length && a[end] === b[end]) ++end;
  return a.slice(0, end).replace(/[\s:：]+$/, "");
}

function unique<T extends { value: string }>(choices: T[]): T[] {
  return [...new Map(choices.map((choice) => [choice.value, choice])).values()];
}
