// SPDX-License-Identifier: Apache-2.0
//
// Says a text of the catalogue (reports/document/texts) in the page's language.

import family from "../../document/texts/family.json";
import fleet from "../../document/texts/fleet_state.json";
import judged from "../../document/texts/judge_outcome.json";
import outcome from "../../document/texts/outcome.json";
import page from "../../document/texts/page.json";
import status from "../../document/texts/status.json";

interface Entry {
  en: string;
  one?: string; // English, of one
  zh: string;
}
/** A text of page.json, or of another area by its name: "status.ok". */
export type Key = keyof typeof page | `status.${keyof typeof status}` | `outcome.${keyof typeof outcome}`;
const areas: Record<string, Record<string, Entry>> = { page, family, judged, fleet, status, outcome };

function find(key: string, without = key): Entry {
  const [area, name] = key.includes(".") ? key.split(".", 2) : ["page", key];
  return areas[area as string]?.[name as string] ?? { en: without, zh: without };
}

let language: "en" | "zh" = "en";
export function speak(name: "en" | "zh"): void {
  language = name;
}

function fill(text: string, values: (string | number)[]): string {
  return text.replace(/\{(\d)\}/g, (_, place: string) => String(values[Number(place)] ?? ""));
}

export function t(key: Key, ...values: (string | number)[]): string {
  return fill(find(key)[language], values);
}

/** The same of a number of things, which is {0}: "1 series", "3 series". */
export function count(key: Key, number: number, ...values: (string | number)[]): string {
  const entry = find(key);
  const text = language === "en" && number === 1 ? (entry.one ?? entry.en) : entry[language];
  return fill(text, [grouped(number), ...values]);
}

/** 12345 is "12,345", which both languages read. */
export const grouped = (number: number): string => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");

/** An outcome or a status as people say it, on a page that has `all` of them; that of a later version stays as it is. */
export function outcomeWord(name: string, all: string[] = [name]): string {
  const kinds = ["judged", "fleet", "status", "outcome"];
  const has = (kind: string, one: string): boolean => one in (areas[kind] ?? {});
  const kind = kinds.find((some) => all.every((one) => has(some, one))) ?? kinds.find((some) => has(some, name));
  return find(`${kind}.${name}`, name)[language];
}
/** "Matrix multiplication" of "gemm". */
export const familyWord = (name: string): string => find(`family.${name}`, name)[language];

