// SPDX-License-Identifier: Apache-2.0
//
// Value for money by offer, with prices, weights and terms that the reader may change: the sums of
// reports/purchase/ranking.cpp. Probabilities are those of the inputs as given; tests/browser compares both programs.

import { tooltip, type Spec } from "./chart";
import type { Maybe, RankedChoice, RankingChart } from "./data";
import { h } from "./dom";
import { axis, barGrid, barSeries, downwards, labelsAcross, rowHeight, type BarRow } from "./draw";
import { percent, ratio } from "./format";
import { t } from "./text";

interface Place {
  choice: RankedChoice;
  hour: number;
  value: number; // relative to the best
}

/** The best first. */
function place(data: RankingChart): Place[] {
  const sum = data.measures.reduce((all, one) => all + one.weight, 0) || 1;
  const placed = data.choices.map((choice) => {
    const longer = choice.commitment > 0 ? (Math.ceil(data.term / choice.commitment) * choice.commitment) / data.term : 1;
    const hour = (choice.price / (choice.by_use ? 1 : data.utilisation)) * longer + choice.other;
    const logs = data.types[choice.type]?.logs ?? [];
    const score = data.measures.reduce((all, one, m) => all + one.weight * (logs[m] ?? 0), 0) / sum;
    return { choice, hour, value: Math.exp(score) / hour };
  });
  const top = Math.max(...placed.map((one) => one.value));
  return placed.map((one) => ({ ...one, value: one.value / top })).sort((a, b) => b.value - a.value);
}

const chance = (share: Maybe): string => (share === null ? "–" : share > 0.9995 ? "> 99.9%" : share < 0.0005 ? "< 0.1%" : percent(share));
const mostBars = 20;
const mostPrices = 40; // best offers whose price can be changed; nobody types a thousand

export function ranking(given: RankingChart, changed: () => void): Spec {
  const data = structuredClone(given);
  let places = place(data);
  let changes = false;
  const best = (one: Place): Maybe => (changes ? null : one.choice.best);
  const shows = (one: Place): string => (best(one) === null ? ratio(one.value) : `${ratio(one.value)}, ${chance(best(one))}`);
  const says = h("p", { class: "leader", "aria-live": "polite" });
  const tell = (): void => {
    const leader = places[0];
    // A single type does not lead.
    if (!leader || data.types.length < 2) says.textContent = "";
    else if (leader.choice.best === null) says.textContent = t("leads_provisionally", leader.choice.label);
    else says.textContent = changes ? t("leads_changed", leader.choice.label) : t("leads", leader.choice.label, chance(best(leader)));
  };
  const again = (): void => {
    const start = performance.now();
    places = place(data);
    changes = JSON.stringify(data) !== JSON.stringify(given);
    tell();
    changed();
    performance.measure("assay:ranked", { start });
  };
  const resets: (() => void)[] = [];
  const input = <Key extends string>(label: string, of: Record<Key, number>, key: Key, least: number, most: number, unit = "", scale = 1): HTMLElement => {
    const first = of[key];
    const shown = String(Number((first * scale).toPrecision(6)));
    const box = h("input", { type: "number", min: least, max: most, step: "any", value: shown });
    const read = (): void => {
      const number = box.valueAsNumber;
      const good = Number.isFinite(number) && number >= least && number <= most;
      box.setAttribute("aria-invalid", String(!good));
      if (good) of[key] = box.value === shown ? first : number / scale;
    };
    box.addEventListener("input", () => {
      read();
      again();
    });
    resets.push(() => {
      box.value = shown;
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
  const controls = h(
    "details", { class: "try", open: true },
    h("summary", {}, t("change")),
    h("div", { class: "inputs" },
      group(data.choices.length > mostPrices ? t("best_prices", data.currency, mostPrices) : t("prices", data.currency),
        ...data.choices.slice(0, mostPrices).map((one) => input(one.label, one, "price", 1e-9, 1e12))),
      group(t("weights"), ...data.measures.map((one) => input(one.label, one, "weight", 0, 100, "%", 100))),
      group(t("terms"),
        input(t("term"), data, "term", 1, 1200, t("months")),
        input(t("utilisation"), data, "utilisation", 0.01, 100, "%", 100))),
    back,
  );
  const rowsOf = (): BarRow[] => places.slice(0, mostBars).map((one) => ({ name: one.choice.label, value: shows(one) }));
  const heightOf = (width: number): number => rowsOf().length * rowHeight(rowsOf(), 1, width);
  tell();
  return {
    legend: h("div", {}, controls, says),
    height: (width) => heightOf(width) + 30,
    draw: (colours, width) => {
      const shown = places.slice(0, mostBars);
      const bars = shown.map((one, row) => ({ row, lane: 0, value: one.value, low: null, high: null, colour: (row === 0 ? colours.good : colours.soft) as string, faded: row > 0 }));
      return {
        grid: barGrid,
        xAxis: axis(colours, { format: ratio, edge: true, min: 0, max: 1.02, labels: labelsAcross(width, 100) }),
        yAxis: downwards(heightOf(width)),
        tooltip: tooltip(colours, (_, index) => {
          const one = shown[index];
          return one ? [one.choice.label, t("hour", data.currency, one.hour.toPrecision(4)), shows(one)] : [];
        }),
        series: barSeries(colours, rowsOf(), bars, 1, 0, width),
      };
    },
    figures: () => ({
      head: [t("offer"), t("cost_hour", data.currency), t("ratio"), t("best_with")],
      rows: places.map((one) => [one.choice.label, one.hour.toPrecision(4), ratio(one.value), chance(best(one))]),
    }),
  };
}
