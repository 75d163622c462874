// SPDX-License-Identifier: Apache-2.0
//
// A chart as a file: its picture with title and legend, as SVG or PNG, and its values as CSV.

import type { ChartData } from "./data";
import { h, s } from "./dom";
import { t } from "./text";
import { theme } from "./theme";

type Value = string | number | null;
export type Table = Record<string, Value>[];

/** Values as they are in the page: SI base units, the names of their fields for titles. */
export function tableOf(data: ChartData, sides: string[]): Table {
  const side = (number: number): Record<string, Value> => (number > 0 ? { side: sides[number - 1] ?? "" } : {});
  switch (data.kind) {
    case "curves":
      return data.curves.flatMap((curve) => curve.points.map(({ x, y, low, high }) => ({ curve: curve.label, ...side(curve.side), [data.x_title]: x, value: y, low, high, unit: data.unit })));
    case "heat":
      return data.values.map((value, index) => ({ [data.row_title]: data.rows[Math.floor(index / data.columns.length)] ?? "", [data.column_title]: data.columns[index % data.columns.length] ?? "", value, unit: data.ratio ? "ratio" : data.unit }));
    case "roofline":
      return [
        ...data.points.map(({ label, intensity, rate }) => ({ label, intensity, value: rate, unit: "FLOP/s" })),
        ...data.peaks.map(({ name, value }) => ({ label: name, intensity: null, value, unit: "FLOP/s" })),
        ...data.bandwidths.map(({ name, value }) => ({ label: name, intensity: null, value, unit: "B/s" })),
      ];
    case "ratios":
      return data.ratios.map((one) => ({ label: one.label, ...side(one.side), ...(data.unit ? { text: one.text } : { baseline: sides[0] ?? "" }), [data.unit && data.unit !== "share" ? "value" : "ratio"]: one.ratio, low: one.low, high: one.high, ...(data.unit ? { unit: data.unit, bound: one.mark } : {}), outcome: one.outcome }));
    case "ranking":
      return data.choices.map((one) => ({ label: one.label, price: one.price, other: one.other, currency: data.currency }));
    case "time":
      return data.points.map(({ seconds, value, low, high, label }) => ({ date: new Date(seconds * 1000).toISOString(), label, value, low, high, unit: data.unit }));
  }
}

/** RFC 4180, with an apostrophe before what a spreadsheet would run as a formula, as in write/csv_line. */
function cell(value: Value | undefined): string {
  if (typeof value !== "string") return value === null || value === undefined ? "" : String(value);
  const plain = value.replace(/(^|[;\t\r\n])(?= *[=+\-@＝＋－＠])/g, "$1'");
  return plain !== value || /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
export function csv(rows: Table): string {
  const names = Object.keys(rows[0] ?? {});
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

const margin = 16; // px
const line = 20;

/** The drawing under its title and the legend, which the page has beside it. */
function picture(figure: HTMLElement): SVGElement {
  const colours = theme();
  const drawing = figure.querySelector(".chart svg") as SVGElement;
  const { width, height } = drawing.getBoundingClientRect();
  const out = s("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": colours.font, fill: colours.ink });
  let y = margin;
  const text = (content: string | null | undefined, attributes: Record<string, string | number>, x = margin): void => {
    if (content) out.append(s("text", { x, y: y + 13, "font-size": 13, ...attributes }, content));
  };
  text(figure.querySelector("h3")?.textContent, { "font-size": 15, "font-weight": 600 });
  y += line + 4;
  const caption = figure.querySelector("figcaption")?.textContent;
  text(caption, { fill: colours.soft });
  if (caption) y += line;
  let x = margin;
  for (const entry of figure.querySelectorAll<HTMLElement>(".legend li")) {
    const room = entry.getBoundingClientRect().width + 22;
    if (room === 22) continue; // hidden
    if (x > margin && x + room > width) [x, y] = [margin, y + line];
    const key = entry.querySelector(".key"); // a line; numbers of points are text
    const style = key && getComputedStyle(key);
    if (style) out.append(s("path", { d: `M${x} ${y + 9}h22`, stroke: style.color, "stroke-width": 2.5, "stroke-dasharray": { dashed: "6 4", dotted: "2 3" }[style.borderTopStyle] ?? null }));
    text(entry.textContent, {}, key ? x + 29 : x);
    x += room;
  }
  if (x > margin) y += line;
  const copy = drawing.cloneNode(true) as SVGElement;
  for (const [name, value] of Object.entries({ x: margin, y, width, height })) copy.setAttribute(name, String(value));
  const [w, all] = [width + 2 * margin, y + height + margin];
  for (const [name, value] of Object.entries({ width: w, height: all, viewBox: `0 0 ${w} ${all}` })) out.setAttribute(name, String(value));
  out.prepend(s("rect", { width: w, height: all, fill: colours.paper }));
  out.append(copy);
  return out;
}

const sharpness = 2; // pixels of a PNG for each of the page

async function png(svg: SVGElement): Promise<Blob | null> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = h("canvas", { width: image.width * sharpness, height: image.height * sharpness });
  const pen = canvas.getContext("2d");
  pen?.scale(sharpness, sharpness);
  pen?.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function save(content: Blob, title: string, ending: string): void {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "chart";
  const link = h("a", { href: URL.createObjectURL(content), download: `${name}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // the browser has taken it by then
}

/** Buttons below a chart; `draw` makes sure that there is a picture. */
export function downloads(figure: HTMLElement, rows: () => Table, draw: () => void): HTMLElement {
  const title = figure.querySelector("h3")?.textContent ?? "";
  const button = (kind: string, content: () => Promise<Blob | null>): HTMLElement => {
    const element = h("button", { type: "button", "aria-label": t("download", kind, title) }, kind);
    element.addEventListener("click", () => void content().then((blob) => blob && save(blob, title, kind.toLowerCase())));
    return element;
  };
  const drawn = (): SVGElement => {
    draw();
    return picture(figure);
  };
  return h(
    "div", { class: "downloads" },
    button("PNG", () => png(drawn())),
    button("SVG", async () => new Blob([new XMLSerializer().serializeToString(drawn())], { type: "image/svg+xml" })),
    button("CSV", async () => new Blob(["\ufeff", csv(rows())], { type: "text/csv" })), // the mark: spreadsheets read UTF-8 by it
  );
}
