// SPDX-License-Identifier: Apache-2.0
//
// Work for the money by offer, with prices, weights and terms that the reader may change. The same sums as
// harness/stats/ranking.cpp and reports/procure/ranking.cpp; tests/browser holds them against each other.

import { tooltip, type Spec } from "./chart";
import type { RankedChoice, RankingChart } from "./data";
import { h } from "./dom";
import { axis, barGrid, barSeries, downwards, rowHeight } from "./draw";
import { percent, ratio } from "./format";
import { t } from "./text";

export interface Place {
  choice: RankedChoice;
  hour: number;
  value: number; // beside the best
  best: number | null; // probability; null: too few machines, or one type alone
}

/** Numbers that look random, the same each time: mulberry32, and by pairs the normal distribution (Box, Muller 1958). */
class Random {
  private state = 1;
  private spare: number | null = null;
  uniform(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let x = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  }
  normal(): number {
    if (this.spare !== null) {
      const kept = this.spare;
      this.spare = null;
      return kept;
    }
    const length = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.spare = length * Math.sin(angle);
    return length * Math.cos(angle);
  }
  /** Twice a gamma variable (Marsaglia, Tsang 2000). */
  chiSquared(degrees: number): number {
    const d = degrees / 2 - 1 / 3;
    for (;;) {
      const x = this.normal();
      const v = (1 + x / Math.sqrt(9 * d)) ** 3;
      if (v > 0 && Math.log(1 - this.uniform()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return 2 * d * v;
    }
  }
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const sureMachines = 3; // of each type, as stats::sure_machines: fewer show no spread
const mostDraws = 1e6; // over all types: a changed price is answered at once

export function place(data: RankingChart): Place[] {
  const sum = data.measures.reduce((all, one) => all + one.weight, 0) || 1;
  const scores = data.types.map((type) => type.machines.map((logs) => logs.reduce((all, log, m) => all + (log * (data.measures[m]?.weight ?? 0)) / sum, 0)));
  let squares = data.prior_degrees * data.prior_deviation ** 2;
  let degrees = data.prior_degrees;
  for (const machines of scores) {
    const middle = mean(machines);
    for (const score of machines) squares += (score - middle) ** 2;
    degrees += machines.length - 1;
  }
  const deviation = Math.sqrt(squares / degrees);
  const hours = data.choices.map((one) => {
    const longer = one.commitment > 0 ? (Math.ceil(data.term / one.commitment) * one.commitment) / data.term : 1;
    return (one.price / (one.by_use ? 1 : data.utilisation)) * longer + one.other;
  });
  const middles = data.choices.map((one, index) => mean(scores[one.type] as number[]) - Math.log(hours[index] as number));
  // Of a type only the cheapest may be the best.
  const drawn = new Map<number, number>();
  data.choices.forEach((one, index) => {
    const other = drawn.get(one.type);
    if (other === undefined || (hours[index] as number) < (hours[other] as number)) drawn.set(one.type, index);
  });
  const each = [...drawn.values()].map((index) => ({ index, middle: middles[index] as number, error: deviation / Math.sqrt((scores[data.choices[index]?.type ?? 0] as number[]).length) }));
  // A type in the data has a choice.
  const unknown = scores.length < 2 || scores.some((machines) => machines.length < sureMachines);
  const draws = unknown ? 0 : Math.min(10000, Math.ceil(mostDraws / Math.max(1, each.length)));
  const wins = data.choices.map(() => 0);
  const random = new Random();
  for (let i = 0; i < draws; ++i) {
    const scale = Math.sqrt(degrees / random.chiSquared(degrees));
    let best = -Infinity;
    let winner = 0;
    for (const one of each) {
      const value = one.middle + scale * one.error * random.normal();
      if (value > best) [best, winner] = [value, one.index];
    }
    wins[winner] = (wins[winner] as number) + 1;
  }
  const top = Math.max(...middles);
  return data.choices
    .map((choice, index) => ({ choice, hour: hours[index] as number, value: Math.exp((middles[index] as number) - top), best: unknown ? null : (wins[index] as number) / draws }))
    .sort((a, b) => b.value - a.value);
}

const chance = (share: number | null): string => (share === null ? "–" : share > 0.9995 ? "> 99.9%" : share < 0.0005 ? "< 0.1%" : percent(share));
const mostBars = 20;
const mostPrices = 40; // of the best offers can be changed: nobody types a thousand

export function ranking(given: RankingChart, changed: () => void): Spec {
  const data = structuredClone(given);
  let known: Place[] | null = null; // when somebody looks: it takes a tenth of a second
  const places = (): Place[] => (known ??= place(data));
  const says = h("p", { class: "leader", "aria-live": "polite" });
  const shows = (one: Place): string => (one.best === null ? ratio(one.value) : `${ratio(one.value)}, ${chance(one.best)}`);
  const tell = (): void => {
    const leader = places()[0];
    // One type alone leads nobody.
    if (!leader || data.types.length < 2) says.textContent = "";
    else says.textContent = leader.best === null ? t("leads_provisionally", leader.choice.label) : t("leads", leader.choice.label, chance(leader.best));
  };
  const again = (): void => {
    const start = performance.now();
    known = null;
    tell();
    changed();
    performance.measure("assay:ranked", { start });
  };
  const resets: (() => void)[] = [];
  const input = (label: string, value: number, unit: string, range: { least: number; most: number }, take: (value: number) => void): HTMLElement => {
    const box = h("input", { type: "number", min: range.least, max: range.most, step: "any", value: Number(value.toPrecision(6)) });
    const read = (): void => {
      const number = box.valueAsNumber;
      const good = Number.isFinite(number) && number >= range.least && number <= range.most;
      box.setAttribute("aria-invalid", String(!good));
      if (good) take(number);
    };
    box.addEventListener("input", () => {
      read();
      again();
    });
    resets.push(() => {
      box.value = String(Number(value.toPrecision(6)));
      read();
    });
    return h("label", {}, h("span", {}, label), box, h("span", { class: "unit" }, unit));
  };
  const group = (title: string, ...inputs: HTMLElement[]): HTMLElement => h("fieldset", {}, h("legend", {}, title), ...inputs);
  const back = h("button", { type: "button", class: "plain" }, t("as_given"));
  back.addEventListener("click", () => {
    for (const reset of resets) reset();
    again();
  });
  const most = 1e12;
  const controls = h(
    "details", { class: "try", open: true },
    h("summary", {}, t("change")),
    h("div", { class: "inputs" },
      group(data.choices.length > mostPrices ? t("best_prices", data.currency, mostPrices) : t("prices", data.currency),
        ...data.choices.slice(0, mostPrices).map((one) => input(one.label, one.price, "", { least: 1e-9, most }, (value) => (one.price = value)))),
      group(t("weights"), ...data.measures.map((one) => input(one.label, one.weight * 100, "%", { least: 0, most: 100 }, (value) => (one.weight = value / 100)))),
      group(t("terms"),
        input(t("term"), data.term, t("months"), { least: 1, most: 1200 }, (value) => (data.term = value)),
        input(t("utilisation"), data.utilisation * 100, "%", { least: 0.01, most: 100 }, (value) => (data.utilisation = value / 100)))),
    back,
  );
  return {
    legend: h("div", {}, controls, says),
    draw: (colours) => {
      const shown = places().slice(0, mostBars);
      tell();
      const bars = shown.map((one, row) => ({ row, lane: 0, value: one.value, low: null, high: null, colour: (row === 0 ? colours.good : colours.soft) as string, faded: row > 0 }));
      const height = shown.length * rowHeight(1);
      return {
        height: height + 30,
        option: {
          grid: barGrid,
          xAxis: axis(colours, { format: ratio, edge: true, min: 0, max: 1.02 }),
          yAxis: downwards(height),
          tooltip: tooltip(colours, (_, index) => {
            const one = shown[index];
            return one ? [one.choice.label, t("hour", data.currency, one.hour.toPrecision(4)), shows(one)] : [];
          }),
          series: barSeries(colours, shown.map((one) => ({ name: one.choice.label, value: shows(one) })), bars, 1, 0),
        },
      };
    },
    figures: () => ({
      head: [t("offer"), t("cost_hour", data.currency), t("ratio"), t("best_with")],
      rows: places().map((one) => [one.choice.label, one.hour.toPrecision(4), ratio(one.value), chance(one.best)]),
    }),
  };
}
