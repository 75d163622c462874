// SPDX-License-Identifier: Apache-2.0
//
// node build.mjs SOURCE OUT: bundles SOURCE/src/main.ts with what it uses, and writes OUT/page.html: the page
// with everything but its language, title, colours and data, which assay-report puts in (write/page.cpp).
// Lies in the folder of node_modules when it runs. Needs Node 18.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const [source, out] = process.argv.slice(2);
const modules = path.join(here, "node_modules");
const common = { bundle: true, write: false, minify: true, charset: "utf8", nodePaths: [modules], logLevel: "warning" };

const script = await build({
  ...common,
  entryPoints: [path.join(source, "src/main.ts")],
  format: "iife",
  target: "es2020",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  metafile: true,
});
const style = await build({ ...common, entryPoints: [path.join(source, "src/page.css")], target: "chrome90" });

/** The licences of what is inside, as they ask to be kept: whole where short, otherwise the notice. */
function licences(inputs) {
  const names = new Set();
  for (const input of Object.keys(inputs)) {
    const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) names.add(match[1]);
  }
  return [...names].sort().map((name) => {
    const folder = path.join(modules, name);
    const { version, license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    const text = ["NOTICE", "LICENSE", "LICENSE.txt"].map((file) => {
      try {
        return readFileSync(path.join(folder, file), "utf8").trim();
      } catch {
        return "";
      }
    }).find((content) => content && content.length < 3000) ?? "";
    return `${name} ${version}, licence ${license}\n${text}`.trim().replaceAll("\r", "").replaceAll("*/", "* /");
  });
}

const banner = `/*! Contains:\n\n${licences(script.metafile.inputs).join("\n\n")}\n*/\n`;
const code = banner + script.outputFiles[0].text.trim();
// Text that would end the element, or hide its end, may not stand in it.
for (const forbidden of ["</script", "<!--", "\r"])
  if (code.toLowerCase().includes(forbidden)) throw new Error(`the bundle contains ${JSON.stringify(forbidden)}`);

const fill = {
  HASH: `sha256-${createHash("sha256").update(code, "utf8").digest("base64")}`,
  STYLE: style.outputFiles[0].text.trim(),
  SCRIPT: code,
};
// Those of assay-report stay; all stand before the script, so that nothing in it can be taken for one.
const page = readFileSync(path.join(source, "page.html"), "utf8").replace(/@(HASH|STYLE|SCRIPT)@/g, (_, name) => fill[name]);
mkdirSync(out, { recursive: true });
writeFileSync(path.join(out, "page.html"), page);
