// SPDX-License-Identifier: Apache-2.0
//
// node bench.mjs PAGE.html: size, first render, filter and, of a page that ranks offers, a changed price, against the
// limits. Times are medians of five fresh loads; a change is timed until the browser has painted what it left.

import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { ASSAY_NODE_MODULES, ASSAY_BROWSER } = process.env;
const { chromium } = createRequire(path.join(ASSAY_NODE_MODULES, "x.js"))("playwright-core");
const file = path.resolve(process.argv[2]);
const limits = { "size, MB": 5, "first render, ms": 1500, "filter, ms": 100, "price, ms": 100 };
const loads = 5;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** The words typed: a letter (nearly everything stays), a library (a part), a case (little), nothing (all). */
const queries = ["a", "onednn", "bf16", "no such thing", ""];

/** Time from typing into a box until the result is painted. */
const typed = (page, selector, words) =>
  page.evaluate(
    ([selector, words]) =>
      new Promise((done) => {
        const box = document.querySelector(selector);
        const began = performance.now();
        box.value = words;
        box.dispatchEvent(new Event("input"));
        // A message sent in a frame arrives after that frame was painted.
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => done(performance.now() - began);
          channel.port2.postMessage(null);
        });
      }),
    [selector, words],
  );

const browser = await chromium.launch({ executablePath: ASSAY_BROWSER, args: ["--no-sandbox", "--disable-gpu"] });
const first = [];
const prices = [];
const filters = queries.map(() => []);
let about = "";
for (let load = 0; load < loads; ++load) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => performance.getEntriesByName("assay:complete").length > 0);
  // The first chart, or the first content where that came later: both have to be there.
  first.push(await page.evaluate(() => Math.max(performance.getEntriesByName("assay:first-chart")[0].startTime, performance.getEntriesByName("first-contentful-paint")[0].startTime)));
  for (const [index, query] of queries.entries()) {
    filters[index].push(await typed(page, "#filter", query));
    await page.waitForTimeout(300); // charts that changed are drawn after the paint
  }
  if (await page.locator("details.try").count()) {
    await page.locator("details.try").first().evaluate((one) => (one.open = true));
    for (const price of ["0.01", "0.5", "0.08"]) {
      prices.push(await typed(page, "details.try input[type=number]", price));
      await page.waitForTimeout(300);
    }
  }
  about = await page.evaluate(() => `${document.querySelector("output.count").textContent}, ${document.querySelectorAll("tbody tr").length} rows, ${document.querySelectorAll(".chart").length} charts`);
  await context.close();
}
await browser.close();

const data = /<script type="application\/json" id="data">([^<]*)/.exec(readFileSync(file, "utf8"))[1].length;
const found = { "size, MB": statSync(file).size / 1e6, "first render, ms": median(first), "filter, ms": Math.max(...filters.map(median)) };
if (prices.length > 0) found["price, ms"] = median(prices);
console.log(`${path.basename(file)}: ${about}; ${(data / 1e6).toFixed(2)} MB of data`);
console.log(`filters, ms: ${queries.map((query, index) => `"${query}" ${median(filters[index]).toFixed(0)}`).join(", ")}`);
let failed = false;
for (const [name, limit] of Object.entries(limits).filter(([name]) => name in found)) {
  const fine = found[name] <= limit;
  failed ||= !fine;
  console.log(`  ${fine ? "ok    " : "FAILED"}  ${name}: ${found[name].toFixed(name.endsWith("MB") ? 2 : 0)}, limit ${limit}`);
}
process.exitCode = failed ? 1 : 0;
