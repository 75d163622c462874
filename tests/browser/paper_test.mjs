// SPDX-License-Identifier: Apache-2.0
//
// The page on paper: printed from a browser and by --pdf.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ASSAY_REPORT, equal, expect, open } from "./harness.mjs";
import { at, files, fine, market } from "./pages.mjs";

export const paper = {
  async "paper: several pages, charts drawn, nothing to click"(browser) {
    for (const name of ["report", "comparison", "history", "procurement", "acceptance"]) {
      const page = await open(browser, files[name], { scheme: "dark" });
      const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
      const pages = (pdf.match(/\/Type\s*\/Page\b(?!s)/g) ?? []).length;
      expect(pages >= 2 && pages < 40, `${name}: ${pages} pages`);
      const undrawn = await page.evaluate(() => [...document.querySelectorAll(".chart")].filter((one) => one.closest("section")?.hidden === false && !one.querySelector("svg")).length);
      equal(undrawn, 0, `${name}: charts that were not drawn`);
      await page.emulateMedia({ media: "print" });
      equal(await page.locator(".toolbar:visible, nav:visible").count(), 0, `${name}: things to click`);
      equal(await page.evaluate(() => getComputedStyle(document.body).color), "rgb(0, 0, 0)", `${name}: ink`);
      fine(page);
    }
  },

  async "paper: few sheets, low charts, and a long word splits no table"(browser) {
    for (const [name, most] of [["report", 6], ["three", 4], ["nine", 8], ["history", 4], ["acceptance", 4]]) {
      const page = await open(browser, files[name]);
      const sheets = ((await page.pdf({ format: "A4", preferCSSPageSize: true })).toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g) ?? []).length;
      expect(sheets <= most, `${name}: ${sheets} sheets`);
    }
    const page = await open(browser, files.report);
    await page.evaluate(() => {
      const row = (tag, cells) => `<tr>${cells.map((text, index) => (index ? `<${tag}>${text}</${tag}>` : `<th scope="row">${text}</th>`)).join("")}</tr>`;
      document.querySelector(".part").insertAdjacentHTML("beforeend", `<div class="wide" id="long"><table><thead>${row("th", ["name", "source", "value"])}</thead><tbody>${row("td", ["a case", `/${"path/to/a".repeat(40)}`, "1"])}</tbody></table></div>`);
      dispatchEvent(new Event("beforeprint"));
    });
    await page.emulateMedia({ media: "print" });
    equal(await page.locator("#long .slices").count(), 0, "slices of a table with a long word");
    const high = await page.locator("figure:has(path) .chart").evaluateAll((all) => all.map((one) => one.offsetHeight).filter((height) => height > 245));
    equal(high, [], "charts higher than 65 mm");
  },

  async "paper: --pdf prints the page, on A4 and with its charts"() {
    const file = at("printed.pdf");
    execFileSync(ASSAY_REPORT, ["report", ...market, "--pdf", file]);
    const pdf = readFileSync(file, "latin1");
    expect(pdf.startsWith("%PDF-"), "a PDF");
    expect(/\/MediaBox \[0 0 59\d(\.\d+)? 84[12](\.\d+)?\]/.test(pdf), "of A4");
    const pages = (pdf.match(/\/Type\s*\/Page\b(?!s)/g) ?? []).length;
    expect(pages >= 2 && pages < 40, `${pages} pages`);
  },

  async "paper: broad tables lie on their side, broader ones are in slices, and every page has the title"(browser) {
    const sizes = async (page) => [...new Set([...(await page.pdf({ format: "A4" })).toString("latin1").matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, width, height]) => (Number(width) > Number(height) ? "broad" : "upright")))];
    equal(await sizes(await open(browser, files.history)), ["upright"], "of a history");
    const page = await open(browser, files.nine, { width: 1009 });
    equal(await sizes(page), ["broad"], "of nine sides");
    equal(await page.locator(".slices").count(), 0, "slices that are left afterwards");
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    const tables = await page.locator("table:visible").evaluateAll((all) => all.map((table) => ({ width: Math.round(table.getBoundingClientRect().right), sides: [...table.tHead.querySelectorAll("th")].map((head) => head.innerText).filter((text) => text.startsWith("side-number")) })));
    equal(tables.filter(({ width }) => width > 1009), [], "tables that are cut off");
    const seen = new Set(tables.flatMap(({ sides }) => sides));
    equal(seen.size, 9, `sides in the slices: ${[...seen]}`);
    const margin = await page.evaluate(() => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText).find((text) => text.startsWith("@page") && text.includes("top-left")));
    expect(margin?.includes("8 others compared with side-number-1"), `the margin: ${margin}`);
    fine(page);
  },
};
