/**
 * The definition of gradients: the rules of `docs/semantics.md`, cell by cell, on the slow definition of the operators.
 * This module uses no Plan: the writers of each cell are found by a scatter of texts, each the position of an update,
 * which `add` concatenates.
 */

import { DTYPES, type Reduction, type Stays, type Step } from "../../src/core/tensor/dtype.ts";
import type { Operator } from "../../src/core/operators/operator.ts";
import { reader } from "../../src/core/tensor/scalar.ts";
import { Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { Ties } from "../../src/core/kernels/backwards.ts";
import * as reference from "./reference.ts";
import { apply, divide } from "./reference-arithmetic.ts";

/** A call of a plain function, its attributes as `random-calls.ts` draws them. */
export interface ReferenceCall {
  readonly operator: Operator;
  readonly inputs: readonly Tensor[];
  readonly attributes: Readonly<Record<string, number | string | boolean>>;
  readonly stays?: Stays | undefined;
}

/** The result of a call on other data, and on other updates for a scatter. */
export function forward(
  { operator, inputs, attributes, stays }: ReferenceCall,
  data: Tensor,
  updates: Tensor | undefined,
  reduction: Reduction,
): Tensor {
  const rank = data.shape.length;
  const axis = (Number(attributes["axis"] ?? 0) + rank) % rank;
  const policies = { ...attributes, stays } as Parameters<typeof reference.scatterND>[4];
  const { name } = operator.versions[0];
  if (name === "TensorScatter") {
    const mode = attributes["mode"] === "circular" ? "circular" : "linear";
    return reference.tensorScatter(data, updates as Tensor, inputs[2], axis, mode);
  }
  const [, indices] = inputs;
  const batches = Number(attributes["batchDims"] ?? 0);
  switch (name) {
    case "ScatterND":
      return reference.scatterND(data, indices, updates as Tensor, reduction, policies);
    case "ScatterElements":
      return reference.scatterElements(data, indices, updates as Tensor, axis, reduction, policies);
    case "GatherND":
      return reference.gatherND(data, indices, batches, policies);
    case "GatherElements":
      return reference.gatherElements(data, indices, axis, policies);
    default: {
      const own = batches < 0 ? batches + indices.shape.length : batches;
      return reference.gather(data, indices, axis, own, policies);
    }
  }
}

/** A tensor of texts, each the position of its element and a comma. */
const positions = ({ shape, size }: Tensor): Tensor =>
  new Tensor(
    "string",
    shape.slice(),
    size,
    Array.from({ length: size }, (_, p) => `${p},`),
  );

const listOf = (text: unknown): number[] => String(text).split(",").slice(0, -1).map(Number);

/** The gradients of the inputs, in their order; null for indices. */
export function gradients(
  call: ReferenceCall,
  gradient: Tensor,
  ties: Ties = "even",
): (Tensor | null)[] {
  const { operator, inputs } = call;
  const at = operator.versions[0].name === "TensorScatter" ? 1 : 2;
  if (operator.kind === "gather") return [gatherGradient(call, gradient), null];
  const [data, updates] = scatterGradients(call, gradient, ties, inputs[at]);
  return at === 1 ? [data, updates, null] : [data, null, updates];
}

/** Zeros, to which each element of the result adds its gradient at its source. */
function gatherGradient(call: ReferenceCall, gradient: Tensor): Tensor {
  const [data] = call.inputs;
  const from = forward(call, positions(data), undefined, "none");
  const result = zeros(data.dtype, data.shape) as Tensor;
  for (const [cell, text] of from.data.entries()) {
    for (const source of listOf(text)) apply("add", result, source, gradient, cell);
  }
  return result;
}

function scatterGradients(
  call: ReferenceCall,
  gradient: Tensor,
  ties: Ties,
  updates: Tensor,
): [Tensor, Tensor] {
  const [data] = call.inputs;
  const reduction = (call.attributes["reduction"] ?? "none") as Reduction;
  const includesSelf = call.attributes["includeSelf"] !== false && reduction !== "none";
  const nothing = zeros("string", data.shape) as Tensor;
  const writers = forward(call, nothing, positions(updates), "add");
  const ofData = zeros(data.dtype, data.shape) as Tensor;
  const ofUpdates = zeros(data.dtype, updates.shape) as Tensor;
  for (const [cell, text] of writers.data.entries()) {
    const writing = listOf(text);
    if (writing.length === 0) {
      apply("none", ofData, cell, gradient, cell);
      continue;
    }
    // The operands in order, with the position of each one's gradient.
    const operands: Operand[] = writing.map((at) => ({ from: updates, at, to: ofUpdates }));
    if (includesSelf) operands.unshift({ from: data, at: cell, to: ofData });
    if (reduction === "max" || reduction === "min") {
      extreme(reference.stepOf(reduction, call.stays), operands, gradient, cell, ties);
    } else RULES[reduction](operands, gradient, cell);
  }
  return [ofData, ofUpdates];
}

interface Operand {
  readonly from: Tensor;
  readonly at: number;
  readonly to: Tensor;
}

type Rule = (operands: readonly Operand[], gradient: Tensor, cell: number) => void;

const RULES: Readonly<Record<Exclude<Reduction, "max" | "min">, Rule>> = {
  /** The last update replaced all others. */
  none: (operands, gradient, cell) => {
    const [last] = operands.slice(-1);
    apply("none", last.to, last.at, gradient, cell);
  },
  add: (operands, gradient, cell) => {
    for (const { to, at } of operands) apply("none", to, at, gradient, cell);
  },
  /** The others are subtracted from the first operand. */
  sub: (operands, gradient, cell) => {
    for (const [nth, { to, at }] of operands.entries()) {
      apply("none", to, at, gradient, cell);
      if (nth > 0) divide(to, at, -1);
    }
  },
  mean: (operands, gradient, cell) => {
    for (const { to, at } of operands) {
      apply("none", to, at, gradient, cell);
      divide(to, at, operands.length);
    }
  },
  /** The gradient, times each later operand from the last to the next, times the product of the earlier ones. */
  mul: (operands, gradient, cell) => {
    const [behind, before] = [0, 1].map(() => zeros(gradient.dtype, [1]) as Tensor);
    apply("none", behind, 0, gradient, cell);
    for (const { from, to, at } of operands.toReversed()) {
      apply("none", to, at, behind, 0);
      apply("mul", behind, 0, conjugate(from, at), 0);
    }
    for (const [nth, { from, to, at }] of operands.entries()) {
      if (nth > 0) apply("mul", to, at, conjugate(before, 0), 0);
      apply(nth === 0 ? "none" : "mul", before, 0, from, at);
    }
  },
};

function extreme(
  step: Step,
  operands: readonly Operand[],
  gradient: Tensor,
  cell: number,
  ties: Ties,
): void {
  const best = partsOf(combined(operands, step), 0);
  const equal = operands.filter(({ from, at }) =>
    partsOf(from, at).every(
      (one, part) => one === best[part] || (one !== one && best[part] !== best[part]),
    ),
  );
  const takers = { even: equal, all: equal, first: equal.slice(0, 1), last: equal.slice(-1) }[ties];
  for (const { to, at } of takers) {
    apply("none", to, at, gradient, cell);
    if (ties === "even" && equal.length > 1) divide(to, at, equal.length);
  }
}

/** A tensor of one element: the operands combined step by step. */
function combined(operands: readonly Operand[], step: Step): Tensor {
  const one = zeros(operands[0].from.dtype, [1]) as Tensor;
  for (const [nth, { from, at }] of operands.entries()) {
    apply(nth === 0 ? "none" : step, one, 0, from, at);
  }
  return one;
}

const partsOf = ({ dtype, data }: Tensor, at: number): number[] =>
  [reader(dtype, data)(at)].flat().map(Number);

/** A tensor of one element: the conjugate of a complex number, and any other number unchanged. */
function conjugate(from: Tensor, at: number): Tensor {
  const one = zeros(from.dtype, [1]) as Tensor;
  apply("none", one, 0, from, at);
  if (DTYPES[from.dtype].lanes === 2) one.data[1] = -Number(one.data[1]);
  return one;
}
