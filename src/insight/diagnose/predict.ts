/** Converts calls to rules, and computes the results of rules with the same kernels as `run`. */

import { callOf, type Call, type NodeSpec } from "../../core/call/call.ts";
import type { PreparedCall } from "../../core/call/check.ts";
import { scatterSteps, stepOf } from "../../core/call/steps.ts";
import { Executor } from "../../core/engines/executor.ts";
import { isTensorError } from "../../core/errors.ts";
import { divide } from "../../core/kernels/divide.ts";
import { absoluteOffsets, planOf, type Plan } from "../../core/plan/plan.ts";
import { split } from "../../core/plan/targets.ts";
import { allocate, type Storage } from "../../core/tensor/dtype.ts";
import { product, sameShape } from "../../core/tensor/shape.ts";
import { copy } from "../../core/tensor/storage.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { decode, encode, inType, machineOf, mapped, type Machine } from "./cells.ts";
import {
  attempted,
  droppingOutside,
  factsOf,
  inferredShape,
  planOfRule,
  type Facts,
  type Moves,
  type Rule,
} from "./rule.ts";

/**
 * Creates a node's call. If only the reduction is invalid, the call omits the reduction, which is returned as `word`.
 * Throws the same errors as `callOf`.
 */
export function callWithout(node: NodeSpec): { readonly call: Call; readonly word: string | null } {
  try {
    return { call: callOf(node), word: null };
  } catch (error) {
    if (!isTensorError(error)) throw error;
    try {
      const { reduction, ...attributes } = { ...node.attributes };
      if (typeof reduction === "string") {
        return { call: callOf({ ...node, attributes }), word: reduction };
      }
    } catch {
      // The call is also invalid without the reduction, or its attributes cannot be parsed. The following code throws
      // the first error.
    }
    throw error;
  }
}

/** A call as a rule. */
export interface ReadCall {
  readonly rule: Rule;
  readonly facts: Facts;
  readonly exact: Tensor;
}

/** Converts a call to the equivalent rule. For an invalid call, `exact` is the result for valid indices only. */
export function readCall({ call, data, updates, planInputs, shape }: PreparedCall): ReadCall {
  const inputs = { data, indices: planInputs.indices, updates };
  const own: Rule = {
    ...{ call, shape, ...inputs },
    placeOf: null,
    placings: new WeakMap(),
    kept: {},
  };
  const exact = exactOf(own);
  const isError = exact === null;
  const rule = isError ? { ...own, placeOf: droppingOutside(own), kept: {} } : own;
  return { rule, facts: factsOf(rule, isError), exact: exact ?? resultOf(rule) };
}

/** Computes the result of a rule. Returns null if an index is out of range. */
export const exactOf = (rule: Rule): Tensor | null =>
  attempted(() => resultOf(rule), "index-out-of-range");

/**
 * Computes the result of a rule. Returns null if the rule is not valid for the call, because of shapes or out-of-range
 * indices. `probe` contains the cells to compute. By default, all cells are computed.
 */
export const predict = (rule: Rule, probe?: Probe | null): Tensor | null =>
  attempted(() => {
    const inferred = inferredShape(rule);
    if ((rule.rewrite === undefined || rule.placeOf !== null) && !sameShape(inferred, rule.shape))
      return null;
    return probe ? resultBy(...restricted(rule, probe)) : resultOf(rule);
  });

/** @throws TensorError `index-out-of-range` */
export const resultOf = (rule: Rule): Tensor => resultBy(rule, planOfRule(rule));

/** Fewer than 2^16 result cells, in ascending order. */
export interface Probe {
  readonly cells: Uint32Array;
  /** Number of probe cells before each result cell, and in total. */
  readonly before: Uint16Array;
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

/** Restricts a rule and its Plan to the probe cells, each of which becomes a separate slice. */
function restricted(rule: Rule, probe: Probe): [Rule, Plan] {
  const { data, updates } = rule;
  rule.kept.moves ??= movesOf(planOfRule(rule), updates === undefined, probe);
  const { near, far } = rule.kept.moves;
  const shape = [probe.cells.length];
  return updates === undefined
    ? [{ ...rule, shape }, planOf(far, 1, data.size, near)]
    : [
        { ...rule, shape, data: pick(data, probe.cells), updates: pick(updates, far) },
        planOf(near, 1, shape[0]),
      ];
}

export function pick(
  { dtype, size, data }: Tensor,
  offsets: Uint32Array,
  shape: readonly number[] = [offsets.length],
): Tensor {
  const count = offsets.length;
  const out = allocate(dtype, count);
  new Executor().begin().gather(planOf(offsets, 1, size), dtype, data, out);
  return new Tensor(dtype, [...shape], count, out);
}

function resultBy(rule: Rule, plan: Plan): Tensor {
  const { data, updates, shape, arithmetic, computedIn } = rule;
  if (computedIn !== undefined) {
    const [from, by] = [data, updates].map((given) => given && inType(given, computedIn));
    const own = { ...rule, data: from as Tensor, updates: by, computedIn: undefined };
    return inType(resultBy(own, plan), data.dtype);
  }
  const storage =
    updates === undefined ? gathered(rule, plan) : scattered(rule, plan, data, updates);
  const result = new Tensor(data.dtype, [...shape], product(shape), storage);
  const finish = arithmetic?.finish;
  return finish === undefined ? result : mapped(result, data.dtype, finish);
}

function gathered({ data, shape, fill }: Rule, plan: Plan): Storage {
  const { dtype } = data;
  const size = product(shape);
  // Elements that are not in the Plan are not written.
  const zeros = new Tensor(dtype, [size], size, allocate(dtype, size));
  const out = (fill === "nan" ? mapped(zeros, dtype, () => NaN) : zeros).data;
  new Executor().begin().gather(plan, dtype, data.data, out);
  return out;
}

function scattered(rule: Rule, plan: Plan, data: Tensor, updates: Tensor): Storage {
  const { dtype } = data;
  const { arithmetic } = rule;
  if (arithmetic !== undefined) {
    const out = decode(data);
    applySteps(rule, plan, decode(updates), out, machineOf(dtype, arithmetic));
    return encode(data, out, plan).data;
  }
  const out = allocate(dtype, data.size);
  copy(data.data, out);
  const session = new Executor().begin();
  applySteps(rule, plan, updates.data, out, {
    apply: (part, step, from, to) => session.scatter(part, dtype, step, to, from, to),
    divide: (to, { slice, offsets }, counts) =>
      (rule.truncates === true ? truncate : divide)(dtype, to, slice, offsets, counts),
  });
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
function applySteps<S extends Storage>(
  { call: { settings }, data, stays, updatesFirst }: Rule,
  plan: Plan,
  updates: S,
  out: S,
  machine: Machine<S>,
): void {
  const { parts, division } = scatterSteps(plan, settings, data.dtype);
  if (updatesFirst === true) {
    const step = stepOf(settings, data.dtype);
    const { first, later } = split(plan);
    const combined = out.slice() as S;
    machine.apply(first, "none", updates, combined);
    machine.apply(later, step === "sub" ? "add" : step, updates, combined);
    const source = first.offsets.map((offset) => offset / first.slice);
    machine.apply({ ...first, source }, step, combined, out);
  } else if (stays === "first" && settings.reduction === "none") {
    machine.apply(split(plan).first, "none", updates, out);
  } else for (const part of parts) machine.apply(part.plan, part.step, updates, out);
  if (division !== null) machine.divide(out, division.targets, division.divisors);
}
