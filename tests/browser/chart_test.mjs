// SPDX-License-Identifier: Apache-2.0
//
// Charts of made-up data in the frame of a page: axes that fit, labels apart from each other, tooltips that snap.

import { readFileSync, writeFileSync } from "node:fs";
import { drawAll, equal, expect, open } from "./harness.mjs";
import { at, files, fine } from "./pages.mjs";

/** A page that has these charts only. */
function charts(name, data, sides = []) {
  const page = readFileSync(files.report, "utf8");
  const body = `<div><main id="main" tabindex="-1"><article><header class="top"><h1>Charts</h1></header><section class="part" id="part-0-0"><h2>Charts</h2>${data
    .map((_, index) => `<figure data-chart="${index}"><h3>Chart ${index}</h3><div class="chart" role="img" aria-label="chart"></div></figure>`).join("")}</section></article></main></div>`;
  const file = at(name);
  writeFileSync(file, page
    .replace(/(<div id="page">)[\s\S]*(<\/div>\n<script type="application\/json" id="data">)[^<]*/, (_, before, after) => `${before}${body}${after}${JSON.stringify({ language: "en", sides, charts: data })}`));
  return file;
}
const nothing = { low: null, high: null };
const ratio = (label, value, low, high, more = {}) => ({ label, side: 2, ratio: value, low, high, outcome: value > 1 ? "better" : "worse", text: "", mark: null, from: null, ...more });
const curve = (unit, x_unit, points) => ({ kind: "curves", unit, y_title: "y", x_title: "size", x_unit, higher_is_better: true, marks: [], curves: [{ label: "curve", side: 0, points: points.map(([x, y, low = null, high = null]) => ({ x, y, low, high })) }] });

/** Texts of a chart with their places, and whether they lie on each other. */
const texts = (page, index = 0) => page.locator(".chart").nth(index).locator("svg text").evaluateAll((all) => all.map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const chart = one.closest(".chart").getBoundingClientRect();
  return { text: one.textContent, left: left - chart.left, right: right - chart.left, top: top - chart.top, bottom: bottom - chart.top, width: chart.width, height: chart.height };
}));
const overlapping = (all) => all.flatMap((a, index) => all.slice(index + 1).filter((b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2).map((b) => `${a.text} on ${b.text}`));
const below = (all) => all.filter((one) => one.top > one.height - 50 && !/[a-z]{4}/.test(one.text)).sort((a, b) => a.left - b.left).map((one) => one.text);
const beside = (all) => all.filter((one) => one.right < 80 && one.top < one.height - 40).sort((a, b) => b.top - a.top).map((one) => one.text);
/** Widths of coloured bars. */
const bars = (page, index) => page.locator(".chart").nth(index).locator("svg path").evaluateAll((all) => all.filter((one) => (one.getAttribute("fill") ?? "none").startsWith("#") && one.getAttribute("fill-opacity") !== null).map((one) => Math.round(one.getBoundingClientRect().width)));

export const chart = {
  async "charts: axes of ratios take their range from intervals, and a far value is cut with its figure"(browser) {
    const near = [ratio("near", 1.02, 1.01, 1.03), ratio("nearer", 0.99, 0.98, 1), ratio("third", 1.05, 1.03, 1.07)];
    const money = ["machine", "power"].map((label, index) => ratio(label, 300 + 900 * index, null, null, { text: "USD 300", from: 300 * index }));
    const page = await open(browser, charts("ratios.html", [
      { kind: "ratios", unit: "", ratios: near }, { kind: "ratios", unit: "", ratios: [...near, ratio("far", 58, 50, 60)] }, { kind: "ratios", unit: "USD", ratios: money },
    ], ["a", "b"]));
    await drawAll(page);
    const said = async (index) => (await texts(page, index)).map((one) => one.text);
    expect(!(await said(0)).includes("58.0x"), "nothing to cut");
    expect((await said(1)).includes("58.0x"), `the value of what is cut: ${await said(1)}`);
    for (const index of [0, 1]) {
      const wide = (await bars(page, index)).sort((a, b) => b - a);
      expect(wide[index] > 200, `5% is seen: ${wide}`);
      expect(below(await texts(page, index)).length >= 3, `labels: ${below(await texts(page, index))}`);
    }
    const phone = await open(browser, charts("phone.html", [{ kind: "ratios", unit: "share", ratios: [ratio("Matrix product bf16 (cuBLASLt) on cuda", 0.7, 0.6, 0.8, { text: "PASS, 671 TFLOP/s" })] }]), { width: 390 });
    await drawAll(phone);
    equal(overlapping((await texts(phone)).filter((one) => one.text.length > 8)), [], "a name on its value");
    expect((await texts(phone)).some((one) => one.text === "Matrix product bf16 (cuBLASLt) on cuda"), "a whole name on a phone");
    expect(below(await texts(page, 2)).some((text) => text.startsWith("USD ")), `an axis of money: ${below(await texts(page, 2))}`);
    fine(page);
  },

  async "charts: points of a roofline have numbers apart from each other, and a key"(browser) {
    const points = Array.from({ length: 20 }, (_, index) => ({ label: `Case with a long name, number ${index + 1}`, intensity: index % 4 === 0 ? 1 : 1 + index / 40, rate: 1e12 * (1 + (index % 3) / 50) }));
    const data = { kind: "roofline", peaks: [{ name: "peak", value: 2e13 }, { name: "other peak", value: 1.9e13 }], bandwidths: [{ name: "memory", value: 2e12 }], levels: [{ name: "cache", value: 2.1e12 }], points };
    for (const width of [1200, 390]) {
      const page = await open(browser, charts("roofline.html", [data]), { width });
      await drawAll(page);
      const badges = (await texts(page)).filter((one) => /^(\d{1,2}|[A-D])$/.test(one.text) && one.bottom < one.height - 44);
      equal(badges.map((one) => one.text).sort(), ["A", "B", "C", "D", ...points.map((_, index) => String(index + 1))].sort(), "numbers and letters");
      equal(overlapping(badges), [], `badges on each other, ${width} px`);
      equal((await page.locator(".columns li").allInnerTexts()).map((text) => text.split(/\s/)[0]), ["A", "B", "C", "D", ...points.map((_, index) => String(index + 1))], "the key");
      expect((await page.locator(".columns").innerText()).includes("Case with a long name, number 20 1.02 TFLOP/s"), "its values");
      fine(page);
    }
  },

  async "charts: every axis has at least three labels, at 1, 2, 5 or powers of two"(browser) {
    const page = await open(browser, charts("axes.html", [
      curve("B/s", "", [[1, 3.3e13], [2, 1.6e13], [4, 8e12], [8, 4e12], [16, 2e12], [32, 1e12]]),
      curve("s", "B", [[16384, 16e-9], [1048576, 140e-9], [2 ** 30, 340e-9]]),
      curve("s", "B", [[1024, 5e-4], [2 ** 30, 0.4]]),
      curve("B/s", "", [[100, 1e9, 9e8, 1.1e9], [120, 1.05e9, 9e8, 1.1e9]]),
    ]));
    await drawAll(page);
    equal(beside(await texts(page, 0)), ["1 TB/s", "2 TB/s", "5 TB/s", "10 TB/s", "20 TB/s"], "a decade and a half");
    equal(below(await texts(page, 0)), ["1", "2", "4", "8", "16", "32"], "doubling");
    equal(beside(await texts(page, 1)), ["20 ns", "50 ns", "100 ns", "200 ns"], "latencies");
    equal(below(await texts(page, 1)).slice(0, 3), ["16 KiB", "64 KiB", "256 KiB"], "sizes");
    for (const name of ["report", "prediction", "history", "comparison"]) {
      const real = await open(browser, files[name]);
      await drawAll(real);
      for (let index = 0; index < (await real.locator(".chart").count()); ++index) {
        const all = await texts(real, index);
        if (!(await real.locator(".chart").nth(index).isVisible())) continue;
        expect(below(all).length >= 3, `${name}, chart ${index}: ${below(all)}`);
        if (name !== "comparison") expect(beside(all).length >= 3, `${name}, chart ${index}: ${beside(all)}`);
      }
    }
    fine(page);
  },

  async "charts: intervals of curves are bands, tooltips snap to the nearest point, marks are numbered"(browser) {
    const day = 86400;
    const time = { kind: "time", unit: "B/s", higher_is_better: true, points: Array.from({ length: 20 }, (_, index) => ({ seconds: 1.7e9 + index * 7 * day, value: 1e9 + index, ...nothing, label: "m" })), marks: [100, 101, 50].map((after, index) => ({ seconds: 1.7e9 + after * day, text: `cause ${index + 1}`, outcome: "worse" })) };
    const page = await open(browser, charts("snap.html", [curve("s", "B", [[1024, 1, 0.9, 1.1], [4096, 2, 1.8, 2.4], [16384, 3, 2.5, 3.6]]), time]));
    await drawAll(page);
    equal(await page.locator(".chart").first().locator("svg path[fill-opacity='0.22']").count(), 1, "bands");
    for (const [index, expected] of [[0, "4 KiB"], [1, "GB/s"]]) {
      const box = await page.locator(".chart").nth(index).boundingBox();
      await page.locator(".chart").nth(index).scrollIntoViewIfNeeded();
      await page.locator(".chart").nth(index).hover({ position: { x: box.width * 0.52, y: 60 } });
      await page.waitForFunction((text) => [...document.querySelectorAll(".tip")].some((tip) => tip.offsetParent && tip.textContent.includes(text)), expected);
    }
    const numbers = (await texts(page, 1)).filter((one) => /^[123]$/.test(one.text));
    equal([numbers.length, overlapping(numbers)], [3, []], "numbers of changes a day apart");
    equal(await page.locator(".columns li").allInnerTexts(), ["1 cause 1", "2 cause 2", "3 cause 3"], "the key");
    fine(page);
  },

  async "charts: a wide map names every column, and what is within 1% has no colour"(browser) {
    const columns = Array.from({ length: 14 }, (_, index) => `benchmark.number_${index + 1}`);
    const values = columns.flatMap((_, index) => [0.995, 1.1 + index / 100]);
    const data = { kind: "heat", unit: "ratio", row_title: "node", column_title: "benchmark", rows: ["node-1", "node-2"], columns, values: [...columns.map(() => 1.004), ...columns.map(() => 0.9)], ratio: true };
    expect(values.length === 28, "cells");
    for (const width of [1200, 390]) {
      const page = await open(browser, charts("heat.html", [data]), { width });
      await drawAll(page);
      const said = (await texts(page)).map((one) => one.text);
      equal(columns.filter((name) => !said.includes(name)), [], `columns without a name, ${width} px`);
      equal(said.filter((text) => /^[-−]10(%|)$/.test(text)).length, 14, `cells with a figure, ${width} px`);
      const fills = await page.locator(".chart svg path").evaluateAll((all) => all.map((one) => one.getAttribute("fill")));
      const faint = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--faint").trim());
      equal(fills.filter((fill) => fill === faint).length, 14, "neutral cells");
      fine(page);
    }
  },

  async "charts: no page grows while it is scrolled"(browser) {
    for (const name of ["report", "three", "history", "fleet", "acceptance", "prediction"])
      for (const width of [1200, 390]) {
        const page = await open(browser, files[name], { width });
        await page.waitForFunction(() => performance.getEntriesByName("assay:laid-out").length > 0);
        const height = () => page.evaluate(() => document.documentElement.scrollHeight);
        const first = await height();
        let most = first;
        for (let y = 0; y < most; y += 800) {
          await page.evaluate((to) => scrollTo(0, to), y);
          await page.waitForTimeout(30);
          most = Math.max(most, await height());
        }
        expect(most <= first * 1.05, `${name}, ${width} px wide: from ${first} to ${most} px`);
        await page.context().close();
      }
  },
};
