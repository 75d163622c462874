// SPDX-License-Identifier: Apache-2.0
//
// The interactive page in a browser. Each test opens it, does what a reader would, and looks.

import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ASSAY_REPORT, ASSAY_SOURCE, checkAccess, clean, drawAll, equal, expect, folder, launch, open, written } from "./harness.mjs";
import { chart } from "./chart_test.mjs";
import { files, fine, market, runs } from "./pages.mjs";
import { paper } from "./paper_test.mjs";

const count = (page) => page.locator("output.count").innerText();
const numbers = async (page) => (await count(page)).match(/\d+/g).map(Number);

const tests = {
  async "each page opens without an error or a request, draws its charts, and answers in its title"(browser) {
    for (const name of ["report", "comparison", "three", "history", "prediction", "procurement", "fleet", "acceptance"]) {
      const page = await open(browser, files[name]);
      await drawAll(page);
      expect((await page.locator(".chart svg").count()) >= 1, `${name} has charts`);
      expect((await page.locator("tbody tr").count()) > (name === "prediction" ? 2 : 5), `${name} has values`);
      equal(await page.title(), await page.locator("h1").first().innerText(), `${name}: the title of the window`);
      fine(page);
      await page.context().close();
    }
  },

  async "devices and processors of four makers share rows"(browser) {
    const page = await open(browser, files.makers);
    await drawAll(page);
    const text = await page.locator("body").innerText();
    for (const part of ["NVIDIA H200 (141 GiB)", "AMD Instinct MI300X (192 GiB)", "with hipblaslt", "with openblas", "GEMM bf16"]) expect(text.includes(part), `${part} is there`);
    expect(!/per core/i.test(text), "a device has no share of the cores");
    const rows = page.locator("tbody tr", { hasText: "GEMM bf16" }).first();
    equal(((await rows.innerText()).match(/FLOP\/s/g) ?? []).length, 4, "all four have bf16");
    fine(page);
    await page.context().close();
  },

  async "a ranking is the program's, and moves with prices, weights and terms"(browser) {
    const page = await open(browser, files.procurement);
    await drawAll(page);
    const figure = page.locator("figure", { has: page.locator("details.try") });
    const leader = figure.locator(".leader");
    const rows = async () => {
      await figure.locator("details.figures").evaluate((one) => (one.open = false));
      await figure.locator("details.figures").evaluate((one) => {
        for (const child of [...one.children].slice(1)) child.remove();
        one.open = true;
      });
      await figure.locator("details.figures table").waitFor();
      return figure.locator("details.figures tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    };
    const program = (offers, ...more) => JSON.parse(execFileSync(ASSAY_REPORT, ["report", ...market.slice(0, -1), offers, ...more, "--json"])).ranking;
    const agrees = async (what, ranking, chance) => {
      const shown = await rows();
      equal(shown.length, ranking.offers.length, "offers");
      for (const [index, one] of ranking.offers.entries()) {
        const [label, hour, value, best] = shown[index];
        expect(label.includes(` ${one.instance} `), `${what}: ${label} is at the place of ${one.offer}`);
        expect(Math.abs(hour - one.hour.total) < 1e-3 * one.hour.total, `${what}: ${label}: ${hour} is ${one.hour.total}`);
        expect(Math.abs(Number.parseFloat(value) - one.value) < 0.006, `${what}: ${label}: ${value} is ${one.value}`);
        if (chance) expect(Math.abs(Number.parseFloat(best.replace(/[<>]/, "")) / 100 - one.probability_best) < 0.0015, `${what}: ${label}: ${best} is ${one.probability_best}`);
        else equal(best, "–", `${what}: ${label}: probability`);
      }
    };
    const given = market.at(-1);
    const first = program(given);
    await agrees("as given", first, true);
    expect(/^generated mid \(reserved.*leads; probability/.test(await leader.innerText()), "who leads");
    const offers = JSON.parse(readFileSync(given, "utf8"));
    offers.offers.find((one) => one.instance === "big" && one.tariff === "reserved_1y").price = "0.05";
    const cheaper = path.join(folder, "cheaper.json");
    writeFileSync(cheaper, JSON.stringify(offers));
    const price = figure.getByLabel("generated big (reserved, 1 year)");
    await price.fill("0.05");
    expect(/^generated big \(reserved.*no probability/.test(await leader.innerText()), "a lower price");
    await agrees("a lower price", program(cheaper), false);
    const weights = Object.fromEntries(first.measures.filter((one) => one.counts).map((one) => [one.measure, one.weight / first.coverage]));
    const sum = 1.5 - Object.values(weights)[0];
    const profile = Object.fromEntries(Object.entries(weights).map(([measure, weight], index) => [measure, (index === 0 ? 0.5 : weight) / sum]));
    const profiles = path.join(folder, "profiles.json");
    writeFileSync(profiles, JSON.stringify({ schema: "assay.profiles/1", name: "mine", profiles: [{ name: "mine", title: "Mine", weights: profile }] }));
    await figure.locator("fieldset").nth(1).locator("input").first().fill("50");
    await figure.getByLabel("Utilisation").fill("50");
    await figure.getByLabel(/^Term/).fill("18");
    await agrees("weights and terms", program(cheaper, "--profile", "mine", "--profile-file", profiles, "--set", "utilisation=0.5", "--term", "18mo"), false);
    await price.fill("-1");
    equal(await price.getAttribute("aria-invalid"), "true", "a price below 0 is refused");
    await figure.getByRole("button", { name: "Reset" }).click();
    await agrees("as given again", first, true);
    equal(await page.evaluate(() => performance.getEntriesByName("assay:ranked").length > 3), true, "each change was ranked");
    fine(page);
  },

  async "a ranking of few machines has no probability"(browser) {
    const page = await open(browser, files.provisional);
    await drawAll(page);
    const figure = page.locator("figure", { has: page.locator("details.try") });
    await figure.getByLabel("generated big (on demand)").fill("0.05");
    const said = await figure.locator(".leader").innerText();
    expect(said.startsWith("generated big") && said.includes("fewer than three machines"), said);
    await figure.locator("details.figures").evaluate((one) => (one.open = true));
    await figure.locator("details.figures table").waitFor();
    for (const chance of await figure.locator("details.figures tbody td:last-child").allInnerTexts()) equal(chance, "–", "probability");
    fine(page);
  },

  async "a map of many nodes is filtered, sorted and turned, the worst first"(browser) {
    const page = await open(browser, files.fleet);
    await drawAll(page);
    const figure = page.locator("figure", { has: page.locator(".rows") });
    const said = figure.locator(".said");
    equal(await said.innerText(), "1 to 40 of 120", "rows");
    const named = (await page.locator("section table tbody tr th").allInnerTexts()).map((text) => text.trim());
    expect(/120.*121/.test(named[0]), `unresponsive nodes are first: ${named[0]}`);
    expect(named.some((name) => ["n7", "n57", "n107"].includes(name)), `nodes to be measured again are named: ${named.slice(0, 6)}`);
    await figure.getByRole("button", { name: "Next rows" }).click();
    equal(await said.innerText(), "41 to 80 of 120", "the next page");
    await figure.locator("input[type=search]").fill("n11");
    equal(await said.innerText(), "1 to 11 of 11", "filtered");
    await page.waitForFunction(() => [...document.querySelectorAll("figure:has(.rows) svg text")].some((one) => one.textContent === "n119"));
    await figure.locator("input[type=search]").fill("");
    await figure.locator("select").selectOption({ index: 1 });
    equal(await said.innerText(), "1 to 40 of 120", "sorted by a column");
    await figure.locator("canvas").click({ position: { x: 5, y: 5 } });
    const painted = await figure.locator("canvas").evaluate((one) => new Set(one.getContext("2d").getImageData(0, 0, one.width, one.height).data).size);
    expect(painted > 5, "the picture has colours");
    fine(page);
  },

  async "without a script the page has its texts and tables"(browser) {
    for (const name of ["report", "comparison", "history"]) {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const page = await context.newPage();
      await page.goto(`file://${files[name]}`);
      expect((await page.locator("tbody tr:visible").count()) > 5, `${name} has values`);
      expect((await page.locator("h1").innerText()).length > 10, `${name} has its answer`);
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
    equal(await other.locator(".toolbar").count(), 0, "what the script adds, where it was touched");
  },

  async "the filter narrows, says how many are left, and is in the address"(browser) {
    const page = await open(browser, files.comparison);
    const [all, total] = await numbers(page);
    expect(all === total && total >= 20, `all of ${total}`);
    await page.locator("#filter").fill("onednn bf16");
    const left = (await numbers(page))[0];
    expect(left > 0 && left < total / 2, `after the words: ${left} of ${total}`);
    equal(await page.locator("tbody tr[data-outcome]:visible").count(), left, "rows");
    equal(await page.locator("section h2:visible", { hasText: "FFT" }).count(), 0, "sections without a row");
    equal(await page.locator("output.count").getAttribute("aria-live"), "polite", "how it is announced");
    expect(page.url().includes("q=onednn+bf16"), `the address: ${page.url()}`);
    await page.reload();
    equal((await numbers(page))[0], left, "after a reload");
    await page.locator("#filter").fill("no such thing");
    expect(await page.locator(".nothing").isVisible(), "nothing left is said");
    fine(page);
  },

  async "chips choose kinds, libraries and outcomes; sides and columns can be hidden"(browser) {
    const page = await open(browser, files.three);
    const total = (await numbers(page))[1];
    await page.locator(".more > summary").click();
    const kind = page.getByRole("group", { name: "Families" }).getByRole("button").first();
    await kind.click();
    const some = (await numbers(page))[0];
    expect(some > 0 && some < total, `a kind: ${some} of ${total}`);
    await kind.click();
    await page.getByRole("group", { name: "Libraries" }).getByRole("button", { name: "fftw", exact: true }).click();
    expect((await numbers(page))[0] < some + total / 2, "a library");
    await page.getByRole("button", { name: "Show everything" }).click();
    equal((await numbers(page))[0], total, "everything again");
    expect((await page.locator("td.side-2:visible").count()) > 10, "cells of the side");
    await page.getByRole("group", { name: "Sides" }).getByRole("button", { name: "new" }).click();
    equal(await page.locator("td.side-2:visible").count(), 0, "cells of a side that is hidden");
    expect((await page.locator("td.side-3:visible").count()) > 10, "cells of the other side");
    expect(page.url().includes("without=new"), page.url());
    const other = await open(browser, files.report);
    await other.locator(".more > summary").click();
    const column = other.getByRole("group", { name: "Columns" }).getByRole("button").first();
    const cells = () => other.locator("tbody td:visible").count();
    const before = await cells();
    await column.click();
    expect((await cells()) < before, "cells of a column that is hidden");
    fine(page);
  },

  async "choices are unique and complete, and each does something"(browser) {
    for (const name of ["report", "three", "history", "acceptance", "fleet"]) {
      const page = await open(browser, files[name]);
      await page.locator(".more > summary").click();
      const chips = await page.locator(".chip").allInnerTexts();
      equal(chips.filter((text, index) => chips.indexOf(text) !== index), [], `${name}: choices that are there twice`);
      equal(chips.filter((text) => text === "" || text.includes("_")), [], `${name}: choices that are codes`);
      const titles = await page.locator(".part > .wide table:has(tr[data-outcome]) th[scope=col]:not(:first-child):not([class*=side-])").allInnerTexts();
      equal([...new Set(titles)].filter((title) => title && !chips.includes(title)), [], `${name}: columns that cannot be chosen`);
      const shows = () => page.evaluate(() => [...document.querySelectorAll("tr,th,td")].filter((one) => getComputedStyle(one).display === "none").length);
      const all = await shows();
      for (const chip of await page.locator(".chip").all()) {
        await chip.click();
        expect((await shows()) > all, `${name}: "${await chip.innerText()}" does nothing`);
        const said = await numbers(page);
        const folded = (await page.locator("tbody tr[data-outcome]:visible").count()) === 0;
        if (!folded) equal(said[0], await page.locator(".part > .wide tbody tr[data-outcome]:visible").count(), `${name}: rows that are left`);
        await chip.click();
      }
      equal((await count(page)).replace(/[\d,]+/g, "#"), "# of # rows", `${name}: what is counted`);
      fine(page);
    }
  },

  async "each chart can be saved: picture with title and legend, values"(browser) {
    for (const [name, rows] of [["three", 0], ["report", 0], ["history", 36], ["prediction", 0]]) {
      const page = await open(browser, files[name]);
      const figure = page.locator("figure").first();
      const title = await figure.locator("h3").innerText();
      const saved = async (kind) => {
        const waiting = page.waitForEvent("download");
        await figure.getByRole("button", { name: `Download as ${kind}: ${title}` }).click();
        const file = await waiting;
        expect(file.suggestedFilename().endsWith(`.${kind.toLowerCase()}`), file.suggestedFilename());
        return readFileSync(await file.path());
      };
      const svg = (await saved("SVG")).toString();
      const parsed = await page.evaluate((text) => {
        const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
        return { tag: root.tagName, text: root.textContent, scripts: root.querySelectorAll("script,img,image,foreignObject").length, paths: root.querySelectorAll("path").length };
      }, svg);
      equal([parsed.tag, parsed.scripts], ["svg", 0], `${name}: the root of the picture, and what could run in it`);
      expect(parsed.text.startsWith(title) && parsed.paths > 3, `${name}: ${parsed.text.slice(0, 80)}, ${parsed.paths} paths`);
      const png = await saved("PNG");
      equal(png.subarray(1, 4).toString(), "PNG", `${name}: the picture`);
      expect(png.readUInt32BE(16) > 1500, `${name}: ${png.readUInt32BE(16)} pixels wide`);
      const lines = (await saved("CSV")).toString().trim().split("\r\n");
      expect(lines.length > 1 && (rows === 0 || lines.length - 1 === rows), `${name}: ${lines.length} lines, ${lines[0]}`);
      equal(new Set(lines.map((line) => line.replace(/"[^"]*"/g, "").split(",").length)).size, 1, `${name}: columns of every line`);
      fine(page);
    }
  },

  async "headings sort, the order is said, and what has no value comes last"(browser) {
    const page = await open(browser, files.report);
    const heading = page.locator("th.col-value").first();
    const index = await heading.evaluate((element) => [...element.parentElement.children].indexOf(element));
    const values = () => page.locator("table", { has: page.locator("tr[data-outcome]") }).first().locator("tbody tr").evaluateAll((rows, at) => rows.map((row) => row.cells[at].dataset.v).filter(Boolean).map(Number), index);
    equal(await heading.getAttribute("aria-sort"), "none", "before");
    await heading.getByRole("button").click();
    equal(await heading.getAttribute("aria-sort"), "descending", "after a click");
    const down = await values();
    expect(down.length > 1 && down.every((value, at) => at === 0 || value <= down[at - 1]), `falling: ${down}`);
    await heading.getByRole("button").press("Enter");
    equal(await heading.getAttribute("aria-sort"), "ascending", "after a key");
    const up = await values();
    expect(up.every((value, at) => at === 0 || value >= up[at - 1]), `rising: ${up}`);
    await heading.getByRole("button").click();
    equal(await heading.getAttribute("aria-sort"), "none", "after the third");
    fine(page);
  },

  async "a history shows the changes that were found, and their causes"(browser) {
    const page = await open(browser, files.history);
    await drawAll(page);
    const text = await page.locator("main").innerText();
    expect(text.includes("6.1.0") && text.includes("6.8.0"), "the cause and its fact");
    expect(await page.evaluate(() => document.querySelector("figure").compareDocumentPosition(document.querySelector("table")) === Node.DOCUMENT_POSITION_FOLLOWING), "a chart before any table");
    expect((await page.locator("h1").innerText()).length > 10, "the answer");
    fine(page);
  },

  async "a prediction has its curve, a time for each size, and nothing to filter"(browser) {
    const page = await open(browser, files.prediction);
    await drawAll(page);
    expect((await page.locator("figure .chart svg path").count()) > 3, "the curve");
    equal(await page.locator("main table").first().locator("tbody tr").count(), 3, "sizes");
    expect((await page.locator("h1").innerText()).includes("1 GiB over 128 ranks"), "the answer");
    equal(await page.locator("#filter:visible, .more:visible, .keys:visible").count(), 0, "filters of no rows");
    expect(await page.getByRole("button", { name: "Dark colours" }).isVisible(), "dark or light");
    fine(page);
    const still = await browser.newPage();
    await still.goto(`file://${written("prediction-static.html", "predict", "allreduce", runs.nodes, "--nodes", "64", "--gpus", "2", "--static")}`);
    equal(await still.evaluate(() => [document.scripts.length, document.querySelectorAll("main tbody tr").length]), [0, 3], "scripts and sizes of the page without one");
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
    const typed = (await numbers(page))[0];
    expect(typed > 0 && typed < (await numbers(page))[1], "typed");
    await page.locator(".more > summary").press("Enter");
    const chip = page.getByRole("button", { name: "onednn", exact: true });
    const chips = page.getByRole("group", { name: "Libraries" }).getByRole("button");
    const names = await chips.allInnerTexts();
    await chips.nth(names.indexOf("onednn") - 1).focus();
    await page.keyboard.press("ArrowRight");
    equal(await focused(), "onednn", "the next chip");
    await page.keyboard.press("Space");
    equal(await chip.getAttribute("aria-pressed"), "true", "pressed");
    expect((await numbers(page))[0] <= typed, "chosen");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowRight");
    equal(await focused(), names[0], "round the end");
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
    for (const name of ["three", "history", "prediction", "procurement", "acceptance"]) {
      const page = await open(browser, files[name]);
      await drawAll(page);
      equal(await page.evaluate(() => [window.pwned ?? null, document.images.length, document.scripts.length]), [null, 0, 2], name); // data and script
      expect((await page.locator("#page").textContent()).includes("<img src=x"), `${name}: the label is shown as it is`);
    }
    const page = await open(browser, files.three);
    const chart = page.locator(".chart:visible").first();
    await chart.scrollIntoViewIfNeeded();
    await chart.locator("svg").waitFor();
    const box = await chart.boundingBox();
    for (let y = 20; y < 80; y += 4) await page.mouse.move(box.x + box.width * 0.6, box.y + y);
    equal(await page.evaluate(() => [window.pwned ?? null, document.images.length]), [null, 0], "with a tooltip");
    fine(page);
  },

  async "Chinese has no English of the catalogue left"(browser) {
    const texts = path.join(ASSAY_SOURCE, "reports/document/texts");
    const english = (file) => Object.values(JSON.parse(readFileSync(path.join(texts, file), "utf8"))).filter(({ en, zh }) => en !== zh && /[a-z]{3}/.test(en)).map(({ en }) => en);
    for (const name of ["reportZh", "comparisonZh", "historyZh", "predictionZh", "procurementZh", "fleetZh", "acceptanceZh"]) {
      const page = await open(browser, files[name]);
      await drawAll(page);
      await page.locator("details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
      equal(await page.evaluate(() => document.documentElement.lang), "zh-CN", "the language of the document");
      const said = await page.evaluate(() => {
        const found = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) if (!["SCRIPT", "STYLE", "NOSCRIPT"].includes(walk.currentNode.parentElement?.tagName)) found.push(walk.currentNode.data.trim());
        for (const element of document.querySelectorAll("[aria-label],[title],[placeholder],[data-l]"))
          for (const name of ["aria-label", "title", "placeholder", "data-l"]) found.push(element.getAttribute(name) ?? "");
        return [...new Set(found)];
      });
      expect(said.length > (["predictionZh", "acceptanceZh"].includes(name) ? 30 : 100), `texts were found: ${said.length}`);
      const absent = new Set(readdirSync(texts).flatMap(english));
      equal(said.filter((text) => absent.has(text)), [], name);
      fine(page);
    }
  },

  ...chart,
  ...paper,

  async "a narrow screen has nothing to scroll sideways"(browser) {
    for (const name of ["report", "comparison", "three", "history", "prediction", "procurement", "acceptance"]) {
      const page = await open(browser, files[name], { width: 390 });
      await drawAll(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width <= 390, `${name}: ${width} px wide`);
      const narrow = await page.locator("tbody th[scope=row]:visible").evaluateAll((all) => all.filter((one) => one.offsetWidth < 340).map((one) => `${one.textContent} ${one.offsetWidth}`));
      equal(narrow, [], `${name}: names that are not as wide as the screen`);
      fine(page);
    }
  },

  async "readers who listen or need contrast: axe finds nothing"(browser) {
    for (const [name, scheme] of [["report", "dark"], ["three", "light"], ["three", "dark"], ["history", "light"], ["prediction", "light"], ["acceptance", "dark"], ["fleet", "light"], ["procurement", "dark"]]) {
      const page = await open(browser, files[name], { scheme });
      await drawAll(page);
      if (!["prediction", "procurement"].includes(name)) await page.locator(".more > summary").click();
      await checkAccess(page, `${name}, ${scheme}`);
      await page.context().close(); // it would go on drawing beside the next
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
