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

/** WGSL that finds the target `t` of the element `i` of the sequential side, and its element `to` of the random side. */
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

/** Changes the table's entry for the target of each position with a WGSL statement. */
function changeTable(
  recording: Recording,
  targets: Targets,
  table: Span,
  name: string,
  statement: string,
): void {
  runOnTargets(recording, targets, {
    name,
    bytes: (name === "clear" ? 4 : 8) * mostHit(targets),
    buffers: { atomic: { table } },
    body: () => `  let t = targetOf(i);\n  if (t != NOWHERE) { ${statement} }`,
  });
}

/** Returns a table with the key of one position for each target on the random side. Other entries are never read. */
export function keysOfTargets(recording: Recording, targets: Targets, which: Which): Span {
  const { slices } = targets;
  if (slices <= GPU.sparse * positionsOf(targets)) return allKeys(recording, targets, which);
  const table = recording.scratch(4 * slices);
  changeTable(recording, targets, table, "clear", "atomicStore(&table[t], 0u);");
  return enterKeys(recording, targets, which, table);
}

/**
 * Returns a table with the key of one position for each slice on the random side, or 0 for slices that are not targets.
 */
export const allKeys = (recording: Recording, targets: Targets, which: Which): Span =>
  enterKeys(recording, targets, which, recording.zeros(4 * targets.slices));

function enterKeys(recording: Recording, targets: Targets, which: Which, table: Span): Span {
  const keep = `atomicMax(&table[t], ${KEYS[which]});`;
  changeTable(recording, targets, table, `keys ${which}`, keep);
  return table;
}

/** Counts the positions of each target on the random side. */
export function countsOfTargets(recording: Recording, targets: Targets): Span {
  const table = recording.zeros(4 * targets.slices);
  changeTable(recording, targets, table, "counts", "atomicAdd(&table[t], 1u);");
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
): Targets {
  const chosen = recording.scratch(4 * positionsOf(targets));
  runOnTargets(recording, targets, {
    name: `${isChosen ? "chosen" : "others"} ${which}`,
    bytes: 4 * (mostHit(targets) + positionsOf(targets)),
    buffers: { read: { table }, write: { chosen } },
    body: () => `  let t = targetOf(i);
  var kept = NOWHERE;
  if (t != NOWHERE) { kept = select(NOWHERE, t, (table[t] == ${KEYS[which]}) == ${isChosen}); }
  chosen[i] = kept;`,
  });
  return flatTargets(targets, chosen, isChosen);
}

/** Finds the last position of each target among few positions, by comparing each position with all later positions. */
export function lastOfFew(recording: Recording, targets: Targets): Targets {
  const positions = positionsOf(targets);
  const chosen = recording.scratch(4 * positions);
  runOnTargets(recording, targets, {
    name: "last of few",
    bytes: 4 * positions,
    params: { positions },
    buffers: { write: { chosen } },
    body: () => `  var kept = targetOf(i);
  for (var after = i + 1u; after < params.positions; after++) {
    if (targetOf(after) == kept) {
      kept = NOWHERE;
      break;
    }
  }
  chosen[i] = kept;`,
  });
  return flatTargets(targets, chosen, true);
}

/** Returns the targets in `chosen`, one per position, counted from the beginning of the random side. */
export const flatTargets = (targets: Targets, chosen: Span, isDistinct: boolean): Targets => ({
  ...targets,
  ...{ targets: chosen, count: positionsOf(targets), batches: 1, repeat: 1 },
  ...{ isPartial: true, isDistinct },
});
