// SPDX-License-Identifier: Apache-2.0
//
// Work that need not be done before the reader sees the top of the page: done in pieces while the browser is
// idle, and at once where the page is printed.

const tasks: (() => void)[] = [];
let scheduled = false;

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  // Safari has no requestIdleCallback; a short timeout leaves it room as well.
  if (typeof requestIdleCallback === "function") requestIdleCallback((idle) => work(() => idle.timeRemaining() > 3), { timeout: 500 });
  else setTimeout(() => work(), 16);
}

function work(more: () => boolean = budget(12)): void {
  scheduled = false;
  do tasks.shift()?.();
  while (tasks.length && more());
  if (tasks.length) schedule();
  else performance.mark("assay:complete");
}

function budget(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds;
  return () => performance.now() < end;
}

export function later(task: () => void): void {
  tasks.push(task);
  schedule();
}

export function finishNow(): void {
  while (tasks.length) tasks.shift()?.();
}
