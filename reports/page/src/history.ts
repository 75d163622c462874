// SPDX-License-Identifier: Apache-2.0
//
// The page of `assay history`: what changed and why, then each instance type by quarter and by series.

import type { ChangedFact, History, HistoryEvent, HistoryGroup, HistorySeries } from "./data";
import { add, h, hidden, type Child } from "./dom";
import { change, day, quantity, quarter } from "./format";
import { later } from "./later";
import { matches, type Item, type Store } from "./state";
import { Table, type Column } from "./table";
import { count, grouped, t, type Key } from "./text";
import { marksOf, timelineChart, type Mark } from "./timeline";
import { causeLine, list, reasons, section, still, type Part, type View } from "./view";

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

function changeText(ratio: number): HTMLElement {
  const better = ratio >= 1;
  return h("span", { class: `verdict ${better ? "better" : "worse"}` }, h("span", { "aria-hidden": "true" }, better ? "▲ " : "▼ "), hidden(`${t(better ? "became_better" : "became_worse")}: `), change(ratio - 1));
}

const period = (mark: Mark): string => (day(mark.from) === day(mark.until) ? day(mark.from) : `${day(mark.from)} – ${day(mark.until)}`);

/** Its sentence where it is one step; of several their facts, which they share. */
function aboutMark(mark: Mark): HTMLElement | null {
  const [first] = mark.steps;
  if (mark.steps.length === 1 && first?.text) return h("small", {}, first.text);
  return factsOf(first?.facts ?? []);
}

const factsOf = (facts: ChangedFact[]): HTMLElement | null =>
  facts.length ? h("ul", { class: "changed" }, ...facts.map((fact) => h("li", {}, h("b", {}, fact.name), ` ${fact.before || "–"} → ${fact.after || "–"}`, fact.without_effect ? ` (${count("without_effect", fact.without_effect)})` : ""))) : null;

interface Found {
  group: HistoryGroup;
  event: HistoryEvent;
}

function direction(event: HistoryEvent): HTMLElement {
  const parts = [
    event.better ? h("span", { class: "verdict better" }, `▲ ${count("series", event.better)} ${t("became_better")}`) : null,
    event.worse ? h("span", { class: "verdict worse" }, `▼ ${count("series", event.worse)} ${t("became_worse")}`) : null,
  ];
  return h("div", {}, ...parts.map((part) => (part ? h("div", {}, part) : null)), h("small", {}, t("of_measured", event.measured)));
}

/** What happened, once for all series that it shows in. */
function overview(data: History, store: Store): Part {
  const rows: Found[] = data.groups.flatMap((group) => group.events.map((event) => ({ group, event }))).sort((a, b) => b.event.seconds - a.event.seconds);
  const item = ({ group, event }: Found): Item => ({
    text: `${group.name} ${event.text} ${event.machines.join(" ")} ${event.facts.map((fact) => `${fact.name} ${fact.before} ${fact.after}`).join(" ")}`.toLowerCase(),
    family: "", libraries: [], outcomes: [event.cause, ...(event.better ? ["better"] : []), ...(event.worse ? ["worse"] : [])],
  });
  const columns: Column<Found>[] = [
    {
      key: "date", title: t("date"), order: (row) => row.event.seconds,
      cell: ({ event }) => [h("span", { class: "w" }, day(event.seconds)), day(event.until) === day(event.seconds) ? null : h("small", { class: "w" }, `– ${day(event.until)}`)],
    },
    { key: "group", title: t("instance"), order: (row) => row.group.name, cell: ({ group, event }) => [group.name, h("small", {}, event.machines.length > 3 ? count("machines", event.machines.length) : event.machines.join(", "))] },
    { key: "change", title: t("change"), order: (row) => row.event.better - row.event.worse, cell: ({ event }) => [direction(event)] },
    { key: "cause", title: t("cause"), order: (row) => row.event.cause, cell: ({ event }) => [h("span", { class: `cause ${event.cause}` }, causeWord(event.cause)), factsOf(event.facts), event.text ? h("small", {}, event.text) : null] },
  ];
  const table = new Table(t("changes"), columns, rows, item, store, true);
  const element = section(t("overview"), "", causeLine(data.cause), h("p", {}, t("history_summary", count("runs", data.runs), count("groups", data.groups.length), count("changes_found", rows.length))));
  add(element, list(data.notes));
  if (rows.length) add(element, h("h3", {}, t("changes")), table.element);
  return {
    ...still(t("overview"), element),
    update: (what) => {
      if (what.has("sort") || what.has("down")) table.sort();
      table.apply();
    },
  };
}

const least = 0.005; // smaller differences between quarters are not marked, whatever was found

/** The change of a quarter against the one before, in times as good; and whether a change point explains it. */
function against(series: HistorySeries, name: string, before: string | undefined): { times: number; mark: string } | null {
  const now = series.quarters.find((one) => one.name === name)?.value ?? null;
  const then = series.quarters.find((one) => one.name === before)?.value ?? null;
  if (now === null || then === null || !(now > 0) || !(then > 0)) return null;
  const times = series.higher_is_better ? now / then : then / now;
  // A change in the middle of a quarter moves its mean and that of the next.
  const near = series.steps.some((step) => [name, before].includes(quarter(step.seconds)) && step.ratio > 1 === times > 1);
  return { times, mark: near && Math.abs(times - 1) >= least ? (times > 1 ? "better" : "worse") : "" };
}

function quarterTable(group: HistoryGroup, store: Store): Table<HistorySeries> | null {
  const names = [...new Set(group.series.flatMap((series) => series.quarters.map((one) => one.name)))].sort().reverse(); // the last one first
  if (names.length < 2) return null;
  const columns: Column<HistorySeries>[] = [
    { key: "case", title: t("series_title"), order: nameOf, cell: (series) => [nameOf(series), h("small", {}, `${series.benchmark} · ${series.metric}`)] },
    { key: "change", title: t("change"), numeric: true, order: (series) => series.change?.ratio ?? null, cell: (series) => [series.change ? h("span", { class: "recent" }, series.change.text) : null] },
    ...names.map((name, index): Column<HistorySeries> => ({
      key: `quarter${name}`.replace(" ", ""), title: name, numeric: true, order: (series) => series.quarters.find((one) => one.name === name)?.value ?? null,
      cell: (series) => {
        const one = series.quarters.find((each) => each.name === name);
        if (!one || one.value === null) return [h("span", { class: "sub" }, "–")];
        const compared = against(series, name, names[index + 1]);
        const content: Child[] = [h("b", {}, quantity(one.value, series.unit))];
        if (compared) content.push(h("small", { class: compared.mark ? `verdict ${compared.mark}` : "" }, `${compared.mark === "better" ? "▲ " : compared.mark === "worse" ? "▼ " : ""}${change(compared.times - 1)}`));
        return content;
      },
    })),
  ];
  return new Table(`${group.name}: ${t("by_quarter")}`, columns, group.series, (series) => itemOf(series, group.name), store, true);
}

const mostListed = 12; // changes below a chart

function figure(group: HistoryGroup, series: HistorySeries): HTMLElement {
  const marks = marksOf(series, group.events);
  const chart = timelineChart(series, marks, group.from, group.to);
  chart.element.prepend(h("h4", {}, nameOf(series)), h("p", { class: "id" }, `${series.benchmark} · ${series.metric}, ${t(series.higher_is_better ? "more_is_better" : "less_is_better").toLowerCase()}`));
  const notes = h("ol", { class: "steps" }, ...marks.slice(0, mostListed).map((mark) => h("li", {}, changeText(mark.ratio), ` ${[period(mark), causeWord(mark.cause), mark.steps.length > 1 ? count("machines", mark.steps.length) : ""].filter(Boolean).join(", ")}`, aboutMark(mark))));
  if (marks.length) chart.element.append(notes);
  if (marks.length > mostListed) chart.element.append(h("p", { class: "foot" }, count("more_rows", marks.length - mostListed)));
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
  const parts = [overview(data, store), ...data.groups.map((group) => groupPart(group, store))];
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
      columns: [],
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
