// SPDX-License-Identifier: Apache-2.0
//
// A chart that is drawn when it comes into view. Its text alternative is its label and, folded away below it,
// its figures as a table.

import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { init, use, type EChartsCoreOption, type EChartsType } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { add, h, hidden } from "./dom";
import { downloads, type Table } from "./download";
import { joinTables, paperOf, splitTables } from "./paper";
import { count, t } from "./text";
import { theme, useTheme, type Theme } from "./theme";

use([CustomChart, LineChart, ScatterChart, GridComponent, TooltipComponent, MarkAreaComponent, MarkLineComponent, SVGRenderer]);

export interface Figures {
  head: string[];
  rows: string[][];
}

export interface Spec {
  /** px, known before it is drawn: nothing below it moves. */
  height: (width: number, onPaper: boolean) => number;
  draw: (theme: Theme, width: number, height: number) => EChartsCoreOption;
  figures: () => Figures;
  legend?: HTMLElement | null; // above the chart
  key?: HTMLElement | null; // below it
}

const all = new Set<Chart>();

export class Chart {
  private readonly box: HTMLElement;
  private chart: EChartsType | null = null;
  private visible = false;
  private stale = true;
  private width = 0;

  constructor(readonly element: HTMLElement, private readonly spec: Spec, rows: () => Table, width: number) {
    this.box = element.querySelector(".chart") as HTMLElement;
    if (spec.legend) this.box.before(spec.legend);
    if (spec.key) this.box.after(spec.key);
    element.append(h("div", { class: "under" }, figuresOf(spec.figures), downloads(element, rows, () => this.draw())));
    this.box.style.height = `${spec.height(width, false)}px`;
    watcher.observe(this.box);
    owners.set(this.box, this);
    // The first is drawn also where it lies below the screen: it is what one scrolls to.
    if (all.size === 0) requestAnimationFrame(() => this.draw());
    all.add(this);
  }

  isInPage(): boolean {
    return this.element.isConnected && this.element.closest<HTMLElement>(".part")?.hidden !== true;
  }

  /** Its content has changed. */
  update(): void {
    this.stale = true;
    if (this.visible) soon(this);
  }

  show(visible: boolean): void {
    this.visible = visible;
    if (visible && this.stale) this.draw();
  }

  resize(): void {
    const width = this.element.clientWidth;
    if (!this.chart || width === 0 || width === this.width) return;
    this.update();
  }

  draw(width = this.box.clientWidth, onPaper = false): void {
    if (width === 0) return;
    const height = this.spec.height(width, onPaper);
    const option = this.spec.draw(theme(), width, height);
    this.box.style.height = `${height}px`;
    this.chart ??= init(this.box, null, { renderer: "svg", width, height });
    this.chart.resize({ width, height, silent: true });
    this.chart.setOption(withDefaults(option), { notMerge: true });
    this.width = width;
    this.stale = false;
    if (!drawn) {
      drawn = true;
      performance.mark("assay:first-chart");
    }
  }
}

let drawn = false;
const owners = new WeakMap<Element, Chart>();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) owners.get(entry.target)?.show(entry.isIntersecting);
  },
  { rootMargin: "200px" },
);

// Charts whose content changed are drawn after the browser has shown what the reader did.
const waiting = new Set<Chart>();
function soon(chart: Chart): void {
  if (waiting.size === 0)
    requestAnimationFrame(() =>
      setTimeout(() => {
        const charts = [...waiting];
        waiting.clear();
        for (const one of charts) one.draw();
      }),
    );
  waiting.add(chart);
}

export function redrawAll(): void {
  for (const chart of all) chart.update();
}

let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    for (const chart of all) chart.resize();
  }, 120);
});

/** On paper everything is drawn, in the colours of paper and as wide as it. */
export function printAll(choice: () => string, main: HTMLElement): void {
  addEventListener("beforeprint", () => {
    useTheme("light");
    for (const chart of all) if (chart.isInPage()) chart.draw(paperOf(chart.element), true);
    splitTables(main);
  });
  addEventListener("afterprint", () => {
    joinTables(main);
    useTheme(choice());
    redrawAll();
  });
}

function withDefaults(option: EChartsCoreOption): EChartsCoreOption {
  return { animation: false, ...option };
}

/** A tooltip of lines of text, the first in bold. */
export function tip(lines: (string | undefined)[]): HTMLElement {
  const [first, ...rest] = lines.filter((line): line is string => Boolean(line));
  return h("div", { class: "tip" }, h("b", {}, first ?? ""), ...rest.map((line) => h("div", {}, line)));
}

type Content = (series: string, index: number) => (string | undefined)[];
interface Item {
  seriesId?: string;
  dataIndex: number;
}

const look = (colours: Theme): object => ({
  confine: true,
  backgroundColor: colours.card,
  borderColor: colours.line,
  textStyle: { color: colours.ink, fontSize: 13, fontFamily: colours.font },
});

/** `content(series, index)` makes the lines of the tooltip of a data item. */
export function tooltip(colours: Theme, content: Content): object {
  return { ...look(colours), trigger: "item", formatter: (item: Item) => tip(content(item.seriesId ?? "", item.dataIndex)) };
}

const mostTips = 6; // points of one place

/** The same, of the points nearest to where the reader points along the x axis. */
export function nearestTooltip(colours: Theme, content: Content): object {
  const formatter = (items: Item[]): HTMLElement => h("div", {}, ...items.slice(0, mostTips).map((item) => tip(content(item.seriesId ?? "", item.dataIndex))));
  return { ...look(colours), trigger: "axis", axisPointer: { type: "line", snap: true, animation: false, lineStyle: { color: colours.soft, type: [2, 3] } }, formatter };
}

const mostListed = 400; // rows; the JSON output has all

function figuresOf(figures: () => Figures): HTMLElement {
  const details = h("details", { class: "figures" }, h("summary", {}, t("figures")));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const { head, rows } = figures();
    const table = h("table", {}, h("caption", {}, hidden(t("figures"))));
    add(table, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))));
    const body = h("tbody");
    for (const row of rows.slice(0, mostListed))
      body.append(h("tr", {}, ...row.map((text, index) => h("td", { "data-l": head[index] ?? "" }, text))));
    table.append(body);
    details.append(h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": t("figures") }, table));
    if (rows.length > mostListed) details.append(h("p", { class: "foot" }, count("more_rows", rows.length - mostListed)));
  });
  return details;
}
