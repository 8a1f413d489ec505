/**
 * Defines rules, which contain all data that determine the result of a call. The function `run` applies the rule of the
 * specification, and a hypothesis changes part of this rule. This file converts a rule to a Plan and computes the
 * result with the same planners and kernels as `run`.
 */

import type { Call } from "../../core/call/call.ts";
import { divisorOf, isFloat, stepsOf } from "../../core/call/steps.ts";
import { createJs } from "../../core/engines/js.ts";
import { isTensorError } from "../../core/errors.ts";
import { divide } from "../../core/kernels/divide.ts";
import { readIndices } from "../../core/kernels/read-indices.ts";
import { planIndices, type PlanInputs, type Settings } from "../../core/operators/operator.ts";
import { indexAt, indexWordsOf } from "../../core/plan/index-job.ts";
import { absoluteOffsets, without, type Plan } from "../../core/plan/plan.ts";
import { countTargets, split } from "../../core/plan/repeats.ts";
import {
  allocate,
  isNumericStorage,
  type DType,
  type Step,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { product, sameShape } from "../../core/tensor/shape.ts";
import { copy } from "../../core/tensor/storage.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { decode, encode, type Arithmetic } from "./arithmetic.ts";
import { inType } from "./working-type.ts";

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
  /**
   * Additional effect of an index without a position. The value `ends` stops the call at this index, and `undoes`
   * cancels all writes.
   */
  readonly refusal: "none" | "ends" | "undoes";
  /** Value that a gather returns for an index without a position. */
  readonly fill: "zero" | "nan";
  /** Winning update if several updates have the same target and the reduction is `none`. */
  readonly stays: "last" | "first";
  /** True if the updates of each target are combined before the result is combined with data. */
  readonly updatesFirst: boolean;
  /** Data type for computations; null for the data type of data. */
  readonly computedIn: DType | null;
  /** True if integer means are rounded toward zero. */
  readonly truncates: boolean;
  /** Replacement arithmetic; null for the data type's normal arithmetic. */
  readonly arithmetic: Arithmetic | null;
  /**
   * A change to the Plan, which may change the shape of the result. The change is valid only for the operator version's
   * original Plan.
   */
  readonly rewrite: ((plan: Plan) => Plan) | null;
  /** Cached results of `placingOf` by call, because many rules differ only in their interpretation of indices. */
  readonly placings: WeakMap<Call, Placing>;
  /**
   * Cache for data derived from the fields that determine positions. A change to one of these fields creates a new
   * cache.
   */
  readonly kept: { plan?: Plan; moves?: Moves };
}

/** Returns the rule fields that depend on the settings. */
export const withSettings = ({ call }: Rule, settings: Partial<Settings>): Pick<Rule, "call"> => ({
  call: { ...call, settings: { ...call.settings, ...settings } },
});

/**
 * Computes the result of a rule. Returns null if the rule is not valid for the call, because of shapes or out-of-range
 * indices. `probe` contains the cells to compute. By default, all cells are computed.
 */
export function predict(rule: Rule, probe?: Probe | null): Tensor | null {
  try {
    const inferred = inferredShape(rule);
    if ((rule.rewrite === null || rule.placeOf !== null) && !sameShape(inferred, rule.shape))
      return null;
    return probe ? resultBy(...restricted(rule, probe)) : resultOf(rule);
  } catch (error) {
    if (isTensorError(error)) return null;
    throw error;
  }
}

function inferredShape({ call, data, indices, updates }: Rule): readonly number[] {
  const shapes = { data: data.shape, indices: indices.shape, updates: updates?.shape ?? null };
  return call.operator.inferShape(shapes, call) as readonly number[];
}

/** @throws TensorError `index-out-of-range` */
export const resultOf = (rule: Rule): Tensor => resultBy(rule, planOf(rule));

/** Fewer than 2^16 result cells, in ascending order. */
export interface Probe {
  readonly cells: Uint32Array;
  /** Number of probe cells before each result cell, and in total. */
  readonly before: Uint16Array;
}

/**
 * Moves of a Plan that affect probe cells, each with a cell number within the probe and the element to read or write.
 */
interface Moves {
  readonly near: Uint32Array;
  readonly far: Uint32Array;
}

function movesOf(plan: Plan, isGather: boolean, { cells, before }: Probe): Moves {
  const { slice, source } = plan;
  const offsets = absoluteOffsets(plan);
  const near: number[] = [];
  const far: number[] = [];
  for (let p = 0; p < offsets.length; p++) {
    const place = (source === undefined ? p : source[p]) * slice;
    const begin = isGather ? place : offsets[p];
    for (let i = before[begin]; i < before[begin + slice]; i++) {
      near.push(i);
      far.push((isGather ? offsets[p] : place) + cells[i] - begin);
    }
  }
  return { near: Uint32Array.from(near), far: Uint32Array.from(far) };
}

/** Returns a Plan with a single batch, in which offsets start at the first of all `size` elements. */
export const flatPlan = (offsets: Uint32Array, slice: number, size: number): Plan => ({
  offsets,
  slice,
  count: offsets.length,
  size,
  batches: 1,
  span: size,
});

/** Restricts a rule and its Plan to the probe cells, each of which becomes a separate slice. */
function restricted(rule: Rule, probe: Probe): [Rule, Plan] {
  const { data, updates } = rule;
  rule.kept.moves ??= movesOf(planOf(rule), updates === undefined, probe);
  const { near, far } = rule.kept.moves;
  const shape = [probe.cells.length];
  return updates === undefined
    ? [
        { ...rule, shape },
        { ...flatPlan(far, 1, data.size), source: near },
      ]
    : [
        { ...rule, shape, data: pick(data, probe.cells), updates: pick(updates, far) },
        flatPlan(near, 1, shape[0]),
      ];
}

export function pick(
  { dtype, size, data }: Tensor,
  offsets: Uint32Array,
  shape: readonly number[] = [offsets.length],
): Tensor {
  const count = offsets.length;
  const out = allocate(dtype, count);
  void createJs()
    .begin()
    .gather(flatPlan(offsets, 1, size), dtype, data, out);
  return new Tensor(dtype, [...shape], count, out);
}

function resultBy(rule: Rule, plan: Plan): Tensor {
  const { data, updates, shape, arithmetic, computedIn } = rule;
  if (computedIn !== null) {
    const given = {
      data: inType(data, computedIn),
      updates: updates && inType(updates, computedIn),
    };
    return inType(resultBy({ ...rule, ...given, computedIn: null }, plan), data.dtype);
  }
  const storage =
    updates === undefined ? gathered(rule, plan) : scattered(rule, plan, data, updates);
  const result = new Tensor(data.dtype, [...shape], product(shape), storage);
  const finish = arithmetic?.finish;
  return finish === undefined ? result : encode(result, decode(result).map(finish));
}

const inputsOf = ({ data, indices, updates }: Rule): PlanInputs => ({
  data: data.shape,
  indices,
  updates: updates?.shape,
});

/** Returns the Plan for a rule, without merged rows. */
export function planOf(rule: Rule): Plan {
  const { kept } = rule;
  kept.plan ??= newPlan(rule);
  return kept.plan;
}

function newPlan(rule: Rule): Plan {
  const { call, placeOf } = rule;
  if (placeOf !== null) return placedPlan(rule, placeOf);
  const { negativeIndices: negative, outOfRange: bounds = "error" } = call.version;
  const rules = { negative, bounds, merge: false } as const;
  const plan = planIndices(inputsOf(rule), call, rules, readIndices);
  return rule.rewrite?.(plan) ?? plan;
}

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
export function placingOf(rule: Rule): Placing {
  const known = rule.placings.get(rule.call);
  if (known !== undefined) return known;
  const placing = newPlacing(rule);
  rule.placings.set(rule.call, placing);
  return placing;
}

function newPlacing(rule: Rule): Placing {
  const { call, data, indices } = rule;
  const zeros = allocate(indices.dtype, indices.size);
  const inputs = {
    ...inputsOf(rule),
    indices: new Tensor(indices.dtype, [...indices.shape], indices.size, zeros),
  };
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
    return {
      plan,
      base: base.map((offset, p) => offset - (p % count) * plan.slice),
      axes,
      tupleAt: (p) => Math.floor((p / base.length) * indices.size),
      length: count,
    };
  }
  // An operator that addresses slices along an axis repeats its indices for each position on the axes between the batch
  // axes and the indexed axis.
  const times = Math.max(1, (plan.batches * count * axes.length) / Math.max(1, indices.size));
  return {
    plan,
    base,
    axes,
    tupleAt: (p) =>
      times === 1 ? p : Math.floor(Math.floor(p / count) / times) * count + (p % count),
    length: 1,
  };
}

function placedPlan(rule: Rule, placeOf: PlaceOf): Plan {
  const { plan, base, axes, tupleAt, length } = placingOf(rule);
  const { words, step } = indexWordsOf(rule.indices);
  const { size, slice } = plan;
  const k = axes.length;
  const offsets = new Uint32Array(base.length);
  const leftOut = new Uint8Array(base.length);
  let isAnyLeftOut = false;
  for (let p = 0; p < base.length; p++) {
    let offset = base[p];
    const first = tupleAt(p) * k;
    const after = p % length;
    // An empty tuple addresses the whole data tensor, unless the interpretation skips every index.
    if (k === 0 && Number.isNaN(placeOf(0, 1, after, 0))) offset = NaN;
    for (let j = 0; j < k; j++) {
      const index = indexAt(words, (first + j) * step, step) + after;
      offset += placeOf(index, axes[j].dim, after, length - 1 - after) * axes[j].stride;
    }
    if (offset >= 0 && offset + slice <= size) {
      offsets[p] = offset;
      continue;
    }
    isAnyLeftOut = true;
    if (rule.refusal === "none") leftOut[p] = 1;
    else {
      leftOut.fill(1, rule.refusal === "ends" ? p : 0);
      break;
    }
  }
  const whole = flatPlan(offsets, slice, size);
  return isAnyLeftOut ? without(whole, leftOut) : whole;
}

function gathered({ data, shape, fill }: Rule, plan: Plan): Storage {
  const { dtype } = data;
  const size = product(shape);
  // Elements that are not in the Plan are not written.
  const zeros = new Tensor(dtype, [size], size, allocate(dtype, size));
  const out = fill === "nan" ? encode(zeros, new Float64Array(size).fill(NaN)).data : zeros.data;
  void createJs().begin().gather(plan, dtype, data.data, out);
  return out;
}

/** Applies a Plan's updates to a buffer with one kernel step. */
type Apply<S> = (plan: Plan, step: Step, updates: S, out: S) => void;
type Divide<S> = (out: S, plan: Plan, counts: Uint32Array) => void;

function scattered(rule: Rule, plan: Plan, data: Tensor, updates: Tensor): Storage {
  const { dtype } = data;
  const { arithmetic } = rule;
  if (arithmetic !== null) {
    const out = decode(data);
    const apply: Apply<Float64Array> = (part, step, from, to) =>
      arithmetic.apply(part, step, from, to);
    const divideBy: Divide<Float64Array> = (to, part, counts) =>
      arithmetic.divide(to, part, counts);
    scatterSteps(rule, plan, decode(updates), out, apply, divideBy);
    return encode(data, out, plan).data;
  }
  const out = allocate(dtype, data.size);
  copy(data.data, out);
  const session = createJs().begin();
  const apply: Apply<Storage> = (part, step, from, to) =>
    session.scatter(part, dtype, step, to, from, to);
  const divideBy: Divide<Storage> = (to, { slice, offsets }, counts) => {
    if (isNumericStorage(to))
      (rule.truncates ? truncate : divide)(dtype, to, slice, offsets, counts);
  };
  scatterSteps(rule, plan, updates.data, out, apply, divideBy);
  return out;
}

/** Divides like `divide`, but rounds integer quotients toward zero. */
const truncate: typeof divide = (_, data, slice, offsets, counts) => {
  for (const [p, offset] of offsets.entries()) {
    for (let t = offset; t < offset + slice; t++) {
      if (data instanceof BigInt64Array) data[t] /= BigInt(counts[p]);
      else data[t] = Math.trunc(Number(data[t]) / counts[p]);
    }
  }
};

/**
 * Runs a scatter's Plan like `run`, or with different steps if the rule keeps the first update or combines updates
 * first.
 */
function scatterSteps<S extends Storage>(
  { call: { settings }, data, stays, updatesFirst }: Rule,
  plan: Plan,
  updates: S,
  out: S,
  apply: Apply<S>,
  divideBy: Divide<S>,
): void {
  const steps = stepsOf(settings, data.dtype);
  const isPlain = steps.first === steps.later && !steps.divides;
  if (isPlain && stays === "last" && !updatesFirst) return apply(plan, steps.later, updates, out);
  const { first, later } = split(plan);
  if (settings.reduction === "none")
    return apply(stays === "first" ? first : plan, "none", updates, out);
  if (updatesFirst) {
    const combined = out.slice() as S;
    apply(first, "none", updates, combined);
    apply(later, steps.later === "sub" ? "add" : steps.later, updates, combined);
    const source = first.offsets.map((offset) => offset / first.slice);
    apply({ ...first, source }, steps.first, combined, out);
  } else {
    apply(first, steps.first, updates, out);
    apply(later, steps.later, updates, out);
  }
  if (!steps.divides) return;
  divideBy(
    out,
    first,
    countTargets(first, later).map((count) => divisorOf(settings, count)),
  );
}

/** Returns true if results can be computed in float64 with replacement arithmetic. */
export const isFloating = ({ dtype }: Tensor): boolean => isFloat(dtype);
