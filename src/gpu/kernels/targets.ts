/**
 * Represents the offsets of a Plan on the GPU by slice numbers: target t is the slice that begins at element `t *
 * slice`. A skipped position has the target `NOWHERE`, so a Plan on the GPU needs no `source`.
 */

import { GPU } from "../../core/limits.ts";
import { absoluteOffsets, type Plan } from "../../core/plan/plan.ts";
import { kernelOf, NOWHERE, type BufferKind } from "./kernel.ts";
import type { Recording, Span } from "./recording.ts";

/** A Plan without offsets, which may exist only on the GPU. */
export type PlanForm = Pick<Plan, "slice" | "count" | "size" | "batches" | "span">;

export interface Targets {
  /** The target of each index, relative to the start of the batch. */
  readonly targets: Span;
  /** The number of positions per batch. */
  readonly count: number;
  readonly batches: number;
  /** The number of consecutive batches with the same targets. */
  readonly repeat: number;
  /** The number of slices per batch. */
  readonly span: number;
  readonly slices: number;
  /** The number of elements per slice. */
  readonly slice: number;
  /** True if positions without a target are possible. */
  readonly isPartial: boolean;
  /** True if no target is repeated; false if repeats are possible. */
  readonly isDistinct: boolean;
}

/** Returns the number of positions in all batches. */
export const positionsOf = ({ count, batches }: Targets): number => count * batches;

/** Returns the maximum number of different targets. */
export const mostHit = (targets: Targets): number => Math.min(positionsOf(targets), targets.slices);

/** `indices` is the number of indices or index tuples, each of which has one target. */
export function targetsOf(
  form: PlanForm,
  indices: number,
  targets: Span,
  known: Pick<Targets, "isPartial" | "isDistinct">,
): Targets {
  const { slice, count, size, batches, span } = form;
  const isEmpty = count === 0 || slice === 0;
  return {
    targets,
    count: isEmpty ? 0 : count,
    batches,
    repeat: isEmpty ? 1 : (batches * count) / indices,
    span: isEmpty ? 0 : span / slice,
    slices: isEmpty ? 0 : size / slice,
    slice,
    ...known,
  };
}

/**
 * Converts offsets on the host to targets. `positions` is the number of slices on the sequential side, which includes
 * skipped positions.
 */
export function targetsFrom(plan: Plan, positions: number): Uint32Array {
  const { offsets, source, slice } = plan;
  if (slice === 0) return new Uint32Array();
  if (source === undefined) return slice === 1 ? offsets : offsets.map((offset) => offset / slice);
  const targets = new Uint32Array(positions).fill(NOWHERE);
  for (const [p, position] of source.entries()) targets[position] = offsets[p] / slice;
  return targets;
}

/** Returns the targets of all batches, like `targetsFrom`, but counted from the beginning of the random side. */
export const flatTargetsFrom = (plan: Plan, positions: number): Uint32Array =>
  targetsFrom({ ...plan, offsets: absoluteOffsets(plan) }, positions);

/** Returns true if the buffer contains the target of each position, counted from the beginning of the random side. */
const isFlat = ({ batches }: Targets): boolean => batches === 1;

/** The WGSL function `targetOf(p)`, with which kernels look up targets, and its parameters. */
export interface Lookup {
  readonly name: string;
  readonly declarations: string;
  readonly params: readonly string[];
}

const FLAT: Lookup = {
  name: "flat",
  declarations: "fn targetOf(p: u32) -> u32 { return targets[p]; }",
  params: [],
};

const BATCHED: Lookup = {
  name: "batched",
  declarations: `fn targetOf(p: u32) -> u32 {
  let batch = p / params.count;
  let t = targets[(batch / params.repeat) * params.count + p % params.count];
  return select(batch * params.span + t, NOWHERE, t == NOWHERE);
}`,
  params: ["count", "repeat", "span"],
};

export const lookupOf = (targets: Targets): Lookup => (isFlat(targets) ? FLAT : BATCHED);

/** Returns the parameters of `lookupOf`. */
export const lookupParams = ({ count, repeat, span }: Targets): Record<string, number> => ({
  count,
  repeat,
  span,
});

/**
 * Runs a kernel for each position, with its target in `t`. `bytes` is the number of bytes that the kernel moves in
 * addition to the targets.
 */
function forEachTarget(
  recording: Recording,
  targets: Targets,
  name: string,
  bytes: number,
  kinds: Readonly<Record<string, BufferKind>>,
  buffers: Readonly<Record<string, Span>>,
  statement: string,
): void {
  const lookup = lookupOf(targets);
  const kernel = kernelOf(`${name} ${lookup.name}`, () => ({
    params: lookup.params,
    buffers: { targets: "read", ...kinds },
    declarations: lookup.declarations,
    body: `  let t = targetOf(i);\n  ${statement}`,
  }));
  const all = { targets: targets.targets, ...buffers };
  const moved = targets.targets.bytes + bytes;
  recording.run(kernel, positionsOf(targets), moved, lookupParams(targets), all);
}

/** The rule for the position that a table stores for each target, which is the position with the greatest key. */
export type Which = "first" | "last";

const KEYS: Readonly<Record<Which, string>> = { first: "~i", last: "i + 1u" };

/**
 * Returns a table with one entry per slice on the random side, which is 0 for every target. Other entries are never
 * read.
 */
function clearedTable(recording: Recording, targets: Targets): Span {
  const { slices } = targets;
  if (slices <= GPU.sparse * positionsOf(targets)) return recording.zeros(4 * slices);
  const table = recording.scratch(4 * slices);
  const clear = "if (t != NOWHERE) { atomicStore(&table[t], 0u); }";
  const bytes = 4 * mostHit(targets);
  forEachTarget(recording, targets, "clear", bytes, { table: "atomic" }, { table }, clear);
  return table;
}

/** Returns a table with the key of one position for each target on the random side. */
export function keysOfTargets(recording: Recording, targets: Targets, which: Which): Span {
  const table = clearedTable(recording, targets);
  enterKeys(recording, targets, which, table);
  return table;
}

/**
 * Returns a table with the key of the last position for each slice on the random side, or 0 for slices that are not
 * targets.
 */
export function lastKeys(recording: Recording, targets: Targets): Span {
  const table = recording.zeros(4 * targets.slices);
  enterKeys(recording, targets, "last", table);
  return table;
}

function enterKeys(recording: Recording, targets: Targets, which: Which, table: Span): void {
  const keep = `if (t != NOWHERE) { atomicMax(&table[t], ${KEYS[which]}); }`;
  const bytes = 8 * mostHit(targets);
  forEachTarget(recording, targets, `keys ${which}`, bytes, { table: "atomic" }, { table }, keep);
}

/** Counts the positions of each target on the random side. */
export function countsOfTargets(recording: Recording, targets: Targets): Span {
  const table = recording.zeros(4 * targets.slices);
  const count = "if (t != NOWHERE) { atomicAdd(&table[t], 1u); }";
  const bytes = 8 * mostHit(targets);
  forEachTarget(recording, targets, "counts", bytes, { table: "atomic" }, { table }, count);
  return table;
}

/**
 * Returns the targets of positions whose keys are in the table, or of all other positions. `table` is the table from
 * `keysOfTargets`.
 */
export function chosenTargets(
  recording: Recording,
  targets: Targets,
  table: Span,
  which: Which,
  isChosen: boolean,
  chosen = recording.scratch(4 * positionsOf(targets)),
): Targets {
  forEachTarget(
    recording,
    targets,
    `${isChosen ? "chosen" : "others"} ${which}`,
    4 * (mostHit(targets) + positionsOf(targets)),
    { table: "read", chosen: "write" },
    { table, chosen },
    `var kept = NOWHERE;
  if (t != NOWHERE) { kept = select(NOWHERE, t, (table[t] == ${KEYS[which]}) == ${isChosen}); }
  chosen[i] = kept;`,
  );
  return flatTargets(targets, chosen, isChosen);
}

/** Finds the last position of each target among few positions, by comparing each position with all later positions. */
export function lastOfFew(
  recording: Recording,
  targets: Targets,
  chosen = recording.scratch(4 * positionsOf(targets)),
): Targets {
  const positions = positionsOf(targets);
  const lookup = lookupOf(targets);
  const kernel = kernelOf(`last of few ${lookup.name}`, () => ({
    params: ["positions", ...lookup.params],
    buffers: { targets: "read", chosen: "write" },
    declarations: lookup.declarations,
    body: `  var kept = targetOf(i);
  for (var after = i + 1u; after < params.positions; after++) {
    if (targetOf(after) == kept) {
      kept = NOWHERE;
      break;
    }
  }
  chosen[i] = kept;`,
  }));
  const params = { ...lookupParams(targets), positions };
  const bytes = targets.targets.bytes + 4 * positions;
  recording.run(kernel, positions, bytes, params, { targets: targets.targets, chosen });
  return flatTargets(targets, chosen, true);
}

/** Returns the targets in `chosen`, one per position, counted from the beginning of the random side. */
const flatTargets = (targets: Targets, chosen: Span, isDistinct: boolean): Targets => ({
  ...targets,
  ...{ targets: chosen, count: positionsOf(targets), batches: 1, repeat: 1 },
  ...{ isPartial: true, isDistinct },
});
