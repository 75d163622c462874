// SPDX-License-Identifier: Apache-2.0
//
// A comparison and a history of every shape that the page draws, made by a rule and the same everywhere:
// sweeps, matrices, several sides, missing and null figures, labels that would be markup.

/** Numbers in 0..1: a linear congruential generator (Knuth's MMIX). */
function dice(seed) {
  let state = BigInt(seed);
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(state >> 11n) / 2 ** 53;
  };
}

export const hostile = `</script><script>pwned=1</script><img src=x onerror="pwned=1"> & "quoted" <b>`;

const families = [
  { name: "gemm", title: "Matrix multiplication", question: "How fast are dense matrices multiplied?", benchmark: "gemm.square", metric: "floating point rate", unit: "FLOP/s", higher: true, base: 4e11 },
  { name: "latency", title: "Latency", question: "How long do the smallest operations take?", benchmark: "memory.latency", metric: "latency", unit: "s", higher: false, base: 8e-8 },
];

function rowsOf(family, sides, roll) {
  const rows = [];
  const sweep = family.name === "gemm"
    ? ["openblas", "onednn"].flatMap((library) => ["fp64", "fp32", "bf16"].flatMap((precision) => [256, 512, 1024, 2048, 4096].map((size) => ({ library, parameters: { precision, size } }))))
    : [4096, 65536, 1048576, 16777216, 268435456].map((footprint) => ({ library: "host", parameters: { footprint } }));
  sweep.forEach(({ library, parameters }, number) => {
    const what = Object.entries(parameters).map(([name, value]) => `${name} ${value}`).join(", ");
    const value = family.base * (1 + number) ** 0.5;
    const cells = sides.map((label, side) => {
      const missing = number === 3 && side === 1;
      const times = 1 + (side === 0 ? 0 : (roll() - 0.4) * 0.2 * side);
      const mean = family.higher ? value * times : value / times;
      const outcome = missing ? "missing" : times > 1.02 ? "better" : times < 0.98 ? "worse" : number % 2 ? "same" : "cannot_tell";
      const text = { missing: "", cannot_tell: "~ cannot tell below 4%", same: "~ 1.00x" }[outcome] ?? `${times.toFixed(2)}x [${(times - 0.02).toFixed(2)}, ${(times + 0.02).toFixed(2)}]`;
      return {
        value: missing ? null : mean, low: missing ? null : mean * 0.98, high: missing ? null : mean * 1.02, count: 6,
        values: missing ? [] : Array.from({ length: 6 }, () => mean * (0.98 + 0.04 * roll())),
        library, share_of_ceiling: null, text: missing ? "" : family.higher ? `${(mean / 1e9).toFixed(0)} GFLOP/s` : `${(mean * 1e9).toFixed(1)} ns`, interval: missing ? "" : "±2.0%",
        contrast: side === 0 ? null : { outcome, ratio: missing ? null : times, low: missing ? null : times - 0.02, high: missing ? null : times + 0.02, p: missing ? null : 0.004, detectable: 0.04, paired: false, text },
        notes: number === 1 && side === 1 ? ["2 of 6"] : [],
      };
    });
    rows.push({ identity: `${family.benchmark}[${library}] ${what}`, family: family.name, benchmark: family.benchmark, what, library, parameters, metric: family.metric, unit: family.unit, higher_is_better: family.higher, cells });
  });
  return rows;
}

function tally(rows, side) {
  const sum = { better: 0, worse: 0, same: 0, cannot_tell: 0, missing: 0 };
  for (const row of rows) if (row.cells[side].contrast) ++sum[row.cells[side].contrast.outcome];
  return sum;
}
function mean(rows, side) {
  const ratios = side === 0 ? [] : rows.map((row) => row.cells[side].contrast.ratio).filter((ratio) => ratio !== null);
  const ratio = ratios.length ? Math.exp(ratios.reduce((sum, one) => sum + Math.log(one), 0) / ratios.length) : 1;
  return { ratio, low: ratio - 0.01, high: ratio + 0.01, count: ratios.length, text: `${ratio.toFixed(3)}x [${(ratio - 0.01).toFixed(3)}, ${(ratio + 0.01).toFixed(3)}]` };
}

export function comparison(labels) {
  const roll = dice(7);
  const tables = families.map(({ name, title, question, ...family }) => {
    const rows = rowsOf({ name, ...family }, labels, roll);
    return { name, title, question, rows, means: labels.map((_, side) => mean(rows, side)), tallies: labels.map((_, side) => tally(rows, side)) };
  });
  const questions = tables.map((table) => {
    const rows = table.rows.filter((row) => row.library !== "onednn").map((row) => ({ ...row, library: "" }));
    return { ...table, rows };
  });
  const all = tables.flatMap((table) => table.rows);
  return {
    schema: "assay.comparison/1", title: "", summary: [],
    question_means: labels.map((_, side) => mean(questions.flatMap((table) => table.rows), side)), question_tallies: labels.map((_, side) => tally(questions.flatMap((table) => table.rows), side)),
    sides: labels.map((label, side) => ({ label, what: `EPYC, c7a.large`, runs: 6, machines: 2, measured: all.length - (side === 1 ? 1 : 0), files: [`results/${side}/run.json`] })),
    tables, questions, means: labels.map((_, side) => mean(all, side)), tallies: labels.map((_, side) => tally(all, side)), series: all.length,
    method: { alpha: 0.01, correction: "false_discovery", minimum_effect: 0.01, unit: "run", paired: false, text: "" },
    notes: [],
    not_compared: [{ what: hostile, reason: "fp64 / fp32", where: ["results/a/run.json", hostile] }, { what: "x", reason: "y", where: ["1", "2", "3", "4"] }],
  };
}

const dayLength = 86400;

function quarters(points) {
  const found = new Map();
  for (const { seconds, value } of points) {
    const date = new Date(seconds * 1000);
    const name = `${date.getUTCFullYear()} Q${Math.floor(date.getUTCMonth() / 3) + 1}`;
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return [...found].map(([name, values]) => ({ name, value: values.reduce((sum, one) => sum + one, 0) / values.length, low: null, high: null, machines: 1, runs: values.length }));
}

export function history() {
  const roll = dice(11);
  const start = Date.UTC(2025, 0, 10) / 1000;
  const series = ["fp64", "fp32", "bf16", "int8"].map((what, number) => {
    const points = Array.from({ length: 36 }, (_, index) => {
      const level = number === 1 && index >= 20 ? 0.9 : number === 2 && index >= 12 ? 1.2 : 1;
      const value = 4e11 * (1 + number) * level * (0.995 + 0.01 * roll());
      return { seconds: start + index * 14 * dayLength, value, low: value * 0.99, high: value * 1.01, runs: 1, machine: index < 30 ? "m-1" : "m-2", files: [`run-${index}.json`] };
    });
    const step = (index, ratio, cause, facts) => ({ seconds: points[index].seconds, earliest: points[index - 1].seconds, latest: points[index].seconds, machine: "m-1", before: 4e11 * (1 + number), after: 4e11 * (1 + number) * ratio, ratio, low: ratio - 0.01, high: ratio + 0.01, p: 0.0001, cause, facts, text: "" });
    return {
      identity: `gemm.square[openblas] precision=${what}`, family: number < 3 ? "gemm" : "peak", benchmark: "gemm.square", what, library: number % 2 ? "onednn" : "openblas", metric: "FLOP/s", unit: "FLOP/s", higher_is_better: true,
      points,
      steps: number === 1 ? [step(20, 0.9, "software", [{ cause: "software", name: "kernel", before: "6.1.0", after: "6.8.0", without_effect: 1 }, { cause: "software", name: hostile, before: "", after: hostile, without_effect: 0 }])] : number === 2 ? [step(12, 1.2, "unexplained", [])] : [],
      breaks: number === 3 ? [{ seconds: points[30].seconds, machine: "m-2", text: "m-2" }] : [],
      quarters: quarters(points), change: null, trend: null, spread: null,
    };
  });
  const events = series.flatMap((one) => one.steps.map(({ seconds, cause, facts, ratio }) => ({ seconds, until: seconds, cause, facts, machines: ["m-1"], better: Number(ratio > 1), worse: Number(ratio < 1), measured: 4, text: "" })));
  return {
    schema: "assay.history/1",
    groups: [
      { name: "aws c7a.large", what: "EPYC, 2", runs: 36, machines: 2, from: start, to: start + 35 * 14 * dayLength, events, series },
      { name: hostile, what: "", runs: 1, machines: 1, from: start, to: start, events: [], series: [{ ...series[0], points: series[0].points.slice(0, 1), quarters: [], steps: [], breaks: [] }] },
    ],
    notes: [], not_used: [{ where: "broken.json", reason: hostile }], runs: 37,
  };
}

export const page = (content) => ({ schema: "assay.page/1", language: "en", version: "0.1.0", created: "2026-01-31T12:34:56Z", title: "", report: null, comparison: null, history: null, ...content });
