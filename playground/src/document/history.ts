/** The visited documents for undo and redo. Documents share the parts that an edit leaves unchanged. */

import type { Document } from "./document.ts";

export interface History {
  readonly past: readonly Document[];
  readonly present: Document;
  readonly future: readonly Document[];
}

/**
 * The maximum number of undo steps, which is more than a user undoes. An edited tensor of 20,000 elements takes 80 to
 * 160 kB, because its other texts are shared.
 */
export const MOST_STEPS = 200;

export const historyOf = (present: Document): History => ({ past: [], present, future: [] });

/** Returns the history with a new document. Steps that were undone earlier can no longer be redone. */
export const pushed = (history: History, next: Document): History =>
  next === history.present
    ? history
    : { past: [...history.past, history.present].slice(-MOST_STEPS), present: next, future: [] };

/** Returns the history after one undo, or the same history if nothing can be undone. */
export function undone(history: History): History {
  const { past, present, future } = history;
  const before = past.at(-1);
  if (before === undefined) return history;
  return { past: past.slice(0, -1), present: before, future: [present, ...future] };
}

export function redone(history: History): History {
  const { past, present, future } = history;
  const [next] = future;
  if (next === undefined) return history;
  return { past: [...past, present], present: next, future: future.slice(1) };
}
