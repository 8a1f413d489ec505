/**
 * Bounds for results whose additions or multiplications may come in any order: with n terms, each order is off the exact
 * result by at most n · eps · Σ|x|, or n · eps · Π|x| for products.
 */

import { run, tensor, type DType, type NodeSpec, type Tensor } from "ndscatter";
import { resolve, roleOf } from "ndscatter/operators";
import { explainState, readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { elementsOf } from "../../src/values/tensor-text.ts";

/** Twice the largest relative error of one operation, which leaves as much for the exact result as for the other. */
const EPSILON: Partial<Record<DType, number>> = {
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
  float32: 2 ** -23,
  float64: 2 ** -52,
  complex64: 2 ** -23,
  complex128: 2 ** -52,
};

/** A step of a complex product has four products and two sums. */
const COMPLEX = 4;

/** The smallest numbers have a fixed error: a product may round to them. */
const TINY: Partial<Record<DType, number>> = {
  float16: 2 ** -24,
  bfloat16: 2 ** -133,
  float32: 2 ** -149,
  complex64: 2 ** -149,
};

export interface Bounds {
  /** The elements, computed with 64 bits; real and imaginary parts one after another. */
  readonly exact: readonly number[];
  /** By how much another order may be off. */
  readonly bounds: readonly number[];
}

/** Elements as numbers; real and imaginary parts one after another. */
export const numbersOf = (one: Tensor): number[] => elementsOf(one).flat().map(Number);

/** @param state a call of floats with a reduction other than `max` and `min` */
export function boundsOf(state: State): Bounds {
  const { node, inputs } = readState(state);
  const version = resolve(state);
  const data = inputs.find((_, at) => roleOf(version.inputs[at]) === "data");
  const epsilon = EPSILON[data?.dtype ?? "bool"];
  if (data === undefined || epsilon === undefined) throw new Error("the data type has no bounds");
  const isComplex = data.dtype.startsWith("complex");
  const parts = isComplex ? 2 : 1;
  const word = String(node.attributes?.["reduction"] ?? "none");
  const sum = node.domain === "openvino" ? "sum" : "add";
  const changed = (dtype: "float64" | "complex128", of: (one: Tensor) => number[]) =>
    inputs.map((input, at) =>
      input !== undefined && ["data", "updates"].includes(roleOf(version.inputs[at]))
        ? (tensor(dtype, input.shape, of(input) as never) as Tensor)
        : input,
    );
  const withWord = (reduction: string): NodeSpec => ({
    ...node,
    attributes: { ...node.attributes, reduction },
  });
  const wide = changed(isComplex ? "complex128" : "float64", wideOf);
  const sizes = changed("float64", (one) => sizesOf(one, parts));
  const ones = changed("float64", (one) => Array.from({ length: one.size }, () => 1));
  const [exact] = run(node, wide);
  const [magnitude] = run(withWord(word === "sub" ? sum : word), sizes);
  const [terms] = run(withWord(sum), ones);
  const counts = numbersOf(terms);
  const step = epsilon * (isComplex && /^(mul|prod)$/.test(word) ? COMPLEX : 1);
  const tiny = TINY[data.dtype] ?? Number.MIN_VALUE;
  // A mean has one more step: the division.
  const each = numbersOf(magnitude).map((size, at) => (counts[at] + 1) * (step * size + tiny));
  return { exact: numbersOf(exact), bounds: each.flatMap((bound) => Array(parts).fill(bound)) };
}

/** Elements for a tensor of 64 bits. */
const wideOf = (one: Tensor): number[] => elementsOf(one) as number[];

const sizesOf = (one: Tensor, parts: number): number[] => {
  const numbers = numbersOf(one);
  return Array.from({ length: one.size }, (_, at) =>
    Math.hypot(...numbers.slice(at * parts, (at + 1) * parts)),
  );
};

/** True if the order of the updates can change the result by rounding. */
export function isOpen(state: State): boolean {
  const { explanation, inputs } = explainState(state);
  const story = explanation?.story;
  const repeats = story?.kind === "scatter" ? story.summary.repeats : 0;
  const isSum = /^(add|sum|sub|mul|prod|mean)$/.test(state.attributes["reduction"] ?? "");
  return (
    repeats > 0 && isSum && inputs.some((one) => one?.dtype !== undefined && one.dtype in EPSILON)
  );
}
