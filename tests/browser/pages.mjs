// SPDX-License-Identifier: Apache-2.0
//
// The pages that the tests open, and the results behind them.

import { writeFileSync } from "node:fs";
import path from "node:path";
import { hostile, writeFleet, writeMakers, writeMarket, writeNodes, writeRuns } from "./data.mjs";
import { ASSAY_SOURCE, equal, folder, written } from "./harness.mjs";

const sample = path.join(ASSAY_SOURCE, "reports/samples/zen4-2cores-quick.json");
export const at = (name) => path.join(folder, name);
const level = (values) => (one) => values[one.benchmark.split(".")[0]] ?? 1;
export const runs = {
  old: writeRuns(sample, at("old"), 3, level({})),
  new: writeRuns(sample, at("new"), 3, level({ gemm: 1.3, memory: 0.9 }), (run) => {
    run.cases = run.cases.filter((one) => one.benchmark !== "md.lennard_jones");
    run.machine.id = "m-new";
  }),
  third: writeRuns(sample, at("third"), 3, level({ gemm: 0.8, peak: 1.2 }), (run) => {
    Object.assign(run.machine, { id: "m-third", cpu_model: hostile, cores: 4, usable_cores: 4 });
    for (const one of run.cases) if (one.settings.threads === 2) one.settings.threads = 8;
  }),
  nodes: writeNodes(sample, at("nodes"), (run) => (run.machine.instance = hostile)),
  history: writeRuns(sample, at("history"), 36, (one, number) => (one.benchmark === "gemm.square" && number >= 20 ? 0.9 : 1), (run, number) => {
    run.machine.kernel = number >= 20 ? `6.8.0 ${hostile}` : "6.1.0";
  }),
};
const nine = Array.from({ length: 9 }, (_, index) => `side-number-${index + 1}=${writeRuns(sample, at(`nine-${index}`), 1, level({ gemm: 1 + index / 10 }))}`);
export const market = writeMarket(sample, at("market"));
const fleet = writeFleet(sample, at("fleet"), 120);
const sides = (names) => names.map((name) => `${name}=${runs[name]}`);
const contract = at("contract.json");
writeFileSync(contract, JSON.stringify({
  schema: "assay.limits/1", name: hostile, date: "2026-01-02",
  limits: ["gemm.square", "memory.stream"].map((benchmark, index) => ({ id: benchmark, title: `${benchmark} ${hostile}`, kind: "contract", source: hostile, case: { benchmark, place: "host" }, unit: index ? "B/s" : "FLOP/s", at_least: 2e10 })),
}));
const verdict = ["check", sample, "--limits", "spec", "--limits", contract, "--advisory"];
const chinese = ["--lang", "zh"];
export const files = {
  report: written("report.html", "report", sample),
  reportZh: written("report-zh.html", "report", sample, ...chinese),
  comparison: written("comparison.html", "compare", ...sides(["old", "new"])),
  three: written("three.html", "compare", ...sides(["old", "new", "third"])),
  makers: written("makers.html", "compare", ...writeMakers(sample, at("makers")), "--across", "device,backend"),
  history: written("history.html", "history", runs.history),
  nine: written("nine.html", "compare", ...nine),
  prediction: written("prediction.html", "predict", "allreduce", runs.nodes, "--nodes", "64", "--gpus", "2"),
  predictionZh: written("prediction-zh.html", "predict", "allreduce", runs.nodes, "--nodes", "64", "--gpus", "2", ...chinese),
  comparisonZh: written("comparison-zh.html", "compare", ...sides(["old", "new", "third"]), ...chinese),
  procurement: written("procurement.html", "report", ...market),
  provisional: written("provisional.html", "report", ...writeMarket(sample, at("few"), undefined, 1, 2)),
  procurementZh: written("procurement-zh.html", "report", ...market, ...chinese),
  fleet: written("fleet.html", "fleet", ...fleet),
  acceptance: written("acceptance.html", ...verdict),
  acceptanceZh: written("acceptance-zh.html", ...verdict, ...chinese),
  fleetZh: written("fleet-zh.html", "fleet", ...fleet, ...chinese),
  historyZh: written("history-zh.html", "history", runs.history, ...chinese),
};
export const fine = (page) => equal(page.faults, [], "what went wrong");
