// SPDX-License-Identifier: Apache-2.0
//
// A series over time: its points with intervals, the level between its changes, and the changes by number.

import { Chart, tooltip } from "./chart";
import type { HistoryEvent, HistorySeries, HistoryStep } from "./data";
import { axis, bounds, whiskers } from "./draw";
import { change, day, quantity, span } from "./format";
import { count, t } from "./text";

const mostMarked = 12; // changes; more numbers than that cannot be told apart

/** What happened at one time, on one machine or several. */
export interface Mark {
  seconds: number; // in the middle
  from: number;
  until: number;
  ratio: number; // geometric mean
  cause: HistoryStep["cause"];
  steps: HistoryStep[];
}

function markOf(steps: HistoryStep[]): Mark {
  const sorted = [...steps].sort((a, b) => a.seconds - b.seconds);
  const first = sorted[0] as HistoryStep;
  const last = sorted[sorted.length - 1] as HistoryStep;
  return {
    seconds: (sorted[Math.floor(sorted.length / 2)] as HistoryStep).seconds, from: first.seconds, until: last.seconds,
    ratio: Math.exp(sorted.reduce((sum, step) => sum + Math.log(step.ratio), 0) / sorted.length), cause: first.cause, steps: sorted,
  };
}

/** Steps of several machines with one cause are one mark: those of an event of the group, in one direction. */
export function marksOf(series: HistorySeries, events: HistoryEvent[]): Mark[] {
  const found = new Map<string, HistoryStep[]>();
  series.steps.forEach((step, index) => {
    const event = events.findIndex((one) => one.cause === step.cause && step.seconds >= one.seconds && step.seconds <= one.until && (!step.machine || one.machines.includes(step.machine)));
    const key = event < 0 ? `step ${index}` : `${event} ${step.ratio >= 1}`;
    found.set(key, [...(found.get(key) ?? []), step]);
  });
  return [...found.values()].map(markOf).sort((a, b) => a.seconds - b.seconds);
}

/** Ends of intervals count for the axis as far as they do not make the points a line. */
function range(series: HistorySeries): number[] {
  const values = series.points.map((point) => point.value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max(high - low, high * 0.02);
  const ends = series.points.flatMap((point) => [point.low ?? point.value, point.high ?? point.value]);
  return [...values, ...ends.filter((end) => end > low - room && end < high + room)];
}

/** The level before the first change of a machine, and after each; where more than a few changed they would cover the points. */
function levelsOf(series: HistorySeries): { level: number; start: number; end: number }[] {
  const machines = [...new Set(series.steps.map((step) => step.machine))];
  if (machines.length > 4) return [];
  return machines.flatMap((machine) => {
    const steps = series.steps.filter((step) => step.machine === machine).sort((a, b) => a.seconds - b.seconds);
    const own = series.points.filter((point) => point.machine === machine);
    const points = own.length ? own : series.points;
    const ends = [points[0]?.seconds ?? 0, ...steps.map((step) => step.seconds), points[points.length - 1]?.seconds ?? 0];
    return [steps[0]?.before ?? 0, ...steps.map((step) => step.after)].map((level, index) => ({ level, start: ends[index] ?? 0, end: ends[index + 1] ?? 0 }));
  });
}

export function timelineChart(series: HistorySeries, marks: Mark[], from: number, to: number): Chart {
  const value = (number: number): string => quantity(number, series.unit);
  const machines = new Set(series.points.map((point) => point.machine)).size;
  const levels = levelsOf(series);
  const marked = marks.slice(0, mostMarked);
  return new Chart({
    label: () => t("timeline_label", series.what, series.points.length, day(from), day(to), marks.length),
    draw: (colours) => {
      const ys = bounds(range(series));
      const room = Math.max((ys.max - ys.min) * 0.12, ys.max * 0.01);
      const colour = colours.sides[0] as string;
      const margin = Math.max((to - from) * 0.02, 43200); // half a day, where there is one day only
      return {
        height: 190,
        option: {
          grid: { left: 76, right: 14, top: 20, bottom: 26 },
          xAxis: {
            ...axis(colours, { format: (x) => new Date(x).toISOString().slice(0, 7), grid: false, min: (from - margin) * 1000, max: (to + margin) * 1000 }),
            type: "time", minInterval: 28 * 86400e3,
          },
          yAxis: axis(colours, { format: (y) => quantity(y, series.unit, true), log: ys.log ? 10 : undefined, min: ys.log ? ys.min / 1.2 : Math.max(0, ys.min - room), max: ys.log ? ys.max * 1.2 : ys.max + room }),
          tooltip: tooltip(colours, (id, index) => {
            const point = id === "points" ? series.points[index] : undefined;
            if (!point) return [];
            return [`${value(point.value)} ${span(point.low, point.high, value)}`, day(point.seconds), machines > 1 ? point.machine : "", point.runs > 1 ? count("runs", point.runs) : "", ...point.files.slice(0, 3)];
          }),
          series: [
            whiskers("intervals", colour, series.points.map((point) => ({ x: point.seconds * 1000, low: point.low, high: point.high }))),
            {
              id: "points", type: machines > 1 ? "scatter" : "line", color: colour, symbol: "circle", showSymbol: true, lineStyle: { width: 1.2, opacity: 0.5 },
              symbolSize: series.points.length > 80 ? 4 : 6, itemStyle: { opacity: 0.85 }, z: 3,
              data: series.points.map((point) => [point.seconds * 1000, point.value]),
              markLine: {
                silent: true, symbol: "none", animation: false,
                label: { fontSize: 12, fontWeight: 600, fontFamily: colours.font, position: "end", formatter: (mark: { name: string }) => mark.name },
                data: [
                  ...marked.map((mark, index) => {
                    const hue = mark.ratio >= 1 ? colours.good : colours.bad;
                    return { xAxis: mark.seconds * 1000, name: String(index + 1), lineStyle: { color: hue, type: "solid", width: 1.5 }, label: { color: hue } };
                  }),
                  ...series.breaks.map((one) => ({ xAxis: one.seconds * 1000, name: "", lineStyle: { color: colours.soft, type: [4, 4], width: 1 } })),
                ],
              },
            },
            ...levels.map((one, index) => ({
              id: `level ${index}`, type: "line", color: colours.ink, symbol: "none", silent: true, lineStyle: { width: machines > 1 ? 1.2 : 2, opacity: 0.75 }, z: 4,
              data: [[one.start * 1000, one.level], [one.end * 1000, one.level]],
            })),
          ],
        },
      };
    },
    figures: () => ({
      head: [t("date"), series.metric, t("interval"), t("report.machine"), t("change")],
      rows: series.points.map((point) => {
        const step = series.steps.find((one) => one.seconds === point.seconds);
        return [day(point.seconds), value(point.value), span(point.low, point.high, value), point.machine, step ? change(step.ratio - 1) : ""];
      }),
    }),
  });
}
