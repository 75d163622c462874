// SPDX-License-Identifier: Apache-2.0
//
// Elements, made of plain text: nothing here reads markup, so what a result file says stays text.

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

/** h("p", { class: "sub" }, "text") */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, attributes);
  add(element, ...children);
  return element;
}

export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function add(element: Element, ...children: Child[]): void {
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
}

/** An element of SVG. */
export function s(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  add(element, ...children);
  return element;
}

let made = 0;
/** An id that no other element has. */
export const unique = (stem: string): string => `${stem}-${++made}`;

/** Text for people who listen; invisible. */
export const hidden = (text: string): HTMLElement => h("span", { class: "unseen" }, text);
