/** Saves data across a page load: a state that is not in the address yet, its undo history, and the user's own call. */

import { readAround, type Around } from "./history-text.ts";

interface Left {
  /** The address at the moment when the user left the page, with its `#`. */
  readonly at: string;
  /**
   * Previous address and the key of its history entry: a browser may reload an address that has been replaced since.
   */
  readonly was: string;
  readonly stop: string;
  /** The address of the state that was shown, with its `#`. */
  readonly to: string | null;
  /** The address of the user's own call; null if the user has none. */
  readonly own: string | null;
  /** The steps of undo and redo. */
  readonly around: Around;
}

const KEY = "ndscatter-left";

/**
 * Saves the state until the next page load in this tab. If storage is forbidden or full, only the address holds the
 * state.
 */
export function leave(left: Left): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(left));
  } catch {
    // If storage fails, only the address holds the state.
  }
}

/** Returns the state that the last page load saved, and removes it. */
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
