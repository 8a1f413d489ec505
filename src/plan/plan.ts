/**
 * The Plan: a validated set of flat offsets. Operators make Plans, engines carry them out:
 *
 *     gather:   out[p] = data[offset p]
 *     scatter:  out[offset p] = f(out[offset p], updates[p])
 *
 * where each step moves or combines one slice of contiguous elements, in the order of p. A Plan knows nothing of data
 * types, and the same Plan gathers and scatters. All offsets have been checked before a Plan exists.
 */

/** Everything counts elements, but `count`, `batches` and `source`, which count offsets, batches and slices. */
export interface Plan {
  /**
   * Where each slice begins on the random side (data or output), relative to its batch, in row-major order of the
   * indices. Of length `count` when one batch's offsets serve all batches, else `batches * count`.
   */
  readonly offsets: Uint32Array;
  /** Elements per offset. */
  readonly slice: number;
  /** Offsets per batch. */
  readonly count: number;
  /** Elements of the random side. */
  readonly size: number;
  /** Batch b lies in elements `b * span` to `(b + 1) * span` of the random side, and nothing reaches out of it. */
  readonly batches: number;
  readonly span: number;
  /**
   * The position of each offset on the sequential side (updates or output), in slices; by default its own, batch
   * after batch. Only Plans of one batch have it: see {@link split} and {@link without}.
   */
  readonly source?: Uint32Array;
  /** Where there is one, two offsets whose positions differ by more than a multiple of it have different targets. */
  readonly lanes?: number;
}

/**
 * The same Plan with fewer, longer slices where offsets form contiguous runs of one length: a ScatterElements whose
 * indices are equal along each row becomes a scatter of rows (measured on 200000 x 128 float32: 50 to 20 ms).
 */
export function coarsen(plan: Plan): Plan {
  const { offsets, slice, count } = plan;
  if (plan.source !== undefined || slice === 0) return plan;
  // The longest common run is the greatest common divisor of all places where a run breaks off. Random offsets break
  // at 1 within a few steps, so that looking costs next to nothing where there is nothing to find.
  let run = count;
  for (let p = 1; p < offsets.length && run > 1; p++) {
    if (offsets[p] !== offsets[p - 1] + slice) run = greatestCommonDivisor(run, p);
  }
  if (run <= 1) return plan;
  const starts = new Uint32Array(offsets.length / run);
  for (let p = 0; p < starts.length; p++) starts[p] = offsets[p * run];
  return { ...plan, offsets: starts, slice: slice * run, count: count / run, lanes: 1 };
}

export function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** The offsets of all batches from the beginning of the random side, in order. Those of one batch are not copied. */
export function absoluteOffsets({ offsets, count, batches, span }: Plan): Uint32Array {
  // There may be any number of batches without offsets.
  if (batches === 1 || count === 0) return offsets;
  const absolute = new Uint32Array(batches * count);
  const shared = offsets.length === count;
  for (let batch = 0, p = 0; batch < batches; batch++) {
    const first = shared ? 0 : batch * count;
    const base = batch * span;
    for (let i = 0; i < count; i++, p++) absolute[p] = base + offsets[first + i];
  }
  return absolute;
}

/**
 * Two Plans that do the work of one in two parts: the first touch of each target, and all later ones, each in the
 * old order. They have one batch, and `source` says where their updates stand. Of a coarsened Plan the slices may
 * overlap in part, so split before.
 */
export function split(plan: Plan): { first: Plan; later: Plan } {
  const { slice, size } = plan;
  const offsets = absoluteOffsets(plan);
  const total = offsets.length;
  const isNew = targetSet(slice === 0 ? 0 : size / slice, total);
  const positions = { first: new Uint32Array(total), later: new Uint32Array(total) };
  const targets = { first: new Uint32Array(total), later: new Uint32Array(total) };
  const filled = { first: 0, later: 0 };
  for (let p = 0; p < total; p++) {
    const target = offsets[p];
    // Where slices are empty there is nothing to touch twice.
    const part = slice === 0 || isNew(target / slice) ? "first" : "later";
    positions[part][filled[part]] = plan.source?.[p] ?? p;
    targets[part][filled[part]++] = target;
  }
  const planOf = (part: "first" | "later"): Plan => ({
    offsets: targets[part].slice(0, filled[part]),
    source: positions[part].slice(0, filled[part]),
    slice,
    count: filled[part],
    size,
    batches: 1,
    span: size,
  });
  return { first: planOf("first"), later: planOf("later") };
}

/** How often each target of the first part of a {@link split} is met in both. */
export function countTargets(first: Plan, later: Plan): Uint32Array {
  const repeats = new Map<number, number>();
  for (const target of later.offsets) repeats.set(target, (repeats.get(target) ?? 0) + 1);
  return first.offsets.map((target) => 1 + (repeats.get(target) ?? 0));
}

/**
 * The Plan without the offsets that are marked; `leftOut` has one byte for each offset that it says. It has one batch,
 * and `source` says where the others stand.
 */
export function without(plan: Plan, leftOut: Uint8Array): Plan {
  const offsets = absoluteOffsets(plan);
  const targets = new Uint32Array(offsets.length);
  const positions = new Uint32Array(offsets.length);
  let kept = 0;
  for (let p = 0; p < offsets.length; p++) {
    // One batch's marks serve all, as its offsets do.
    if (leftOut[p % leftOut.length] !== 0) continue;
    targets[kept] = offsets[p];
    positions[kept++] = p;
  }
  const { slice, size } = plan;
  return {
    offsets: targets.slice(0, kept),
    source: positions.slice(0, kept),
    slice,
    count: kept,
    size,
    batches: 1,
    span: size,
  };
}

/**
 * A function that says whether a target below `targets` is met for the first time. A bit for each target is fastest;
 * where they would outweigh the offsets themselves by far, a Set holds those that are met.
 */
function targetSet(targets: number, touches: number): (target: number) => boolean {
  if (targets / 8 > 64 * touches + 1024) {
    const seen = new Set<number>();
    return (target) => seen.size < seen.add(target).size;
  }
  const seen = new Uint32Array(Math.ceil(targets / 32));
  return (target) => {
    const word = Math.floor(target / 32);
    const bit = 1 << (target % 32);
    const isNew = (seen[word] & bit) === 0;
    seen[word] |= bit;
    return isNew;
  };
}
