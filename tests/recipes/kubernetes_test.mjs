// SPDX-License-Identifier: Apache-2.0
//
// node kubernetes_test.mjs SOURCE WORK TYPESCRIPT ASSAY: is what scripts/kubernetes holds what Kubernetes takes? Values
// are validated by the schemas of kubernetes-models, which allow unknown keys; those its types find. Both must also find
// what is planted. Built by `kubectl kustomize` where that is here. 77: npm could not fetch what this needs.

import { execFileSync, spawnSync } from "node:child_process";
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [source, work, typescript, assay] = process.argv.slice(2);
const recipes = path.join(source, "scripts/kubernetes");

// --- the node problem detector: the rule's command, on stored results that lack replicas, keeps its convention ---

const monitor = JSON.parse(readFileSync(path.join(recipes, "node-problem-detector/assay-monitor.json"), "utf8"));
const rule = monitor.rules[0];
assert.equal(rule.condition, monitor.conditions[0].type);
assert.equal(path.basename(rule.path), path.basename(assay));
const sample = path.join(source, "reports/samples/zen4-2cores-quick.json");
const plugin = (file) => spawnSync(assay, rule.args.map((word) => (word.startsWith("/") ? file : word)), { encoding: "utf8" });
for (const file of [sample, "/nowhere"]) {
  const { status, stdout } = plugin(file);
  assert.equal(status, 2, "unknown is neither 0 nor 1");
  assert.ok(stdout.length > 1 && Buffer.byteLength(stdout.trim()) <= monitor.pluginConfig.max_output_length, stdout);
}

// --- the packages ---

mkdirSync(work, { recursive: true });
const lock = readFileSync(path.join(source, "tests/recipes/package-lock.json"), "utf8");
const stamp = path.join(work, "installed");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  for (const file of ["package.json", "package-lock.json"]) cpSync(path.join(source, "tests/recipes", file), path.join(work, file));
  const npm = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000"], { cwd: work, encoding: "utf8" });
  if (npm.status !== 0) skip(`npm could not fetch kubernetes-models: ${npm.stderr}`);
  writeFileSync(stamp, lock);
}
if (!existsSync(typescript)) skip("the packages of reports/page were not installed (no network?)");
const require = createRequire(path.join(work, "package.json"));
const { parseAllDocuments } = require("yaml");

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

// --- the objects ---

function parse(text, name) {
  return parseAllDocuments(text).map((document) => {
    assert.equal(document.errors.length, 0, `${name}: ${document.errors[0]}`);
    return { name, object: document.toJS() };
  });
}
const objects = [];
for (const file of ["namespace.yaml", "results.yaml", "job.yaml"]) objects.push(...parse(readFileSync(path.join(recipes, "sweep", file), "utf8"), file));
const kubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
if (kubectl) for (const folder of ["sweep", "gpu"]) objects.push(...parse(execFileSync("kubectl", ["kustomize", path.join(recipes, folder)], { encoding: "utf8" }), folder));
else console.log("no kubectl here: kustomizations are not built");

const groups = { Job: "batch/v1", Namespace: "v1", PersistentVolumeClaim: "v1", ConfigMap: "v1" };
function problems(object) {
  const group = groups[object.kind];
  assert.ok(group, `nothing validates a ${object.kind}`);
  assert.equal(object.apiVersion, group);
  const Model = require(`kubernetes-models/${group}`)[object.kind];
  try {
    new Model(object).validate();
  } catch (error) {
    return error.message;
  }
  return "";
}
for (const { name, object } of objects) assert.equal(problems(object), "", name);

// --- what is planted is found ---

const job = objects.find(({ name }) => name === "job.yaml").object;
const changed = (change) => {
  const copy = structuredClone(job);
  change(copy.spec, copy.spec.template.spec.containers[0]);
  return copy;
};
for (const wrong of [
  changed((spec) => (spec.completions = "four")),
  changed((spec) => delete spec.template),
  changed((spec) => (spec.podFailurePolicy.rules[1].onExitCodes.values = ["five"])),
  changed((spec, container) => delete container.name),
])
  assert.notEqual(problems(wrong), "");

const unknown = [
  changed((spec) => (spec.backoffLimitPerIndx = 1)),
  changed((spec, container) => (container.resorces = {})),
  changed((spec) => (spec.podFailurePolicy.rules[0].acton = "Ignore")),
  changed((spec) => (spec.podFailurePolicy.rules[2].action = "FailNode")),
];
let text = Object.entries(groups).map(([kind, group]) => `import type { I${kind} } from "kubernetes-models/${group}";\n`).join("");
objects.forEach(({ object }, i) => (text += `export const good${i}: I${object.kind} = ${JSON.stringify(object)};\n`));
unknown.forEach((object, i) => (text += `// @ts-expect-error\nexport const bad${i}: IJob = ${JSON.stringify(object)};\n`));
writeFileSync(path.join(work, "objects.ts"), text);
const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, types: [], module: "node16", target: "es2022" };
writeFileSync(path.join(work, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["objects.ts"] }));
const tsc = spawnSync(process.execPath, [path.join(typescript, "bin/tsc"), "--project", work], { encoding: "utf8" });
assert.equal(tsc.status, 0, tsc.stdout);

// --- what the schemas do not say ---

for (const { object } of objects.filter(({ object }) => object.kind === "Job")) {
  const { spec } = object;
  const container = spec.template.spec.containers[0];
  const value = (name) => container.env.find((one) => one.name === name);
  assert.equal(value("NODES").value, String(spec.completions));
  assert.equal(spec.parallelism, spec.completions);
  assert.equal(spec.maxFailedIndexes, spec.completions);
  assert.equal(value("NODE_NAME").valueFrom.fieldRef.fieldPath, "spec.nodeName");
  // Every exit code of the README has one rule.
  const codes = spec.podFailurePolicy.rules.flatMap((rule) => rule.onExitCodes?.values ?? []);
  assert.deepEqual(codes.sort((a, b) => a - b), [1, 2, 3, 4, 5, 75, 126, 127]);
  const action = (code) => spec.podFailurePolicy.rules.find((rule) => rule.onExitCodes?.values.includes(code)).action;
  assert.deepEqual([1, 2, 3, 4, 5, 75].map(action), ["FailIndex", "FailJob", "FailIndex", "FailIndex", "Ignore", "Ignore"]);
  for (const rule of spec.podFailurePolicy.rules) if (rule.onExitCodes) assert.equal(rule.onExitCodes.containerName, container.name);
  // The arguments are those of assay: the plan of this machine, or what is missing here, and never a wrong option.
  assert.equal(spawnSync(assay, ["run", ...container.args, "--dry-run"], { encoding: "utf8" }).stderr.match(/unknown|not expected|should be/), null);
  const mounts = container.volumeMounts.map((one) => one.name).sort();
  assert.deepEqual(spec.template.spec.volumes.map((one) => one.name).sort(), mounts);
}
if (kubectl) {
  const gpu = objects.filter(({ name, object }) => name === "gpu" && object.kind === "Job")[0].object;
  assert.equal(gpu.spec.template.spec.containers[0].resources.limits["nvidia.com/gpu"], "8");
}
assert.match(readFileSync(path.join(recipes, "collectives/mpijob.yaml"), "utf8"), /NEVER RUN AND NEVER VALIDATED/);
assert.deepEqual(readdirSync(recipes).sort(), ["README.md", "collectives", "gpu", "node-problem-detector", "sweep"]);
console.log(`ok: ${objects.length} objects, ${unknown.length + 4} planted mistakes found`);
