// SPDX-License-Identifier: Apache-2.0
//
// Choices of the reader, kept behind the # of the address, so that a link shows the same to the next reader.

export interface State {
  words: string; // of the filter box
  family: Set<string>; // chosen ones; none chosen means all
  library: Set<string>;
  outcome: Set<string>;
  hiddenSides: Set<string>; // labels
  hiddenColumns: Set<string>;
  sort: string; // column, "" is the order of the file
  down: boolean;
  theme: string; // "", "light", "dark"
}
type SetName = "family" | "library" | "outcome" | "hiddenSides" | "hiddenColumns";
const sets: [SetName, string][] = [
  ["family", "family"], ["library", "library"], ["outcome", "outcome"],
  ["hiddenSides", "without"], ["hiddenColumns", "hide"],
];

/** A row of a table that can be filtered, with the values that filters need. */
export interface Item {
  text: string; // lower case
  family: string; // "" belongs to all
  libraries: string[]; // none belongs to all
  outcomes: string[];
}

export function readState(hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const sort = given.get("sort") ?? "";
  const state: State = {
    words: given.get("q") ?? "",
    family: new Set(), library: new Set(), outcome: new Set(), hiddenSides: new Set(), hiddenColumns: new Set(),
    sort: sort.replace(/^-/, ""),
    down: sort.startsWith("-"),
    theme: given.get("theme") ?? "",
  };
  // One entry for each member: a label may hold any separator.
  for (const [name, key] of sets) state[name] = new Set(given.getAll(key));
  return state;
}

export function writeState(state: State): string {
  const out = new URLSearchParams();
  if (state.words) out.set("q", state.words);
  for (const [name, key] of sets) for (const member of state[name]) out.append(key, member);
  if (state.sort) out.set("sort", (state.down ? "-" : "") + state.sort);
  if (state.theme) out.set("theme", state.theme);
  return out.toString();
}

export function matches(state: State, item: Item): boolean {
  if (state.family.size && item.family && !state.family.has(item.family)) return false;
  if (state.library.size && item.libraries.length && !item.libraries.some((library) => state.library.has(library))) return false;
  if (state.outcome.size && !item.outcomes.some((outcome) => state.outcome.has(outcome))) return false;
  return state.words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => item.text.includes(word));
}

export class Store {
  state: State = readState(location.hash);
  private listeners: ((what: Set<keyof State>) => void)[] = [];
  private written = location.hash.replace(/^#/, "");

  constructor() {
    addEventListener("hashchange", () => {
      const hash = location.hash.replace(/^#/, "");
      if (hash === this.written || !(hash === "" || hash.includes("="))) return; // a link to a section
      this.written = hash;
      this.state = readState(hash);
      this.tell(new Set(Object.keys(this.state) as (keyof State)[]));
    });
  }

  listen(listener: (what: Set<keyof State>) => void): void {
    this.listeners.push(listener);
  }

  change(part: Partial<State>): void {
    Object.assign(this.state, part);
    this.written = writeState(this.state);
    try {
      history.replaceState(null, "", this.written ? `#${this.written}` : location.pathname + location.search);
    } catch {
      location.hash = this.written; // where a frame forbids the other
    }
    this.tell(new Set(Object.keys(part) as (keyof State)[]));
  }

  toggle(name: SetName, member: string): void {
    const members = new Set(this.state[name]);
    if (!members.delete(member)) members.add(member);
    this.change({ [name]: members });
  }

  private tell(what: Set<keyof State>): void {
    for (const listener of this.listeners) listener(what);
  }
}
