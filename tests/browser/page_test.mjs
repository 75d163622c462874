// SPDX-License-Identifier: Apache-2.0
//
// The interactive page in a browser. Each test opens it, does what a reader would, and looks.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { comparison, history, hostile, page as envelope } from "./data.mjs";
import { ASSAY_SOURCE, checkAccess, clean, drawAll, equal, expect, folder, launch, open, withData, written } from "./harness.mjs";

const sample = path.join(ASSAY_SOURCE, "reports/samples/zen4-2cores-quick.json");
const report = written("report.html", "report", sample);
const files = {
  report,
  reportZh: written("report-zh.html", "report", sample, "--lang", "zh"),
  comparison: withData(report, "comparison.html", envelope({ comparison: comparison(["old", "new"]) })),
  three: withData(report, "three.html", envelope({ comparison: comparison(["old", "new", hostile]) })),
  history: withData(report, "history.html", envelope({ history: history() })),
  comparisonZh: withData(report, "comparison-zh.html", envelope({ comparison: comparison(["甲", "乙", "丙"]), language: "zh" })),
  historyZh: withData(report, "history-zh.html", envelope({ history: history(), language: "zh" })),
};
const count = (page) => page.locator("output.count").innerText();
const firstRow = (page) => page.locator("tbody tr:visible th").first().innerText();
const fine = (page) => equal(page.faults, [], "what went wrong");

const tests = {
  async "each page opens without an error or a request, and draws its charts"(browser) {
    for (const name of ["report", "comparison", "three", "history"]) {
      const page = await open(browser, files[name]);
      await drawAll(page);
      expect((await page.locator(".chart svg").count()) >= 3, `${name} has charts`);
      expect((await page.locator("tbody tr").count()) > 5, `${name} has figures`);
      fine(page);
      await page.context().close();
    }
  },

  async "the policy lets no other script run, and not ours where it was touched"(browser) {
    const page = await open(browser, files.report);
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.pwned = 1";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", '<b onclick="window.pwned = 1" id="trap">x</b>');
    });
    await page.locator("#trap").click();
    equal(await page.evaluate(() => window.pwned ?? null), null, "a foreign script");
    expect(page.faults.some((fault) => fault.includes("Content Security Policy")), "the browser reports it");
    const touched = path.join(folder, "touched.html");
    writeFileSync(touched, readFileSync(files.report, "utf8").replace(/\n<\/?script>/g, (tag) => tag).replace("</script>\n</body>", ";</script>\n</body>"));
    const other = await browser.newPage();
    await other.goto(`file://${touched}`);
    equal(await other.locator("h1").count(), 0, "parts of a page whose script was touched");
  },

  async "the filter narrows, says how many are left, and is in the address"(browser) {
    const page = await open(browser, files.comparison);
    equal(await count(page), "35 of 35 series", "all");
    await page.locator("#filter").fill("onednn bf16");
    equal(await count(page), "5 of 35 series", "after the words");
    equal(await page.locator("table tbody tr:visible", { hasText: "onednn" }).count(), 5, "rows");
    equal(await page.locator("section h2:visible", { hasText: "Latency" }).count(), 0, "sections without a row");
    equal(await page.locator("output.count").getAttribute("aria-live"), "polite", "how it is announced");
    expect(page.url().includes("q=onednn+bf16"), `the address: ${page.url()}`);
    await page.reload();
    equal(await count(page), "5 of 35 series", "after a reload");
    await page.locator("#filter").fill("no such thing");
    expect(await page.locator(".nothing").isVisible(), "nothing left is said");
    fine(page);
  },

  async "chips choose families, libraries and outcomes; sides and columns can be hidden"(browser) {
    const page = await open(browser, files.three);
    await page.locator(".more > summary").click();
    await page.getByRole("button", { name: "Latency", exact: true }).click();
    equal(await count(page), "5 of 35 series", "a family");
    await page.getByRole("button", { name: "Latency", exact: true }).click();
    await page.getByRole("button", { name: "– not measured" }).click();
    expect(/^\d+ of 35/.test(await count(page)) && !(await count(page)).startsWith("35"), `an outcome: ${await count(page)}`);
    await page.getByRole("button", { name: "Show everything" }).click();
    equal(await count(page), "35 of 35 series", "everything again");
    const before = await page.locator("td.side-1:visible").count();
    expect(before > 30, "cells of the side");
    await page.getByRole("group", { name: "Sides" }).getByRole("button", { name: "new" }).click();
    equal(await page.locator(".side-1:visible").count(), 0, "cells of a side that is hidden");
    expect((await page.locator("td.side-2:visible").count()) > 30, "cells of the other side");
    await page.getByRole("button", { name: "Values", exact: true }).click();
    equal(await page.locator(".col-strips:visible").count(), 0, "cells of a column that is hidden");
    expect(page.url().includes("without=new") && page.url().includes("hide=strips"), page.url());
    fine(page);
  },

  async "headings sort, the order is said, and what has no figure comes last"(browser) {
    const page = await open(browser, files.comparison);
    const heading = page.locator("th.col-ratio1").first();
    const texts = () => page.locator("section").filter({ hasText: "Matrix multiplication" }).locator("tbody td.col-ratio1:visible").allInnerTexts();
    const ratios = async () => (await texts()).map((text) => Number(/([\d.]+)x \[/.exec(text)?.[1])).filter(Boolean);
    equal(await heading.getAttribute("aria-sort"), "none", "before");
    await heading.getByRole("button").click();
    equal(await heading.getAttribute("aria-sort"), "descending", "after a click");
    const down = await ratios();
    expect(down.length > 5 && down.every((ratio, index) => index === 0 || ratio <= down[index - 1]), `falling: ${down}`);
    await heading.getByRole("button").press("Enter");
    equal(await heading.getAttribute("aria-sort"), "ascending", "after a key");
    expect((await texts()).at(-1).includes("not measured"), "no figure is last");
    await heading.getByRole("button").click();
    equal(await heading.getAttribute("aria-sort"), "none", "after the third");
    fine(page);
  },

  async "two views: library by library, and the best of each side"(browser) {
    const page = await open(browser, files.comparison);
    await page.getByRole("button", { name: "Best library of each side" }).click();
    equal(await count(page), "20 of 20 series", "questions");
    await page.getByRole("button", { name: "Library by library" }).click();
    equal(await count(page), "35 of 35 series", "libraries");
  },

  async "a history shows its changes, their causes and the quarters"(browser) {
    const page = await open(browser, files.history);
    await drawAll(page);
    expect((await page.locator("tr", { hasText: "6.1.0 → 6.8.0" }).innerText()).includes("software"), "the cause and its fact");
    expect(await page.locator("th", { hasText: "2025 Q3" }).first().isVisible(), "a quarter");
    equal(await page.locator(".series .steps > li").count(), 2, "changes listed with their charts");
    await page.locator(".more > summary").click();
    await page.getByRole("button", { name: "unexplained" }).click();
    equal(await count(page), "1 of 5 series", "one cause");
    equal(await page.locator("figure.series:visible").count(), 1, "charts left");
    fine(page);
  },

  async "all of it by keyboard"(browser) {
    const page = await open(browser, files.comparison);
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
    await page.keyboard.press("Tab");
    equal(await focused(), "Skip to the results", "the first stop");
    expect((await page.locator(".skip").boundingBox()).y >= 0, "is seen");
    await page.keyboard.press("Enter");
    equal(await focused(), "main", "after it");
    await page.keyboard.press("/");
    equal(await focused(), "filter", "after /");
    await page.keyboard.type("fp64");
    equal(await count(page), "10 of 35 series", "typed");
    await page.locator(".more > summary").press("Enter");
    const chip = page.getByRole("button", { name: "onednn", exact: true });
    await page.locator(".chips .chip", { hasText: "host" }).focus();
    await page.keyboard.press("ArrowRight");
    equal(await focused(), "onednn", "the next chip");
    await page.keyboard.press("Space");
    equal(await chip.getAttribute("aria-pressed"), "true", "pressed");
    equal(await count(page), "5 of 35 series", "chosen");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowRight");
    equal(await focused(), "host", "round the end");
  },

  async "light and dark, by the system and by choice"(browser) {
    const page = await open(browser, files.comparison, { scheme: "dark" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    equal(dark, "rgb(20, 23, 26)", "dark by the system");
    await page.getByRole("button", { name: "Light colours" }).click();
    equal(await paper(), "rgb(251, 251, 250)", "light by choice");
    await page.reload();
    equal(await paper(), "rgb(251, 251, 250)", "light after a reload");
    const other = await open(browser, files.report);
    await other.getByRole("button", { name: "Dark colours" }).click();
    equal(await other.evaluate(() => getComputedStyle(document.body).backgroundColor), dark, "dark by choice");
    fine(page);
  },

  async "labels that would be markup stay text, also in a tooltip"(browser) {
    for (const name of ["three", "history"]) {
      const page = await open(browser, files[name]);
      await drawAll(page);
      equal(await page.evaluate(() => [window.pwned ?? null, document.images.length, document.scripts.length]), [null, 0, 2], name);
      expect((await page.locator("body").innerText()).includes("<img src=x"), "the label is shown as it is");
    }
    const page = await open(browser, files.three);
    const chart = page.locator("section", { hasText: "Matrix multiplication" }).locator(".chart").nth(1);
    await page.locator("h2", { hasText: "Matrix multiplication" }).first().scrollIntoViewIfNeeded();
    await chart.locator("svg").waitFor();
    const box = await chart.boundingBox();
    for (let y = 20; y < 60; y += 4) await page.mouse.move(box.x + 300, box.y + y);
    await page.locator(".tip").waitFor();
    equal(await page.evaluate(() => [window.pwned ?? null, document.images.length]), [null, 0], "with a tooltip");
    fine(page);
  },

  async "Chinese has no English of the catalogue left"(browser) {
    const texts = path.join(ASSAY_SOURCE, "reports/language/texts");
    const ours = ["page.json", "report.json", "status.json", "outcome.json"]; // that the script says; the rest is in the data
    const english = (file) => Object.values(JSON.parse(readFileSync(path.join(texts, file), "utf8"))).filter(({ en, zh }) => en !== zh && /[a-z]{3}/i.test(en)).map(({ en }) => en);
    for (const name of ["reportZh", "comparisonZh", "historyZh"]) {
      const page = await open(browser, files[name]);
      await drawAll(page);
      await page.locator("details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
      equal(await page.evaluate(() => document.documentElement.lang), name === "reportZh" ? "zh-CN" : "en", "the language of the document");
      const said = await page.evaluate(() => {
        const found = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) if (!["SCRIPT", "STYLE", "NOSCRIPT"].includes(walk.currentNode.parentElement?.tagName)) found.push(walk.currentNode.data.trim());
        for (const element of document.querySelectorAll("[aria-label],[title],[placeholder],[data-l]"))
          for (const name of ["aria-label", "title", "placeholder", "data-l"]) found.push(element.getAttribute(name) ?? "");
        return [...new Set(found)];
      });
      expect(said.length > 100, "texts were found");
      const absent = new Set((name === "reportZh" ? readdirSync(texts) : ours).flatMap(english));
      equal(said.filter((text) => absent.has(text)), [], name);
      fine(page);
    }
  },

  async "every text of the page is used, in both languages"() {
    const source = path.join(ASSAY_SOURCE, "reports/page/src");
    const code = readdirSync(source).filter((name) => name.endsWith(".ts")).map((name) => readFileSync(path.join(source, name), "utf8")).join("\n");
    const texts = JSON.parse(readFileSync(path.join(ASSAY_SOURCE, "reports/language/texts/page.json"), "utf8"));
    equal(Object.keys(texts).filter((key) => !code.includes(`"${key}"`)), [], "texts that nothing says");
    const places = (text) => [...new Set(text.match(/\{\d\}/g) ?? [])].sort().join();
    equal(Object.entries(texts).filter(([, { en, zh }]) => !en || !zh || places(en) !== places(zh)).map(([key]) => key), [], "texts whose languages differ in their places");
  },

  async "paper: several pages, charts drawn, nothing to click"(browser) {
    for (const name of ["report", "comparison", "history"]) {
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

  async "a narrow screen has nothing to scroll sideways"(browser) {
    for (const name of ["report", "comparison", "three", "history"]) {
      const page = await open(browser, files[name], { width: 390 });
      await drawAll(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width <= 390, `${name}: ${width} px wide`);
      fine(page);
    }
  },

  async "readers who listen or need contrast: axe finds nothing"(browser) {
    for (const [name, scheme] of [["report", "dark"], ["three", "light"], ["three", "dark"], ["history", "light"]]) {
      const page = await open(browser, files[name], { scheme });
      await drawAll(page);
      await page.locator(".more > summary").click();
      await checkAccess(page, `${name}, ${scheme}`);
    }
  },
};

const only = process.argv[3] ?? "";
const browser = await launch();
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (!name.includes(only)) continue;
  const began = performance.now();
  try {
    await test(browser);
    console.log(`  ok      ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    ++failed;
    console.log(`  FAILED  ${name}\n          ${error.message.replaceAll("\n", "\n          ")}`);
  }
  for (const context of browser.contexts()) await context.close();
}
await browser.close();
clean();
process.exitCode = failed ? 1 : 0;
