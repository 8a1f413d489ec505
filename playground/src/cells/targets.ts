/**
 * Assigns a colour to each target, which is a slice that updates write or a gather reads. If the call has more targets
 * than colours, only targets shared by several updates are coloured.
 */

import type { Links } from "./links.ts";

export const HUES = 7;
/** Marks elements whose target has no colour. */
export const PLAIN = 7;

export interface Targets {
  /** The slice of data that each update writes or each read copies, or -1. */
  readonly sliceOf: Int32Array;
  /** The slice that each index tuple addresses; -1 if the tuple addresses no slice or several slices. */
  readonly ofTuple: Int32Array;
  /** Returns a slice's colour: 0 to 6, `PLAIN`, or -1 for a slice that no update reaches. */
  hueOf(slice: number): number;
}

export function targetsOf(links: Links): Targets {
  const { reached, count, tupleOf, tuples } = links;
  const sliceOf = new Int32Array(count).fill(-1);
  for (const [slice, orders] of reached) for (const order of orders) sliceOf[order] = slice;
  const ofTuple = new Int32Array(tuples.length).fill(-2);
  for (let order = 0; order < count; order++) {
    const tuple = tupleOf[order];
    const before = ofTuple[tuple];
    ofTuple[tuple] = before === -2 || before === sliceOf[order] ? sliceOf[order] : -1;
  }
  const hues = new Map<number, number>();
  const isShared = (slice: number): boolean => (reached.get(slice)?.length ?? 0) > 1;
  const all = [...reached.keys()];
  const wanted = all.length <= HUES ? all : all.filter(isShared);
  const coloured = wanted.toSorted((a, b) => a - b).slice(0, HUES);
  // A target gets the colour with its own number unless another target already has this colour. Colours therefore stay
  // the same when targets are added or removed.
  const free = new Set(Array.from({ length: HUES }, (_, hue) => hue));
  const later: number[] = [];
  for (const slice of coloured) {
    const own = slice % HUES;
    if (free.delete(own)) hues.set(slice, own);
    else later.push(slice);
  }
  for (const slice of later) {
    const [hue = PLAIN] = free;
    free.delete(hue);
    hues.set(slice, hue);
  }
  return {
    sliceOf,
    ofTuple,
    hueOf: (slice) => (slice < 0 ? PLAIN : reached.has(slice) ? (hues.get(slice) ?? PLAIN) : -1),
  };
}

/** Returns each element's colour; -1 for an element without a colour. */
export function tintsOf(links: Links, targets: Targets, role: string, size: number): Int8Array {
  const tints = new Int8Array(size).fill(-1);
  const isCarrier = role === (links.kind === "gather" ? "output" : "updates");
  if (role === "indices") {
    for (let element = 0; element < size; element++) {
      const tuple = links.indexed[element];
      if (tuple >= 0) tints[element] = targets.hueOf(targets.ofTuple[tuple]);
    }
  } else if (isCarrier) {
    for (let element = 0; element < size; element++) {
      const order = links.carried[element];
      if (order >= 0) tints[element] = targets.hueOf(targets.sliceOf[order]);
    }
  } else if (role === "data" || role === "output") {
    const { slice: length } = links;
    for (const slice of links.reached.keys()) {
      const hue = targets.hueOf(slice);
      // An assignment is faster than `fill` for a single element.
      if (length === 1) tints[slice] = hue;
      else tints.fill(hue, slice * length, (slice + 1) * length);
    }
  }
  return tints;
}
