// SPDX-License-Identifier: Apache-2.0
//
// Opens pages in Chromium from file://, as a reader does, and notes everything that should not be: errors,
// messages of the console, requests for anything but the file itself.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

export const { ASSAY_REPORT, ASSAY_SOURCE, ASSAY_NODE_MODULES, ASSAY_BROWSER } = process.env;
const require = createRequire(path.join(ASSAY_NODE_MODULES, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const folder = mkdtempSync(path.join(tmpdir(), "assay-browser-"));
export const clean = () => rmSync(folder, { recursive: true, force: true });

/** The page of `assay-report ARGUMENTS --html FILE`. */
export function written(name, ...args) {
  const file = path.join(folder, name);
  const { status, stderr } = spawnSync(ASSAY_REPORT, [...args, "--html", file], { encoding: "utf8" });
  if (status !== 0 && status !== 3) throw new Error(`${args.join(" ")}: ${status}: ${stderr}`); // 3: something is open
  return file;
}

export const launch = () => chromium.launch({ executablePath: ASSAY_BROWSER, args: ["--no-sandbox", "--disable-gpu"] });

export async function open(browser, file, { width = 1200, scheme = "light", hash = "" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (message) => page.faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== pathToFileURL(file).href) page.faults.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href + hash);
  await page.waitForFunction(() => performance.getEntriesByName("assay:complete").length > 0);
  return page;
}

export function expect(condition, message) {
  if (!condition) throw new Error(message);
}
export function equal(actual, expected, what) {
  expect(JSON.stringify(actual) === JSON.stringify(expected), `${what}: got ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
}

/** Scrolls to the end, so that every chart was drawn. */
export async function drawAll(page) {
  await page.addStyleTag({ content: ".part{content-visibility:visible!important}" });
  // A chart drawn above moves this one out of sight before the browser has looked at it: then another scroll.
  for (const chart of await page.locator(".chart:visible").all())
    for (let tries = 12, isDrawn = false; !isDrawn; ) {
      await chart.evaluate((one) => one.scrollIntoView({ block: "center" })); // no wait for frames that stand still: a busy machine has few
      isDrawn = await chart.locator("svg").first().waitFor({ timeout: 5000 }).then(() => true, async (error) => {
        if (--tries === 0) throw error;
        await page.bringToFront(); // and a screenshot forces a frame: the page's IntersectionObserver runs once per frame
        await page.screenshot({ clip: { x: 0, y: 0, width: 8, height: 8 } });
        return false;
      });
    }
}

/** Findings of axe-core: contrast, names, roles, order of headings, landmarks. */
export async function checkAccess(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const found = violations.map((one) => `${one.id}: ${one.help}\n    ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`).join("\n    ")}`);
  expect(found.length === 0, `${what}:\n  ${found.join("\n  ")}`);
}
