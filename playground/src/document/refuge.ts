/** Preserves data across a page load: an unwritten state, its undo history, and the user's own call. */

import { readAround, type Around } from "./history-text.ts";

interface Left {
  /** The page's URL fragment when the user left, with its `#`. */
  readonly at: string;
  /** The previous fragment and its history key, because a browser may reload a URL that was replaced since. */
  readonly was: string;
  readonly stop: string;
  /** The URL fragment of the visible state, with its `#`. */
  readonly to: string | null;
  /** The URL fragment of the user's own call, or null. */
  readonly own: string | null;
  readonly around: Around;
}

const KEY = "ndscatter-left";

/**
 * Saves the state until the next page load in this tab. If storage is forbidden or full, the state is preserved only in
 * the URL.
 */
export function leave(left: Left): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(left));
  } catch {}
}

/** Returns and removes the state that was saved before the page load. */
export function arrive(): Left | null {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    const left: unknown = JSON.parse(text ?? "null");
    const isLeft = typeof left === "object" && left !== null && "at" in left;
    if (!isLeft) return null;
    const [to, own] = ["to" in left ? left.to : null, "own" in left ? left.own : null];
    const stop = textOf("stop" in left ? left.stop : null) ?? "";
    const at = textOf(left.at) ?? "";
    const was = textOf("was" in left ? left.was : null) ?? at;
    const around = readAround("around" in left ? left.around : null);
    return { at, was, stop, to: textOf(to), own: textOf(own), around };
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
