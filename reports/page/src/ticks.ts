// SPDX-License-Identifier: Apache-2.0
//
// Labels of an axis stand at round numbers: 1, 2, 5 and their tens, powers of two for sizes, whole hours, days or
// months for times. Every axis has at least three, and at most as many as fit.

/** The first of the lists, from the densest, that fits; otherwise the sparsest that has three. */
function fitting(lists: number[][], most: number): number[] | undefined {
  const enough = lists.filter((list) => list.length >= 3);
  return enough.find((list) => list.length <= most) ?? enough[enough.length - 1];
}

const within = (min: number, max: number) => (value: number): boolean => value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9);

/** Every 1, 2 or 5 times a power of ten. */
export function evenTicks(min: number, max: number, most: number): number[] {
  const lists: number[][] = [];
  for (let power = Math.floor(Math.log10((max - min) / 100)); 10 ** power <= max - min; ++power)
    for (const digit of [1, 2, 5]) {
      const step = digit * 10 ** power;
      const from = Math.ceil(min / step - 1e-9);
      const count = Math.floor(max / step + 1e-9) - from + 1;
      if (count > 100) continue;
      lists.push(Array.from({ length: Math.max(0, count) }, (_, index) => Number(((from + index) * step).toPrecision(12))));
    }
  return fitting(lists, most) ?? [min, max];
}

/** Powers of two. */
function doublingTicks(min: number, max: number, most: number): number[] | undefined {
  const first = Math.ceil(Math.log2(min) - 1e-9);
  const all = Array.from({ length: Math.max(0, Math.floor(Math.log2(max) + 1e-9) - first + 1) }, (_, index) => first + index);
  // 1 KiB and 1 MiB are among every second, fifth and tenth.
  return fitting([1, 2, 5, 10, 20].map((every) => all.filter((power) => power % every === 0).map((power) => 2 ** power)), most);
}

/** 1, 2, 5, 10; 1, 5, 20, 100; 1, 10, 100. */
function decimalTicks(min: number, max: number, most: number): number[] | undefined {
  const all: [number, number][] = [];
  for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; ++power)
    [1, 2, 5].forEach((digit, index) => all.push([power * 3 + index, Number((digit * 10 ** power).toPrecision(12))]));
  const seen = all.filter(([, value]) => within(min, max)(value));
  const lists = [1, 3, 2, 3, 6, 9, 15].map((every) => seen.filter(([place]) => place % every === 0).map(([, value]) => value));
  return fitting(lists.filter((list, index) => index !== 1 || list.length > 3), most); // tens rather than 1, 5, 20 where they are enough
}

/** `base` 2 or 10 for a logarithmic axis. */
export function ticks(min: number, max: number, most: number, base?: number): number[] {
  const found = base === 2 ? doublingTicks(min, max, most) : base ? decimalTicks(min, max, most) : undefined;
  return found ?? evenTicks(min, max, most);
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Ticks in seconds since 1970, UTC, and how they are written. */
export function timeTicks(min: number, max: number, most: number): { at: number[]; format: (seconds: number) => string } {
  const text = (from: number, to: number) => (seconds: number): string => new Date(seconds * 1000).toISOString().slice(from, to);
  const every = (step: number): number[] => Array.from({ length: Math.min(200, Math.max(0, Math.floor(max / step) - Math.ceil(min / step) + 1)) }, (_, index) => (Math.ceil(min / step) + index) * step);
  const months = (step: number): number[] => {
    const found: number[] = [];
    const first = new Date(min * 1000).getUTCFullYear() * 12;
    for (let month = first; found.length < 200; month += step) {
      const at = Date.UTC(Math.floor(month / 12), month % 12) / 1000;
      if (at > max) break;
      if (at >= min) found.push(at);
    }
    return found;
  };
  const span = max - min;
  const clock = [1, 5, 15, 30].map((step) => step * minute).concat([1, 2, 3, 6, 12].map((step) => step * hour));
  const format = span < 2 * day ? text(11, 16) : span < 100 * day ? text(5, 10) : text(0, 7);
  const lists = span < 2 * day ? clock.map(every) : span < 100 * day ? [1, 2, 7, 14].map((step) => every(step * day)) : [1, 2, 3, 6, 12, 24, 60].map(months);
  return { at: fitting(lists, most) ?? [min, max], format };
}
