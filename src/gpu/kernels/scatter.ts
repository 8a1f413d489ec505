/** A scatter on the GPU: which kernels do what a reduction asks for, one after the other. */

import { TensorError } from "../../core/errors.ts";
import type { DType, Steps } from "../../core/tensor/dtype.ts";
import { combineInAnyOrder, combineInOrder, isOrderFree, type SortedTargets } from "./combine.ts";
import { divideOnGpu } from "./divide.ts";
import { scatterOnGpu } from "./moves.ts";
import type { Recording, Span } from "./recording.ts";
import { sortTargets } from "./sort.ts";
import type { Guard } from "./status.ts";
import {
  chosenTargets,
  countsOfTargets,
  keysOfTargets,
  positionsOf,
  type Targets,
} from "./targets.ts";

/** What is made of targets for one kind of reduction. A kept plan makes each once, and keeps it. */
export interface Arrangements {
  /** The positions that win: the last one of each target. */
  last(recording: Recording): Targets;
  /** The first position of each target, and all others. */
  split(recording: Recording): { readonly first: Targets; readonly later: Targets };
  sorted(recording: Recording): SortedTargets;
}

/** Arrangements of targets that serve one call. */
export const arrangementsOf = (targets: Targets): Arrangements => ({
  last: (recording) => {
    const table = keysOfTargets(recording, targets, "last");
    return chosenTargets(recording, targets, table, "last", true);
  },
  split: (recording) => {
    const table = keysOfTargets(recording, targets, "first");
    return {
      first: chosenTargets(recording, targets, table, "first", true),
      later: chosenTargets(recording, targets, table, "first", false),
    };
  },
  sorted: (recording) => sortTargets(recording, targets),
});

/** Above, a quotient that is rounded once may not be the one that is rounded to a double first, as the reference has it. */
const MOST_COUNTED = 2 ** 27;

/**
 * Applies updates to `out`, which holds data.
 * @throws TensorError `too-large`
 */
export function applyUpdates(
  recording: Recording,
  targets: Targets,
  arrangements: Arrangements,
  { first, later, divides }: Steps,
  dtype: DType,
  updates: Span,
  out: Span,
  guard: Guard,
): void {
  const { slice, slices } = targets;
  const positions = positionsOf(targets);
  if (slice === 0 || positions === 0) return;
  if (divides && positions >= MOST_COUNTED) {
    const sentence = `a mean on a GPU takes fewer than ${MOST_COUNTED} updates, got ${positions}`;
    throw new TensorError("too-large", sentence);
  }
  if (later === "none") {
    scatterOnGpu(recording, arrangements.last(recording), dtype, updates, out, guard);
    return;
  }
  // Memory may be missing, so what takes it comes before so many dispatches that a part of them is submitted.
  const counts = divides ? countsOfTargets(recording, targets) : null;
  const parts = first === later ? null : arrangements.split(recording);
  const rest = parts?.later ?? targets;
  const sorted = isOrderFree(dtype, later)
    ? null
    : parts === null
      ? arrangements.sorted(recording)
      : sortTargets(recording, rest);
  if (parts !== null) scatterOnGpu(recording, parts.first, dtype, updates, out, guard);
  if (sorted !== null) combineInOrder(recording, sorted, dtype, later, updates, out, guard);
  else combineInAnyOrder(recording, rest, dtype, later, updates, out, guard);
  if (counts === null) return;
  const extra = first === "none" ? 0 : 1;
  divideOnGpu(recording, dtype, counts, slice, slice * slices, extra, out, guard);
}
