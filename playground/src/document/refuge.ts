/**
 * The state that outlives a load of the page: one that the address does not hold yet, its undo, and the user's own
 * call.
 */

import { readAround, type Around } from "./history-text.ts";

interface Left {
  /** The address when the page was left, with its `#`. */
  readonly at: string;
  /** The previous address, and the key of the entry: a browser may reload an address that has been replaced since. */
  readonly was: string;
  readonly stop: string;
  /** The address of the state that was shown, with its `#`. */
  readonly to: string | null;
  /** The address of the user's own call; null for none. */
  readonly own: string | null;
  /** The steps of undo and redo. */
  readonly around: Around;
}

const KEY = "ndscatter-left";

/**
 * Keeps the state until the next load in this tab. Storage may be forbidden or full; the state is then only in the
 * address.
 */
export function leave(left: Left): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(left));
  } catch {
    // The state is then only in the address.
  }
}

/** Returns the state of the last load, once. */
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
