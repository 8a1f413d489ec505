/** Chooses the kernels for the reduction of a scatter. */

import { TensorError } from "../../core/errors.ts";
import { GPU } from "../../core/limits.ts";
import type { Steps } from "../../core/tensor/dtype.ts";
import {
  combineInAnyOrder,
  combineInOrder,
  divideOnGpu,
  isOrderFree,
  type SortedTargets,
} from "./combine.ts";
import type { Span } from "./kernel.ts";
import {
  copyOnGpu,
  isPullShorter,
  pullOnGpu,
  scatterOnGpu,
  type Made,
  type Operands,
} from "./moves.ts";
import type { Recording } from "./recording.ts";
import { sortTargets } from "./sort.ts";
import { chosenTargets, lastOfFew, positionsOf, tableOf, type Targets } from "./targets.ts";

/** The targets of a call, and their arrangements for different reductions. */
export interface Placed {
  readonly targets: Targets;
  /** Returns the last position of each target. */
  last(recording: Recording): Targets;
  /** Returns true if a table with one word per slice on the random side determines the last positions. */
  hasTable(): boolean;
  sorted(recording: Recording): SortedTargets;
}

/** Returns targets that kernels arrange in each call. */
export const placedOnGpu = (targets: Targets): Placed => ({
  targets,
  last: (recording) => lastOf(recording, targets),
  hasTable: () => !targets.isDistinct && !areFew(targets),
  sorted: (recording) => sortTargets(recording, targets),
});

const areFew = (targets: Targets): boolean => positionsOf(targets) <= GPU.alone;

function lastOf(recording: Recording, targets: Targets): Targets {
  if (targets.isDistinct) return targets;
  if (areFew(targets)) return lastOfFew(recording, targets);
  const table = tableOf(recording, targets, "last", false);
  return chosenTargets(recording, targets, table, "last", true);
}

/** Returns the first position of each target, and all other positions. */
export function splitTargets(
  recording: Recording,
  targets: Targets,
): { readonly first: Targets; readonly later: Targets } {
  const table = tableOf(recording, targets, "first", false);
  return {
    first: chosenTargets(recording, targets, table, "first", true),
    later: chosenTargets(recording, targets, table, "first", false),
  };
}

/** Fills `out` with data, unless `out` is data itself. */
export function copyData(recording: Recording, data: Span, made: Made): void {
  // A new result is filled with `data` even if the call has failed.
  if (made.result === "new") recording.copy(data, made.out);
  else if (made.result === "given") copyOnGpu(recording, data, made);
}

/**
 * The maximum number of values in a mean. Beyond this number, a quotient that is rounded once may differ from the
 * reference, which first rounds to a double.
 */
const MOST_COUNTED = 2 ** 27;

/** Throws a `too-large` error if a mean does not support so many updates. */
export function checkCounted(what: string, positions: number): void {
  if (positions < MOST_COUNTED) return;
  const sentence = `${what} on a GPU supports fewer than ${MOST_COUNTED} updates, got ${positions}`;
  throw new TensorError("too-large", sentence, { got: positions, limit: MOST_COUNTED - 1 });
}

/** Fills `out` with data, and applies updates. Throws a `too-large` error beyond the device's limits. */
export function applyUpdates(
  recording: Recording,
  placed: Placed,
  { first, later, divides }: Steps,
  operands: Operands,
): void {
  const { targets } = placed;
  const { dtype, out, result } = operands;
  const positions = positionsOf(targets);
  if (targets.slice === 0 || positions === 0) return copyData(recording, operands.data, operands);
  if (divides) checkCounted("a mean", positions);
  if (later === "none") {
    if (result !== "in place" && placed.hasTable() && isPullShorter(targets, dtype)) {
      pullOnGpu(recording, targets, operands);
      return;
    }
    copyData(recording, operands.data, operands);
    scatterOnGpu(recording, placed.last(recording), operands);
    return;
  }
  // All memory is allocated before dispatches are recorded, because memory may be exhausted and long series of
  // dispatches are submitted in parts.
  const counts = divides ? tableOf(recording, targets, "counts", true) : null;
  const parts = first === later ? null : splitTargets(recording, targets);
  const rest = parts?.later ?? targets;
  const sorted = isOrderFree(dtype, later)
    ? null
    : parts === null
      ? placed.sorted(recording)
      : sortTargets(recording, rest);
  copyData(recording, operands.data, operands);
  if (parts !== null) scatterOnGpu(recording, parts.first, operands);
  if (sorted !== null) combineInOrder(recording, sorted, later, operands);
  else combineInAnyOrder(recording, rest, later, operands);
  if (counts === null) return;
  const extra = first === "none" ? 0 : 1;
  divideOnGpu(recording, dtype, counts, targets, extra, out);
}
