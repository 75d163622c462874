// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people, as harness/record/format.hpp writes them: three digits and a prefix.

import { grouped } from "./text";

const decimal: [number, string][] = [
  [1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""],
  [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"],
];
const binary: [number, string][] = [
  [2 ** 50, "Pi"], [2 ** 40, "Ti"], [2 ** 30, "Gi"], [2 ** 20, "Mi"], [2 ** 10, "Ki"], [1, ""],
];

function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

/** 64 KiB, 1.5 GiB */
export function bytes(value: number): string {
  const [scale, prefix] = binary.find(([step]) => Math.abs(value) >= step) ?? [1, ""];
  const scaled = value / scale;
  return `${Number.isInteger(scaled) ? scaled : Number(scaled.toPrecision(3))} ${prefix}B`;
}

/** quantity(5.05e11, "FLOP/s") is "505 GFLOP/s"; `short` leaves zeros at the end away, for axes. */
export function quantity(value: number, unit: string, short = false): string {
  if (unit === "B") return bytes(value);
  if (unit === "1") return String(Number(value.toPrecision(3)));
  const allowed = unit === "s" ? decimal.filter(([step]) => step <= 1) : decimal;
  const last = allowed[allowed.length - 1] as [number, string];
  // Values that round to 1000 take the next prefix: 999.7 is 1.00 k.
  const [scale, prefix] = value === 0 ? [1, ""] : (allowed.find(([step]) => Math.abs(value) >= step * 0.9995) ?? last);
  const number = short ? String(Number((value / scale).toPrecision(3))) : threeDigits(value / scale);
  const full = unit.startsWith("1/") ? `${prefix}${unit.slice(1)}` : `${prefix}${unit}`;
  return full ? `${number} ${full}` : number;
}

export function ratio(value: number): string {
  if (value >= 99.5 || value < 0.01) return `${Number(value.toPrecision(2))}x`;
  return value >= 9.95 ? `${value.toFixed(1)}x` : `${value.toFixed(2)}x`;
}

/** A ratio as comparisons say it: +24% of 1.24 and -12% of 0.88, in times where it is further from 1. */
export function change(value: number): string {
  if (value < 0.5 || value > 1.5) return ratio(value);
  const percent = Number((100 * (value - 1)).toFixed(1));
  return `${percent > 0 ? "+" : ""}${percent}%`;
}

/** As quotes write it: "USD 1,234", "USD 0.5". */
export const money = (value: number, currency: string): string => `${currency} ${value < 0 ? "-" : ""}${Math.abs(value) >= 1000 ? grouped(Math.abs(value)) : Number(Math.abs(value).toPrecision(4))}`;

export const percent = (share: number): string => `${Number((share * 100).toPrecision(3))}%`;

/** 2026-03-31; UTC, as everything that is recorded. */
export const day = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** "low to high" of a value, or nothing. */
export function span(low: number | null, high: number | null, format: (value: number) => string): string {
  return low === null || high === null ? "" : `[${format(low)}, ${format(high)}]`;
}
