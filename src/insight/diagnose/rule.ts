/**
 * Defines rules, which contain all data that determine the result of a call. The function `run` applies the rule of the
 * specification, and a hypothesis changes part of this rule. This file converts a rule to a Plan with the same planners
 * as `run`.
 */

import type { Call } from "../../core/call/call.ts";
import { isFloat } from "../../core/call/steps.ts";
import { isTensorError, type ErrorCode } from "../../core/errors.ts";
import { readIndices } from "../../core/kernels/read-indices.ts";
import { planIndices, type PlanInputs, type Settings } from "../../core/operators/operator.ts";
import { indexAt, indexWordsOf } from "../../core/plan/indices.ts";
import { absoluteOffsets, planOf, without, type Plan } from "../../core/plan/plan.ts";
import { sortAllTargets } from "../../core/plan/targets.ts";
import { allocate, type DType } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type { Arithmetic } from "./cells.ts";

/**
 * Returns the position of an index along an axis with `dim` positions. NaN skips the update or element. A position
 * outside the axis becomes a flat offset, if data contains this offset. For a sequence, `after` counts the positions
 * before the current position, and `rest` counts the positions after it.
 */
export type PlaceOf = (index: number, dim: number, after: number, rest: number) => number;

export interface Rule {
  readonly call: Call;
  readonly data: Tensor;
  readonly indices: Tensor;
  /** Updates of a scatter; undefined for a gather. */
  readonly updates: Tensor | undefined;
  /** The shape of the result. */
  readonly shape: readonly number[];
  /** Interpretation of indices; null for the interpretation of the operator version. */
  readonly placeOf: PlaceOf | null;
  /** Effect of an index without a position in addition to skipping: end the call there, or cancel all writes. */
  readonly refusal?: "ends" | "undoes";
  /** Value that a gather returns for an index without a position, if it is not 0. */
  readonly fill?: "nan";
  /** Winning update if several updates have the same target and the reduction is `none`, if it is not the last. */
  readonly stays?: "first";
  /** True if the updates of each target are combined before the result is combined with data. */
  readonly updatesFirst?: true;
  /** Data type for computations, if it is not the data type of data. */
  readonly computedIn?: DType | undefined;
  /** True if integer means are rounded toward zero. */
  readonly truncates?: true;
  /** Replacement for the data type's normal arithmetic. */
  readonly arithmetic?: Arithmetic;
  /**
   * A change to the Plan, which may change the shape of the result. The change is valid only for the operator version's
   * original Plan.
   */
  readonly rewrite?: (plan: Plan) => Plan;
  /** Cached results of `placingOf` by call, because many rules differ only in their interpretation of indices. */
  readonly placings: WeakMap<Call, Placing>;
  /**
   * Cache for data derived from the fields that determine positions. A change to one of these fields creates a new
   * cache.
   */
  readonly kept: { plan?: Plan; moves?: Moves };
}

/**
 * Moves of a Plan that affect probe cells, each with a cell number within the probe and the element to read or write.
 */
export interface Moves {
  readonly near: Uint32Array;
  readonly far: Uint32Array;
}

/** Returns the rule fields that depend on the settings. */
export const withSettings = ({ call }: Rule, settings: Partial<Settings>): Pick<Rule, "call"> => ({
  call: { ...call, settings: { ...call.settings, ...settings } },
});

/** Returns the Plan for a rule, without merged rows. @throws TensorError `index-out-of-range` */
export const planOfRule = (rule: Rule): Plan => (rule.kept.plan ??= newPlan(rule));

function newPlan(rule: Rule): Plan {
  const { call, placeOf } = rule;
  if (placeOf !== null) return placedPlan(rule, placeOf);
  const { negativeIndices: negative, outOfRange: bounds = "error" } = call.version;
  const rules = { negative, bounds, merge: false } as const;
  const plan = planIndices(inputsOf(rule), call, rules, readIndices);
  return rule.rewrite?.(plan) ?? plan;
}

const inputsOf = ({ data, indices, updates }: Rule): PlanInputs => ({
  data: data.shape,
  indices,
  updates: updates?.shape,
});

/**
 * Data for computing the offsets in a Plan. An offset is the sum of `base`, which is the offset of all-zero indices,
 * and each index times its stride.
 */
export interface Placing {
  readonly plan: Plan;
  readonly base: Uint32Array;
  readonly axes: readonly { readonly dim: number; readonly stride: number }[];
  /** Returns the number of the index tuple that determines a position. An element index is a tuple with one index. */
  tupleAt(position: number): number;
  /**
   * Number of consecutive positions with the same index because they belong to one sequence. Without sequences, the
   * number is 1.
   */
  readonly length: number;
}

/** @throws TensorError `rank`, `axis` or `shape-mismatch` if the inputs do not fit a changed call */
export function inferredShape({ call, data, indices, updates }: Rule): readonly number[] {
  const shapes = { data: data.shape, indices: indices.shape, updates: updates?.shape ?? null };
  return call.operator.inferShape(shapes, call) as readonly number[];
}

/** @throws TensorError like `inferredShape`; `index-out-of-range` for an axis without elements */
export function placingOf(rule: Rule): Placing {
  const placing = rule.placings.get(rule.call) ?? newPlacing(rule);
  rule.placings.set(rule.call, placing);
  return placing;
}

function newPlacing(rule: Rule): Placing {
  const { call, data } = rule;
  const { dtype, shape, size } = rule.indices;
  const indices = new Tensor(dtype, [...shape], size, allocate(dtype, size));
  const inputs = { ...inputsOf(rule), indices };
  const rules = { negative: true, bounds: "error", merge: false } as const;
  // Planners need checked shapes, and a hypothesis may have changed the operator.
  inferredShape(rule);
  const plan = planIndices(inputs, call, rules, readIndices);
  const axes = call.operator.layout(inputs, call).axes.map((axis) => ({
    dim: data.shape[axis],
    stride: product(data.shape, axis + 1),
  }));
  const { count } = plan;
  const base = absoluteOffsets(plan);
  if (call.version.indexForm === "sequences") {
    const starts = base.map((offset, p) => offset - (p % count) * plan.slice);
    const tupleAt = (p: number): number => Math.floor((p / base.length) * size);
    return { plan, base: starts, axes, tupleAt, length: count };
  }
  // An operator that addresses slices along an axis repeats its indices for each position on the axes between the batch
  // axes and the indexed axis.
  const times = Math.max(1, (plan.batches * count * axes.length) / Math.max(1, size));
  const tupleAt = (p: number): number =>
    times === 1 ? p : Math.floor(Math.floor(p / count) / times) * count + (p % count);
  return { plan, base, axes, tupleAt, length: 1 };
}

/**
 * Returns a function that interprets the j-th index of a position. Each position of a sequence has its own index, which
 * follows from the sequence's first index.
 */
function placer(
  { indices }: Rule,
  { axes, length, tupleAt }: Placing,
  placeOf: PlaceOf,
): (p: number, j: number) => number {
  const { words, step } = indexWordsOf(indices);
  return (p, j) => {
    const after = p % length;
    const index = indexAt(words, (tupleAt(p) * axes.length + j) * step, step) + after;
    return placeOf(index, axes[j].dim, after, length - 1 - after);
  };
}

function placedPlan(rule: Rule, placeOf: PlaceOf): Plan {
  const placing = placingOf(rule);
  const { plan, base, axes } = placing;
  const placeAt = placer(rule, placing, placeOf);
  const { size, slice } = plan;
  const offsets = new Uint32Array(base.length);
  const leftOut = new Uint8Array(base.length);
  let isAnyLeftOut = false;
  for (let p = 0; p < base.length; p++) {
    let offset = base[p];
    // An empty tuple addresses the whole data tensor, unless the interpretation skips every index.
    if (axes.length === 0 && Number.isNaN(placeOf(0, 1, 0, 0))) offset = NaN;
    for (let j = 0; j < axes.length; j++) offset += placeAt(p, j) * axes[j].stride;
    if (offset >= 0 && offset + slice <= size) {
      offsets[p] = offset;
      continue;
    }
    isAnyLeftOut = true;
    if (rule.refusal === undefined) leftOut[p] = 1;
    else {
      leftOut.fill(1, rule.refusal === "ends" ? p : 0);
      break;
    }
  }
  const whole = planOf(offsets, slice, size);
  return isAnyLeftOut ? without(whole, leftOut) : whole;
}

/** Returns true if an interpretation skips an index instead of assigning a position to the index. */
export const leavesOut = (rule: Rule): boolean =>
  planOfRule(rule).offsets.length < placingOf(rule).base.length;

/**
 * Returns true if an interpretation keeps at least one update or element. Skipping all of them is not evidence for the
 * interpretation.
 */
export function keepsAny(rule: Rule, placeOf: PlaceOf): boolean {
  const placing = attempted(() => placingOf(rule));
  if (placing === null) return false;
  const placeAt = placer(rule, placing, placeOf);
  return placing.base.some((_, p) => placing.axes.every((_, j) => !Number.isNaN(placeAt(p, j))));
}

/** Calls an action. Returns null if the action throws a TensorError, or only for an error with a given code. */
export function attempted<T>(action: () => T, ...codes: readonly ErrorCode[]): T | null {
  try {
    return action();
  } catch (error) {
    if (isTensorError(error, ...codes)) return null;
    throw error;
  }
}

/** Facts about a call that are known before any hypothesis is tested. */
export interface Facts {
  /** True if the call is an error in its operator version because an index is out of range. */
  readonly isError: boolean;
  readonly hasNegative: boolean;
  readonly hasOutside: boolean;
}

export function factsOf(rule: Rule, isError: boolean): Facts {
  const placing = placingOf(rule);
  const inside = droppingOutside(rule);
  let hasNegative = false;
  let hasOutside = false;
  const placeAt = placer(rule, placing, (index, ...axis) => {
    hasNegative ||= index < 0;
    hasOutside ||= Number.isNaN(inside(index, ...axis));
    return 0;
  });
  for (let p = 0; p < placing.base.length; p++)
    for (let j = 0; j < placing.axes.length; j++) placeAt(p, j);
  return { isError, hasNegative, hasOutside };
}

/** Returns an index interpretation that skips out-of-range indices. */
export function droppingOutside(rule: Rule): PlaceOf {
  const own = ownPlace(rule);
  return (index, dim) => within(own(index, dim), dim);
}

export const within = (place: number, dim: number): number =>
  place >= 0 && place < dim ? place : NaN;

/** Returns the operator version's interpretation of negative indices. */
export const ownPlace = (rule: Rule): ((index: number, dim: number) => number) =>
  takesNegative(rule) ? (index, dim) => (index < 0 ? index + dim : index) : (index) => index;

/** Returns true if negative indices count from the end, which sequence positions do not allow. */
export const takesNegative = ({ call: { version } }: Rule): boolean =>
  version.negativeIndices && version.indexForm !== "sequences";

/** Finds the updates for each cell. */
export interface CellUpdates {
  /** Returns the number of updates that target a cell. */
  count(cell: number): number;
  /** Returns the position of the nth updates element that targets a cell. */
  element(cell: number, nth: number): number;
}

export function cellUpdatesOf(rule: Rule): CellUpdates {
  const plan = planOfRule(rule);
  const { slice } = plan;
  const { ends, positions } = sortAllTargets(plan);
  const endOf = (target: number): number => (target < 0 ? 0 : ends[target]);
  const targetOf = (cell: number): number => Math.floor(cell / slice);
  return {
    count: (cell) => endOf(targetOf(cell)) - endOf(targetOf(cell) - 1),
    element: (cell, nth) => positions[endOf(targetOf(cell) - 1) + nth] * slice + (cell % slice),
  };
}

/** Returns true if results can be computed in float64 with replacement arithmetic. */
export const isFloating = ({ dtype }: Tensor): boolean => isFloat(dtype);
