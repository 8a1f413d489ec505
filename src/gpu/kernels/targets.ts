/**
 * Represents the offsets of a Plan on the GPU by slice numbers: target t is the slice that begins at element `t *
 * slice`. A skipped position has the target `NOWHERE`, so a Plan on the GPU needs no `source`.
 */

import { GPU } from "../../core/limits.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { NOWHERE, type Span } from "./kernel.ts";
import type { Dispatch, Recording } from "./recording.ts";

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

/** The WGSL function `targetOf(p)`, with which kernels look up targets, and its parameters. */
export interface Lookup {
  readonly name: string;
  readonly declarations: string;
  readonly params: Readonly<Record<string, number>>;
}

const FLAT: Lookup = {
  name: "flat",
  declarations: "fn targetOf(p: u32) -> u32 { return targets[p]; }",
  params: {},
};

const BATCHED = `fn targetOf(p: u32) -> u32 {
  let batch = p / params.count;
  let t = targets[(batch / params.repeat) * params.count + p % params.count];
  return select(batch * params.span + t, NOWHERE, t == NOWHERE);
}`;

export function lookupOf({ count, batches, repeat, span }: Targets): Lookup {
  // Targets of a single batch are counted from the beginning of the random side.
  if (batches === 1) return FLAT;
  return { name: "batched", declarations: BATCHED, params: { count, repeat, span } };
}

/**
 * WGSL that finds, for the element `i` of the sequential side, the target `t` and the element `to` of the random side.
 */
export const TO_ELEMENT = `  let t = targetOf(i / params.slice);
  if (t == NOWHERE) { return; }
  let to = t * params.slice + i % params.slice;`;

/**
 * Runs a kernel that looks up targets, by default for each position. `bytes` is the number of bytes that the kernel
 * moves in addition to the targets.
 */
export function runOnTargets(
  recording: Recording,
  targets: Targets,
  dispatch: Omit<Dispatch, "threads"> & { readonly threads?: number },
): void {
  const { name, declarations, params } = lookupOf(targets);
  const { read } = dispatch.buffers;
  recording.run({
    ...{ threads: positionsOf(targets), ...dispatch },
    name: `${dispatch.name} ${name}`,
    bytes: targets.targets.bytes + dispatch.bytes,
    params: { ...dispatch.params, ...params },
    buffers: { ...dispatch.buffers, read: { targets: targets.targets, ...read } },
    declarations: () => declarations + (dispatch.declarations?.() ?? ""),
  });
}

/** The rule for the position that a table stores for each target, which is the position with the greatest key. */
export type Which = "first" | "last";

const KEYS: Readonly<Record<Which, string>> = { first: "~i", last: "i + 1u" };

/** WGSL that changes a table's entry for the target `t` of each position. */
const CHANGES = {
  clear: "atomicStore(&table[t], 0u);",
  counts: "atomicAdd(&table[t], 1u);",
  first: `atomicMax(&table[t], ${KEYS.first});`,
  last: `atomicMax(&table[t], ${KEYS.last});`,
};

/**
 * Returns a table with the key of one position, or the number of positions, for each target on the random side. Entries
 * of slices that are not targets are 0 if `isWhole` is true, and otherwise arbitrary.
 */
export function tableOf(
  recording: Recording,
  targets: Targets,
  which: Which | "counts",
  isWhole: boolean,
): Span {
  const bytes = 4 * targets.slices;
  const isDense = isWhole || targets.slices <= GPU.sparse * positionsOf(targets);
  const table = isDense ? recording.zeros(bytes) : recording.scratch(bytes);
  for (const change of isDense ? [which] : (["clear", which] as const)) {
    runOnTargets(recording, targets, {
      name: `table, ${change},`,
      bytes: (change === "clear" ? 4 : 8) * mostHit(targets),
      buffers: { atomic: { table } },
      body: () => `  let t = targetOf(i);\n  if (t != NOWHERE) { ${CHANGES[change]} }`,
    });
  }
  return table;
}

/** Returns the targets that a kernel writes into `chosen`, one per position. */
function chosenBy(
  recording: Recording,
  targets: Targets,
  isDistinct: boolean,
  kernel: Pick<Dispatch, "name" | "bytes" | "params" | "body"> & { readonly table?: Span },
): Targets {
  const { table, ...dispatch } = kernel;
  const chosen = recording.scratch(4 * positionsOf(targets));
  const buffers = { ...(table && { read: { table } }), write: { chosen } };
  runOnTargets(recording, targets, { ...dispatch, bytes: dispatch.bytes + chosen.bytes, buffers });
  return flatTargets(targets, chosen, isDistinct);
}

/** Returns the targets of positions whose keys are in the table from `tableOf`, or of all other positions. */
export const chosenTargets = (
  recording: Recording,
  targets: Targets,
  table: Span,
  which: Which,
  isChosen: boolean,
): Targets =>
  chosenBy(recording, targets, isChosen, {
    ...{ name: `${isChosen ? "chosen" : "others"} ${which}`, bytes: 4 * mostHit(targets), table },
    body: () => `  let t = targetOf(i);
  var kept = NOWHERE;
  if (t != NOWHERE) { kept = select(NOWHERE, t, (table[t] == ${KEYS[which]}) == ${isChosen}); }
  chosen[i] = kept;`,
  });

/** Finds the last position of each target among few positions, by comparing each position with all later positions. */
export const lastOfFew = (recording: Recording, targets: Targets): Targets =>
  chosenBy(recording, targets, true, {
    ...{ name: "last of few", bytes: 0, params: { positions: positionsOf(targets) } },
    body: () => `  var kept = targetOf(i);
  for (var after = i + 1u; after < params.positions; after++) {
    if (targetOf(after) == kept) {
      kept = NOWHERE;
      break;
    }
  }
  chosen[i] = kept;`,
  });

/** Returns the targets in `chosen`, one per position, counted from the beginning of the random side. */
export const flatTargets = (targets: Targets, chosen: Span, isDistinct: boolean): Targets => ({
  ...targets,
  ...{ targets: chosen, count: positionsOf(targets), batches: 1, repeat: 1 },
  ...{ isPartial: true, isDistinct },
});
