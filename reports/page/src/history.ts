// SPDX-License-Identifier: Apache-2.0
//
// The page of `assay history`: what changed and why, then each instance type by quarter and by series.

import type { History, HistoryGroup, HistorySeries, HistoryStep } from "./data";
import { add, h, hidden, type Child } from "./dom";
import { change, day, quantity, quarter, span } from "./format";
import { later } from "./later";
import { matches, type Item, type Store } from "./state";
import { Table, type Column } from "./table";
import { count, grouped, t, type Key } from "./text";
import { timelineChart } from "./timeline";
import { list, reasons, section, still, type Part, type View } from "./view";

const causes: Record<string, Key> = { instance: "cause_instance", software: "cause_software", unexplained: "cause_unexplained" };
const causeWord = (cause: string): string => (causes[cause] ? t(causes[cause]) : cause);
const steady = "steady";

function itemOf(series: HistorySeries, group: string): Item {
  return {
    text: `${series.identity} ${series.what} ${series.library} ${series.metric} ${group} ${series.steps.map((step) => step.text).join(" ")}`.toLowerCase(),
    family: series.family, libraries: [series.library],
    outcomes: series.steps.length ? series.steps.flatMap((step) => [step.cause, step.ratio >= 1 ? "better" : "worse"]) : [steady],
  };
}

const nameOf = (series: HistorySeries): string => [series.what || series.benchmark, series.library].filter(Boolean).join(" · ");

function changeText(step: HistoryStep): HTMLElement {
  const better = step.ratio >= 1;
  return h("span", { class: `verdict ${better ? "better" : "worse"}` }, h("span", { "aria-hidden": "true" }, better ? "▲ " : "▼ "), hidden(`${t(better ? "became_better" : "became_worse")}: `), change(step.ratio - 1));
}

const factsOf = (step: HistoryStep): HTMLElement | null =>
  step.facts.length ? h("ul", { class: "changed" }, ...step.facts.map((fact) => h("li", {}, h("b", {}, fact.name), ` ${fact.before || "–"} → ${fact.after || "–"}`))) : null;

interface Found {
  group: HistoryGroup;
  series: HistorySeries;
  step: HistoryStep;
}

function changes(data: History, store: Store): Part {
  const rows: Found[] = data.groups
    .flatMap((group) => group.series.flatMap((series) => series.steps.map((step) => ({ group, series, step }))))
    .sort((a, b) => b.step.seconds - a.step.seconds);
  const item = ({ group, series, step }: Found): Item => ({ ...itemOf(series, group.name), outcomes: [step.cause, step.ratio >= 1 ? "better" : "worse"] });
  const columns: Column<Found>[] = [
    { key: "case", title: t("series_title"), order: (row) => nameOf(row.series), cell: ({ group, series }) => [nameOf(series), h("small", {}, `${series.benchmark} · ${series.metric} · ${group.name}`)] },
    { key: "date", title: t("date"), order: (row) => row.step.seconds, cell: ({ step }) => [h("span", { class: "w" }, day(step.seconds))] },
    { key: "change", title: t("change"), numeric: true, order: (row) => row.step.ratio, cell: ({ step }) => [changeText(step), h("small", { class: "col-interval" }, span(step.low, step.high, (end) => change(end - 1)))] },
    { key: "cause", title: t("cause"), order: (row) => row.step.cause, cell: ({ step }) => [h("span", { class: `cause ${step.cause}` }, causeWord(step.cause)), factsOf(step)] },
  ];
  const table = new Table(t("changes"), columns, rows, item, store);
  const tally = (["instance", "software", "unexplained"] as const).map((cause) => h("li", {}, h("b", {}, String(rows.filter((row) => row.step.cause === cause).length)), ` ${causeWord(cause)}`));
  const element = section(t("overview"), "", h("p", {}, t("history_summary", count("runs", data.runs), count("groups", data.groups.length), count("changes_found", rows.length))));
  add(element, rows.length ? h("ul", { class: "legend" }, ...tally) : null, list(data.notes));
  if (rows.length) add(element, h("h3", {}, t("changes")), table.element);
  return {
    ...still(t("overview"), element),
    update: (what) => {
      if (what.has("sort") || what.has("down")) table.sort();
      table.apply();
    },
  };
}

interface QuarterCell {
  value: number;
  runs: number;
}

/** Geometric mean of the points of each quarter. */
function quarters(series: HistorySeries): Map<number, QuarterCell> {
  const sums = new Map<number, { log: number; points: number; runs: number }>();
  for (const point of series.points) {
    if (!(point.value > 0)) continue;
    const { key } = quarter(point.seconds);
    const sum = sums.get(key) ?? { log: 0, points: 0, runs: 0 };
    sums.set(key, { log: sum.log + Math.log(point.value), points: sum.points + 1, runs: sum.runs + point.runs });
  }
  return new Map([...sums].map(([key, sum]) => [key, { value: Math.exp(sum.log / sum.points), runs: sum.runs }]));
}

function quarterTable(group: HistoryGroup, store: Store): Table<HistorySeries> | null {
  const names = new Map<number, string>();
  for (const series of group.series) for (const point of series.points) names.set(quarter(point.seconds).key, quarter(point.seconds).name);
  const keys = [...names.keys()].sort((a, b) => a - b);
  if (keys.length < 2) return null;
  const cells = new Map(group.series.map((series) => [series, quarters(series)]));
  const columns: Column<HistorySeries>[] = [
    { key: "case", title: t("series_title"), order: nameOf, cell: (series) => [nameOf(series), h("small", {}, `${series.benchmark} · ${series.metric}`)] },
    ...keys.map((key, index): Column<HistorySeries> => ({
      key: `quarter${key}`, title: names.get(key) ?? "", numeric: true, order: (series) => cells.get(series)?.get(key)?.value ?? null,
      cell: (series) => {
        const one = cells.get(series)?.get(key);
        if (!one) return [h("span", { class: "sub" }, "–")];
        const before = index > 0 ? cells.get(series)?.get(keys[index - 1] as number) : undefined;
        const times = before ? (series.higher_is_better ? one.value / before.value : before.value / one.value) : null;
        // Only where a change was found is the difference to the quarter before more than noise.
        const steps = series.steps.filter((step) => quarter(step.seconds).key === key);
        const mark = steps.length && times !== null ? (times >= 1 ? "better" : "worse") : "";
        const content: Child[] = [h("b", {}, quantity(one.value, series.unit))];
        if (times !== null) content.push(h("small", { class: mark ? `verdict ${mark}` : "" }, `${mark === "better" ? "▲ " : mark === "worse" ? "▼ " : ""}${change(times - 1)}`));
        return content;
      },
    })),
  ];
  return new Table(`${group.name}: ${t("by_quarter")}`, columns, group.series, (series) => itemOf(series, group.name), store);
}

function figure(group: HistoryGroup, series: HistorySeries): HTMLElement {
  const chart = timelineChart(series, group.from, group.to);
  chart.element.prepend(h("h4", {}, nameOf(series)), h("p", { class: "id" }, `${series.benchmark} · ${series.metric}, ${t(series.higher_is_better ? "more_is_better" : "less_is_better").toLowerCase()}`));
  const notes = h("ol", { class: "steps" }, ...series.steps.map((step) => h("li", {}, changeText(step), ` ${day(step.seconds)}, ${causeWord(step.cause)}`, step.text ? h("small", {}, step.text) : null)));
  if (series.steps.length) chart.element.append(notes);
  const rest = [...series.breaks.map((one) => `${day(one.seconds)}: ${one.text}`), series.trend?.text ?? "", series.spread?.text ?? ""].filter(Boolean);
  add(chart.element, list(rest));
  chart.element.classList.add("series");
  return chart.element;
}

function groupPart(group: HistoryGroup, store: Store): Part {
  const figures: { element: HTMLElement; item: Item }[] = [];
  const grid = h("div", { class: "series-grid" });
  // Those that changed first: they are what one opens the page for.
  const ordered = [...group.series].sort((a, b) => b.steps.length - a.steps.length);
  for (const series of ordered)
    later(() => {
      const item = itemOf(series, group.name);
      const element = figure(group, series);
      element.hidden = !matches(store.state, item);
      figures.push({ element, item });
      grid.append(element);
    });
  const table = quarterTable(group, store);
  const about = `${group.what ? `${group.what}. ` : ""}${count("runs", group.runs)}, ${count("machines", group.machines)}, ${day(group.from)} – ${day(group.to)}`;
  const element = section(group.name, about);
  if (table) add(element, h("h3", {}, t("by_quarter")), h("p", { class: "foot" }, t("quarter_caption")), table.element);
  add(element, h("h3", {}, t("over_time")), h("p", { class: "foot" }, t("timeline_caption")), grid);
  return {
    element, title: group.name, items: group.series.map((series) => itemOf(series, group.name)),
    update: (what) => {
      if (what.has("sort") || what.has("down")) table?.sort();
      table?.apply();
      for (const one of figures) one.element.hidden = !matches(store.state, one.item);
    },
  };
}

export function historyView(data: History, store: Store): View {
  const series = data.groups.flatMap((group) => group.series);
  const distinct = (values: string[]): string[] => [...new Set(values)].filter(Boolean).sort();
  const parts = [changes(data, store), ...data.groups.map((group) => groupPart(group, store))];
  const unused = reasons(t("not_used"), t("not_used_question"), gather(data.not_used));
  if (unused) parts.push(unused);
  return {
    kicker: t("history"),
    title: data.groups.length === 1 ? (data.groups[0]?.name ?? "") : count("groups", data.groups.length),
    sub: data.groups.length ? `${day(Math.min(...data.groups.map((group) => group.from)))} – ${day(Math.max(...data.groups.map((group) => group.to)))}` : "",
    parts,
    choices: {
      family: distinct(series.map((one) => one.family)).map((name) => ({ value: name, title: name })),
      library: distinct(series.map((one) => one.library)).map((name) => ({ value: name, title: name })),
      outcome: [
        { value: "better", title: t("became_better") }, { value: "worse", title: t("became_worse") }, { value: steady, title: t("steady") },
        ...["instance", "software", "unexplained"].map((cause) => ({ value: cause, title: causeWord(cause) })),
      ],
      sides: [],
      columns: [{ value: "interval", title: t("interval") }],
      sorts: [{ value: "case", title: t("series_title") }, { value: "date", title: t("date") }, { value: "change", title: t("change") }, { value: "cause", title: t("cause") }],
    },
    views: [],
    counted: (shown, total) => t("counted", grouped(shown), count("series", total)),
  };
}

/** Files that share a reason, together. */
function gather(problems: { where: string; reason: string }[]): { what: string; reason: string; where: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { where, reason } of problems) found.set(reason, [...(found.get(reason) ?? []), where]);
  return [...found].map(([reason, where]) => ({ what: count("files", where.length), reason, where }));
}
