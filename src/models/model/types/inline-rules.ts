/** Type rules for operators that run without a Plan (see `inline.ts`). */

import { DTYPES, integerRange, type DType } from "../../../core/tensor/dtype.ts";
import type { Dim } from "../../../core/tensor/shape.ts";
import { constantOf, destinationOf, inlineOperator } from "../inline.ts";
import { knownConstant, NOTHING_KNOWN, type Known } from "../known.ts";
import { readConstant } from "../model.ts";
import { elementsOf, knownElements } from "./elements.ts";
import { output, type TypeRule } from "./node-view.ts";

export const constantNode: TypeRule = ({ node, opset }) => {
  const made = constantOf(node, opset);
  return made === null ? [] : [knownConstant(made)];
};

export const identity: TypeRule = (view) => [view.input(0)];

/** The rule for `Cast` and OpenVINO's `Convert`. */
export const cast: TypeRule = (view) => {
  const { node, opset } = view;
  const dtype = destinationOf(node);
  const run = inlineOperator(node);
  if (dtype === null || run === null) return [];
  const input = view.input(0);
  const { type, constant: source } = input;
  if (input.elements !== null) return [castElements(input, input.elements, dtype)];
  if (source === null) return [output(dtype, type?.shape ?? null)];
  const { name, shape } = source;
  const read = () => run(node, [readConstant(source)], opset)[0];
  const constant = { name, dtype, shape, read };
  return [{ type: { dtype, shape }, constant, elements: null }];
};

/** Returns the elements that another integer type can represent. Other elements wrap around, and become unknown. */
function castElements({ type }: Known, elements: readonly Dim[], dtype: DType): Known {
  const shape = type?.shape ?? null;
  if (DTYPES[dtype].family === "bool") {
    const truths = elements.map((one) => (typeof one === "number" ? Number(one !== 0) : null));
    return knownElements(dtype, shape?.length ?? 1, truths);
  }
  return integerRange(dtype) === null
    ? output(dtype, shape)
    : knownElements(dtype, shape?.length ?? 1, elements);
}

/** `CastLike`: the output has the second input's data type. */
export const castLike: TypeRule = (view) => {
  const dtype = view.dtype(1);
  const input = view.input(0);
  const elements = dtype !== null && integerRange(dtype) !== null ? elementsOf(input) : null;
  if (dtype === null) return [NOTHING_KNOWN];
  return [elements === null ? output(dtype, view.shape(0)) : castElements(input, elements, dtype)];
};
