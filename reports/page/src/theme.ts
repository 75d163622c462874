// SPDX-License-Identifier: Apache-2.0
//
// The colours of the style sheet, for charts; and light or dark by choice of the reader.

export interface Theme {
  paper: string;
  card: string;
  ink: string;
  soft: string;
  line: string;
  faint: string;
  good: string;
  warn: string;
  bad: string;
  mark: string;
  heat: string;
  sides: string[];
  font: string;
}

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: colour("paper"), card: colour("card"), ink: colour("ink"), soft: colour("soft"), line: colour("line"),
    faint: colour("faint"), good: colour("good"), warn: colour("warn"), bad: colour("bad"), mark: colour("mark"),
    heat: colour("heat"),
    sides: [0, 1, 2, 3, 4, 5].map((index) => colour(`c${index}`)),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** The rules that the style sheet has for a dark screen: switching them is switching the theme. */
let darkRules: CSSMediaRule[] | null = null;
function findDarkRules(): CSSMediaRule[] {
  const found: CSSMediaRule[] = [];
  for (const sheet of Array.from(document.styleSheets))
    for (const rule of Array.from(sheet.cssRules))
      if (rule instanceof CSSMediaRule && rule.media.mediaText.includes("prefers-color-scheme")) found.push(rule);
  return found;
}

const system = "(prefers-color-scheme: dark)";
export const systemIsDark = (): boolean => matchMedia(system).matches;

export function isDark(choice: string): boolean {
  return choice === "dark" || (choice !== "light" && systemIsDark());
}

export function useTheme(choice: string): void {
  darkRules ??= findDarkRules();
  const media = choice === "dark" ? "all" : choice === "light" ? "not all" : system;
  for (const rule of darkRules) rule.media.mediaText = media;
  document.documentElement.style.colorScheme = choice === "dark" || choice === "light" ? choice : "";
}

function channels(colour: string): [number, number, number] {
  const hex = colour.replace("#", "");
  const full = hex.length === 3 ? hex.replace(/./g, "$&$&") : hex;
  const number = parseInt(full.slice(0, 6), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

/** `share` of `over`, the rest `under`; both as #rrggbb. */
export function mix(over: string, under: string, share: number): string {
  const a = channels(over);
  const b = channels(under);
  return `rgb(${a.map((value, index) => Math.round(value * share + (b[index] as number) * (1 - share))).join(",")})`;
}
