// SPDX-License-Identifier: Apache-2.0
//
// node run.mjs types|page: runs a test, or leaves it out (77) where npm could not install what it needs.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const modules = process.env.ASSAY_NODE_MODULES;
if (!existsSync(path.join(modules, "typescript"))) {
  console.log("skipped: the packages of reports/page were not installed (no network?)");
  process.exit(77);
}
if (process.argv[2] === "types") {
  const tsc = path.join(modules, "typescript/bin/tsc");
  process.exitCode = spawnSync(process.execPath, [tsc, "--project", process.argv[3]], { stdio: "inherit" }).status ?? 1;
} else {
  await import("./page_test.mjs");
}
