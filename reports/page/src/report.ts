// SPDX-License-Identifier: Apache-2.0
//
// The page of `assay report`: one run, or several below each other.

import { Chart, tooltip } from "./chart";
import type { Case, Curve, HeatMap, Report, Section } from "./data";
import { add, h, hidden } from "./dom";
import { axis, barGrid, barSeries, bounds, downwards, rowHeight, type Bar } from "./draw";
import { capital, quantity } from "./format";
import { heatChart } from "./heat";
import { rooflineChart } from "./roofline";
import type { Item, Store } from "./state";
import { strip } from "./strips";
import { sweepChart } from "./sweep";
import { Table, type Column } from "./table";
import { count, grouped, statusWord, t, type Key } from "./text";
import { causeLine, facts, list, matching, reasons, section, still, type Part, type View } from "./view";

const mostBars = 24; // of a chart; more would not fit on a sheet of paper

const kindOf = (status: string): string => 
  status === "ok" ? "ok" : status === "unstable" || status === "disturbed" ? "weak" : "wrong";

const itemOf = (row: Case, section: Section): Item => ({
  text: `${row.identity} ${row.case} ${section.title} ${row.metric}`.toLowerCase(),
  family: section.family, libraries: [row.library], outcomes: [row.status],
});

/** Keys are English in every language; people are shown their names. */
const named = (report: Report, list: "run" | "machine" | "libraries" | "summary"): [string, string][] =>
  Object.entries(report[list]).map(([key, text]) => [report.names[list][key] ?? key, text]);

class Colours {
  private readonly known = new Map<string, number>();
  of(library: string): number {
    if (!this.known.has(library)) this.known.set(library, this.known.size);
    return this.known.get(library) as number;
  }
}

function bars(rows: () => Case[], colours: Colours, first: Case): Chart {
  return new Chart({
    label: () => t("bars_label", first.metric || first.benchmark, rows().length),
    draw: (theme) => {
      const shown = rows().slice(0, mostBars);
      const values = shown.flatMap((row) => [row.value, row.high, row.ceiling]).filter((value): value is number => value !== null);
      const { max, min } = bounds(values);
      const log = max / min > 200; // smaller ones would be slivers
      const from = log ? min / 2 : 0;
      const items = shown.map((row, index): Bar => ({
        row: index, lane: 0, value: row.value as number, low: row.low, high: row.high,
        colour: theme.sides[colours.of(row.library) % 6] as string, faded: row.status !== "ok", mark: row.ceiling,
      }));
      const names = shown.map((row) => ({ name: `${row.case} · ${row.library}`, value: row.status === "ok" ? row.text : `${row.text} ${statusWord(row.status)}` }));
      const height = shown.length * rowHeight(1);
      return {
        height: height + 30,
        option: {
          grid: barGrid,
          xAxis: axis(theme, { format: (value) => quantity(value, first.unit, true), log: log ? 10 : undefined, min: from, max: max * 1.01, edge: true }),
          yAxis: downwards(height),
          tooltip: tooltip(theme, (_, index) => {
            const row = shown[index];
            return row ? [row.case, row.library, `${row.text} ${row.interval}`, row.of_ceiling ? t("share_of_ceiling", row.of_ceiling) : "", row.covers] : [];
          }),
          series: barSeries(theme, names, items, 1, from),
        },
      };
    },
    caption: [
      [t("bars_caption", capital(first.metric), t(first.higher_is_better ? "more_is_better" : "less_is_better")), rows().some((row) => row.ceiling !== null) ? t("bars_ceiling") : ""].join(" ").trim(),
    ],
  });
}

function curveCharts(curves: Curve[], colours: Colours): Chart[] {
  const charts = new Map<number, Curve[]>();
  for (const curve of curves) charts.set(curve.chart, [...(charts.get(curve.chart) ?? []), curve]);
  return [...charts.values()].map((group) => {
    const first = group[0] as Curve;
    const chart = sweepChart(
      {
        title: `${first.benchmark}: ${first.y}`, caption: first.common ? `${first.common}.` : "", x: first.x, xUnit: first.x_unit, y: first.y, unit: first.unit,
        higherIsBetter: first.higher_is_better, marks: first.marks,
        lines: group.map((curve, index) => ({
          label: curve.curve || curve.benchmark, colour: group.length > 1 ? index : colours.of(""), dash: Math.floor(index / 6), side: "",
          points: curve.points.map(([x, y], place) => ({ x, y, low: curve.intervals[place]?.[0] ?? null, high: curve.intervals[place]?.[1] ?? null })),
        })),
      },
      () => true,
    );
    const levels = group.flatMap((curve) => curve.levels);
    if (levels.length) chart.element.append(h("p", { class: "foot" }, t("levels", levels.join("; "))));
    return chart;
  });
}

const mapChart = (map: HeatMap): Chart =>
  heatChart({
    title: `${map.benchmark}: ${map.metric}`, caption: [`${map.case}.`, ...(map.merged > 1 ? [t("merged", map.merged)] : []), ...map.slow].join(" "), rowTitle: map.row_title, columnTitle: map.column_title,
    rows: map.rows, columns: map.columns, values: map.values, format: (value) => quantity(value, map.unit), ratio: false,
  });

function columns(report: Report, colours: Colours, strips: boolean): Column<Case>[] {
  const out: Column<Case>[] = [
    {
      key: "case", title: t("case_title"), order: (row) => row.case,
      cell: (row) => [row.case, h("small", {}, row.benchmark), row.settings ? h("small", { class: "col-settings" }, row.settings) : null, figuresOf(report, row), ...row.notes.map((note) => h("small", { class: "note" }, note))],
    },
    { key: "library", title: t("library"), order: (row) => row.library, cell: (row) => [h("span", { class: `dot c${colours.of(row.library) % 6}`, "aria-hidden": "true" }), row.library] },
    { key: "value", title: t("value"), numeric: true, order: (row) => row.value, cell: (row) => [h("b", {}, row.text)] },
    { key: "interval", title: t("interval"), numeric: true, order: (row) => (row.low !== null && row.high !== null && row.value ? (row.high - row.low) / row.value : null), cell: (row) => [row.interval, row.interval ? h("small", {}, row.covers) : null] },
    { key: "ceiling", title: t("of_ceiling"), numeric: true, order: (row) => (row.ceiling && row.value ? row.value / row.ceiling : null), cell: (row) => [row.of_ceiling, row.ceiling_note === null ? null : h("sup", {}, ` ${row.ceiling_note}`)] },
  ];
  if (strips) out.push({ key: "strips", title: t("report.batches_over_time"), cell: (row) => [strip(row.strips.map((values) => ({ values, colour: colours.of(row.library) })), true)] });
  out.push({ key: "status", title: t("status"), order: (row) => row.status, cell: (row) => [h("span", { class: kindOf(row.status) }, statusWord(row.status))] });
  return out;
}

const figuresOf = (report: Report, row: Case): HTMLElement | null => {
  const pairs = Object.entries(row.figures);
  return pairs.length ? h("small", { class: "col-settings" }, pairs.map(([key, text]) => `${report.names.figures[key] ?? key} ${text}`).join(", ")) : null;
};

function sectionPart(report: Report, data: Section, store: Store, colours: Colours, prefix: string): Part {
  const rows = data.cases.map((row) => ({ row, item: itemOf(row, data) }));
  const groups = new Map<string, Case[]>();
  for (const row of data.cases) {
    if (row.on_curve || row.value === null) continue;
    const key = JSON.stringify([row.unit, row.metric]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const charts = [...groups.values()].map((group) => {
    const chosen = new Set(group);
    const chart = bars(() => matching(store, rows).filter((row) => chosen.has(row)), colours, group[0] as Case);
    return { chart, chosen };
  });
  for (const row of data.cases) colours.of(row.library);
  const table = new Table(`${data.title}: ${t("figures")}`, columns(report, colours, data.cases.some((row) => row.strips.length > 0)), data.cases, (row) => itemOf(row, data), store);
  const element = section(prefix + data.title, data.question);
  add(element, ...charts.map(({ chart }) => chart.element));
  add(element, ...curveCharts(data.curves, colours).map((chart) => chart.element), ...data.maps.map((map) => mapChart(map).element), table.element);
  if (data.ceilings.length) element.append(h("ol", { class: "foot" }, ...data.ceilings.map((text) => h("li", {}, text))));
  return {
    element, title: prefix + data.title, items: rows.map(({ item }) => item),
    update: (what) => {
      if (what.has("sort") || what.has("down")) table.sort();
      table.apply();
      const shown = new Set(matching(store, rows));
      for (const { chart, chosen } of charts) {
        chart.element.hidden = ![...chosen].some((row) => shown.has(row));
        chart.update();
      }
    },
  };
}

function overview(report: Report, prefix: string): Part {
  const findings = h("ul", { class: "findings" });
  const severity: Record<string, Key> = { note: "note", caution: "caution", serious: "serious" };
  for (const finding of report.findings)
    findings.append(
      h("li", { class: finding.severity }, h("p", {}, hidden(`${t(severity[finding.severity] ?? "note")}: `), finding.what), finding.action ? h("p", { class: "do" }, finding.action) : null),
    );
  const title = prefix + t("overview");
  const element = section(title, "", causeLine(report.cause), facts(named(report, "summary"), "facts summary"));
  if (report.findings.length) add(element, h("h3", {}, t("report.findings")), findings);
  const libraries = Object.keys(report.libraries).length > 0;
  add(
    element,
    h("div", { class: libraries ? "two" : "" }, h("div", {}, h("h3", {}, t("report.the_machine")), facts(named(report, "machine"))), libraries ? h("div", {}, h("h3", {}, t("report.libraries")), facts(named(report, "libraries"))) : null),
  );
  return still(title, element);
}

function ends(report: Report, prefix: string): Part[] {
  const out: Part[] = [];
  for (const roofline of report.rooflines) {
    // One place alone needs no name; a device beside the host does.
    const title = prefix + t("roofline") + (report.rooflines.length > 1 || roofline.place !== "host" ? ` (${roofline.place})` : "");
    out.push(still(title, section(title, t("roofline_question"), rooflineChart(roofline).element)));
  }
  const missing = reasons(prefix + t("report.not_measured"), "", report.not_measured.map((group) => ({ what: statusWord(group.status), reason: group.reason, where: group.cases })));
  if (missing) out.push(missing);
  if (report.checks.length) {
    const body = h("tbody");
    for (const check of report.checks)
      body.append(h("tr", {}, h("th", { scope: "row" }, check.benchmark), h("td", { "data-l": t("method") }, check.method), h("td", { class: "n", "data-l": t("passed") }, h("span", { class: check.passed === check.total ? "ok" : "wrong" }, `${check.passed} / ${check.total}`))));
    const title = prefix + t("report.checks");
    const head = h("tr", {}, h("th", { scope: "col" }, t("benchmark")), h("th", { scope: "col" }, t("method")), h("th", { scope: "col", class: "n" }, t("passed")));
    out.push(still(title, section(title, "", h("table", {}, h("caption", { class: "unseen" }, title), h("thead", {}, head), body))));
  }
  const title = prefix + t("report.the_run");
  out.push(still(title, section(title, "", facts(named(report, "run")), list([...report.caps, t("report.how_to_read")]))));
  return out;
}

export function reportView(reports: Report[], store: Store): View {
  const parts = reports.flatMap((report, index) => {
    const colours = new Colours();
    const prefix = reports.length > 1 ? `${report.label || index + 1} · ` : "";
    return [overview(report, prefix), ...report.sections.map((one) => sectionPart(report, one, store, colours, prefix)), ...ends(report, prefix)];
  });
  const sections = reports.flatMap((report) => report.sections);
  const cases = sections.flatMap((one) => one.cases);
  const distinct = (values: string[]): string[] => [...new Set(values)].sort();
  const first = reports[0];
  return {
    kicker: first?.label && reports.length === 1 ? first.label : t("report.benchmark_report"),
    title: reports.length === 1 ? (first?.title ?? "") : count("reports", reports.length),
    sub: reports.map((report) => (reports.length > 1 ? `${report.label || report.title}` : report.source)).join(" · "),
    parts,
    choices: {
      family: [...new Map(sections.map((one) => [one.family, { value: one.family, title: one.title }])).values()],
      library: distinct(cases.map((row) => row.library)).map((name) => ({ value: name, title: name })),
      outcome: distinct(cases.map((row) => row.status)).map((name) => ({ value: name, title: statusWord(name) })),
      sides: [],
      columns: [{ value: "interval", title: t("interval") }, { value: "ceiling", title: t("of_ceiling") }, { value: "strips", title: t("report.batches_over_time") }, { value: "settings", title: t("settings") }],
      sorts: [{ value: "case", title: t("case_title") }, { value: "library", title: t("library") }, { value: "value", title: t("value") }, { value: "interval", title: t("interval") }, { value: "ceiling", title: t("of_ceiling") }],
    },
    views: [],
    counted: (shown, total) => t("counted", grouped(shown), count("cases", total)),
  };
}
