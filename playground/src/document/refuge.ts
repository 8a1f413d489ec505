/** What outlives a load of the page: a state that the address does not hold yet, its undo, and the user's own call. */

import { readAround, type Around } from "./history-text.ts";

interface Left {
  /** The address when the page was left, with its `#`. */
  readonly at: string;
  /** The address before it, and the key of the entry: browsers may load an address again that was replaced since. */
  readonly was: string;
  readonly stop: string;
  /** The address of the state that was shown, with its `#`. */
  readonly to: string | null;
  /** The address of the user's own call; null where there is none. */
  readonly own: string | null;
  /** What undo and redo lead to. */
  readonly around: Around;
}

const KEY = "ndscatter-left";

/** Keeps it until the next load in this tab. Storage may be forbidden or full; then only the address holds the state. */
export function leave(left: Left): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(left));
  } catch {
    // There is no other place for it.
  }
}

/** Takes what the last load left, once. */
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
