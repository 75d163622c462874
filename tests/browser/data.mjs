// SPDX-License-Identifier: Apache-2.0
//
// Result files for pages, made from a recorded run by a rule, the same everywhere: other levels, days, machines and
// kernels, and texts that would be markup.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Numbers in 0..1: a linear congruential generator (Knuth's MMIX). */
function dice(seed) {
  let state = BigInt(seed);
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(state >> 11n) / 2 ** 53;
  };
}

export const hostile = `</script><script>pwned=1</script><img src=x onerror="pwned=1"> & "quoted" <b>`;

const scaled = (value, factor) => (typeof value === "number" ? value * factor : value);

/** Every value `times` as good, those of replicas with 0.4% of noise. */
function scale(one, times, roll) {
  one.status = "ok";
  one.reason = "";
  one.warnings = [];
  const first = structuredClone(one.replicas[0]);
  const { value } = one.metrics.find(({ name }) => name === "time") ?? {};
  const whole = value && first.seconds ? value / first.seconds : 1; // replicas lie around the value of the case
  for (const replica of one.replicas) {
    const factor = (whole * (0.998 + 0.004 * roll())) / times;
    for (const key of ["seconds", "low", "high", "p99"]) replica[key] = scaled(first[key], factor);
    replica.values = (first.values ?? []).slice(0, 60).map((value) => value * factor);
  }
  for (const metric of one.metrics) {
    const factor = metric.unit === "s" ? 1 / times : times;
    for (const key of ["value", "low", "high", "median", "min", "p95", "p99"]) metric[key] = scaled(metric[key], factor);
    if (metric.value) Object.assign(metric, { low: metric.value * 0.997, high: metric.value * 1.003 });
  }
}

/** `times(case, number)` as good as recorded; `change(run, number)` alters the rest. Returns the folder. */
export function writeRuns(sample, folder, count, times, change = () => undefined) {
  const text = readFileSync(sample, "utf8");
  const roll = dice(7 + count);
  const own = 1 + 1e-9 * dice([...folder].reduce((sum, letter) => 31n * sum + BigInt(letter.codePointAt(0)), 1n))(); // no two measure the same
  for (let number = 0; number < count; ++number) {
    const run = JSON.parse(text);
    const started = new Date(Date.UTC(2025, 0, 10) + number * 14 * 86400e3).toISOString().slice(0, 19) + "Z";
    Object.assign(run.run, { id: `run-${path.basename(folder)}-${number}`, started, ended: started });
    for (const one of run.cases) {
      for (const replica of one.replicas) replica.started = started;
      scale(one, times(one, number) * (0.997 + 0.006 * roll()) * own, roll);
    }
    change(run, number);
    const place = path.join(folder, String(number));
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "run.json"), JSON.stringify(run));
  }
  return folder;
}

/** Runs of an all-reduce on 1 to 8 nodes with two ranks each: a ring of 2 us and 5 GB/s a step. */
export function writeNodes(sample, folder, change = () => undefined) {
  const text = readFileSync(sample, "utf8");
  for (const nodes of [1, 2, 4, 8]) {
    const run = JSON.parse(text);
    Object.assign(run.run, { id: `nodes-${nodes}`, started: `2026-0${nodes}-01T12:00:00Z`, ended: `2026-0${nodes}-01T13:00:00Z` });
    const pattern = run.cases.find((one) => one.benchmark === "collective.allreduce");
    const ranks = 2 * nodes;
    const factor = (2 * (ranks - 1)) / ranks;
    run.cases = [8, 1024, 65536, 1 << 20, 1 << 24].map((bytes) => {
      const one = structuredClone(pattern);
      const seconds = 2 * (ranks - 1) * 2e-6 + (factor * bytes) / 5e9;
      scale(one, one.metrics.find(({ name }) => name === "time").value / seconds, () => 0.5);
      Object.assign(one.parameters, { bytes });
      Object.assign(one.settings, { ranks, machines: nodes });
      for (const metric of one.metrics.filter(({ unit }) => unit === "B/s")) {
        const value = (bytes * (metric.name === "bus_bandwidth" ? factor : 1)) / seconds;
        Object.assign(metric, { value, low: value * 0.99, high: value * 1.01 });
      }
      return { ...one, work: { algorithm_bytes: bytes, bus_bytes: bytes * factor } };
    });
    change(run);
    const place = path.join(folder, String(nodes));
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "run.json"), JSON.stringify(run));
  }
  return folder;
}

const three = { small: [0.55, 0.06], mid: [1, 0.1], big: [1.3, 0.16] };
const shares = { on_demand: 1, reserved_1y: 0.6, reserved_3y: 0.45, savings_plan_1y: 0.7, savings_plan_3y: 0.5, spot: 0.3 };

/**
 * Instance types of three machines each, as fast as the first number and at the second an hour, each at `tariffs`
 * tariffs. Of the three given "big" is the fastest, "mid" the best for its price.
 */
export function writeMarket(sample, folder, types = three, tariffs = 2, machines = 3) {
  const offers = [];
  const date = new Date().toISOString().slice(0, 10);
  for (const [instance, [speed, price]] of Object.entries(types)) {
    writeRuns(sample, path.join(folder, "runs", instance), machines, (_, number) => speed * (1 + 0.02 * number), (run, number) => {
      Object.assign(run.machine, { id: `m-${instance}-${number}`, provider: "generated", instance });
      run.run.id = `run-${instance}-${number}`;
    });
    for (const [tariff, share] of Object.entries(shares).slice(0, tariffs))
      offers.push({ provider: "generated", instance, tariff, price: (price * share).toFixed(4), currency: "USD", date, source: hostile, vcpus: 2 });
  }
  writeFileSync(path.join(folder, "offers.json"), JSON.stringify({ schema: "assay.offers/1", name: "generated", rates: [], offers }));
  return [path.join(folder, "runs"), "--kind", "procurement", "--offers", path.join(folder, "offers.json")];
}

/** So many types, each a little faster than the one before and dearer by more or less than that. */
export const manyTypes = (count) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`type-${index}`, [1 + 0.01 * index, 0.1 * (1 + 0.01 * index + 0.05 * Math.sin(index))]]));

/** One run of each node, n0 and on: of every fiftieth memory is slow. */
export function writeFleet(sample, folder, nodes) {
  writeRuns(
    sample, folder, nodes,
    (one, number) => (number % 50 === 7 && one.benchmark.startsWith("memory.") ? 0.8 : 1),
    (run, number) => {
      const started = "2025-06-01T12:00:00Z";
      Object.assign(run.run, { started, ended: started, tags: { node: number === 3 ? hostile : `n${number}` } });
      run.machine.id = `m-${number}`;
      run.cases = run.cases.slice(0, 20);
    },
  );
  return [folder, "--expect", `n[0-${nodes + 1}]`];
}

// Peaks of data sheets: FLOP/s or OP/s by precision, bytes/s of memory, of all links of a device and of its PCIe.
const devices = {
  H200: { kind: "cuda", name: "NVIDIA H200", capability: "9.0", processors: 132, bytes: 151e9, memory: 4.8e12, links: 4.5e11, pcie: 6.3e10, fp64: 66.9e12, fp32: 66.9e12, bf16: 989e12, fp8_e4m3: 1979e12, int8: 1979e12, vector: { fp64: 33.5e12, fp32: 66.9e12 } },
  MI300X: { kind: "hip", name: "AMD Instinct MI300X", capability: "gfx942", processors: 304, bytes: 206e9, memory: 5.3e12, links: 4.48e11, pcie: 6.3e10, fp64: 163.4e12, fp32: 163.4e12, bf16: 1307e12, fp8_e4m3fnuz: 2615e12, int8: 2615e12, vector: { fp64: 81.7e12, fp32: 163.4e12 } },
};
const hosts = {
  Graviton4: { name: "Neoverse V2", architecture: "aarch64", cores: 96, memory: 5.376e11, fp64: 4.3e12, fp32: 8.6e12, bf16: 34.4e12, int8: 68.8e12 },
  EPYC: { name: "AMD EPYC 9575F", architecture: "x86_64", cores: 64, memory: 5.76e11, fp64: 6.8e12, fp32: 13.5e12, bf16: 27e12, int8: 54e12 },
};
const backends = { cuda: { own: "cuda", gemm: "cublaslt", fft: "cufft", all: "nccl" }, hip: { own: "hip", gemm: "hipblaslt", fft: "hipfft", all: "rccl" } };

/** Runs of two accelerators and two processors of different makers, at 0.6 to 0.9 of their data sheets: nothing was measured. */
export function writeMakers(sample, folder) {
  const recorded = readFileSync(sample, "utf8");
  const machines = { ...devices, ...hosts };
  return Object.entries(machines).map(([label, chip], index) => {
    const run = JSON.parse(recorded);
    const roll = dice(11 + index);
    const pattern = (benchmark, parameters = {}) =>
      run.cases.find((one) => one.benchmark === benchmark && Object.entries(parameters).every(([name, value]) => one.parameters[name] === value));
    /** The case that is most alike, elsewhere and at another level. */
    const like = (one, value, library, change) => {
      const made = structuredClone(one);
      scale(made, (value * (0.6 + 0.3 * roll())) / made.metrics[0].value, roll);
      for (const part of [made, ...made.replicas]) Object.assign(part.telemetry, { disturbances: [], disturbed_by: [] });
      if (made.ceiling) made.ceiling = { value: null, kind: "none", source: "" };
      if (!chip.kind) return made;
      made.place = { kind: chip.kind, uuid: `GPU-${label}`, index: 0 };
      made.library = library;
      made.settings = {};
      for (const name of ["threads", "planning", "weights"]) delete made.parameters[name];
      return Object.assign(made, { parameters: { ...made.parameters, ...change } });
    };
    const on = backends[chip.kind] ?? {};
    const cases = [
      ...["triad", "copy"].map((kernel) => like(pattern("memory.stream", { kernel, threads: "all" }), chip.memory, on.own)),
      like(pattern("stencil.heat3d"), chip.memory, on.own),
      like(pattern("fft.transform"), chip.memory / 8, on.fft),
      like(pattern("md.lennard_jones"), chip.memory / 400, on.own),
      ...["fp64", "fp32"].map((precision) => like(pattern("peak.fma", { precision }), (chip.vector ?? chip)[precision], on.own)),
      ...["fp64", "fp32", "bf16", "int8", "fp8_e4m3", "fp8_e4m3fnuz"]
        .filter((precision) => chip[precision])
        .map((precision) => like(pattern("gemm.square", { precision: precision.startsWith("fp8") ? "bf16" : precision }), chip[precision], on.gemm, { precision })),
    ];
    if (chip.links) cases.push(like(pattern("collective.allreduce", { bytes: 1 << 24 }), chip.links, on.all));
    Object.assign(run, { cases });
    const started = `2026-03-0${index + 1}T12:00:00Z`;
    Object.assign(run.run, { id: `run-${label}`, started, ended: started });
    Object.assign(run.machine, { id: `m-${label}`, provider: "generated", instance: label, pci: [], devices: [] });
    if (chip.kind) run.machine.devices = [{ kind: chip.kind, index: 0, uuid: `GPU-${label}`, name: chip.name, pci_address: "0000:0a:00.0", compute_capability: chip.capability, multiprocessors: chip.processors, memory_bytes: chip.bytes, mode: "" }];
    else Object.assign(run.machine, { cpu_model: chip.name, architecture: chip.architecture, cores: chip.cores, usable_cores: chip.cores, threads: chip.cores, usable_threads: chip.cores, isa: [] });
    const place = path.join(folder, label);
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "run.json"), JSON.stringify(run));
    return `${label} (generated)=${place}`;
  });
}
