/** Hypotheses about inputs whose elements were read in another order. */

import { createJs } from "../engines/js.ts";
import type { Plan } from "../plan/plan.ts";
import { allocate } from "../tensor/dtype.ts";
import { sameShape, stridesOf } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { Hypothesis, Variant } from "./hypothesis.ts";
import type { Rule } from "./rule.ts";

const ROLES = ["data", "indices", "updates"] as const;

export const INPUTS: readonly Hypothesis[] = [
  {
    id: "transposed-input",
    aspect: "input",
    variants: (rule) => ROLES.flatMap((role) => reordered(rule, role)),
  },
];

/** An input in column-major order, taken for row-major and the other way round, and with two equal axes swapped. */
function reordered(rule: Rule, role: (typeof ROLES)[number]): readonly Variant[] {
  const input = rule[role];
  if (input === undefined || input.shape.filter((dim) => dim > 1).length < 2) return [];
  const variants: Variant[] = [];
  const add = (tensor: Tensor, how: string): void => {
    variants.push({ rule: { ...rule, [role]: tensor }, sentence: `${role} ${how}` });
  };
  const { shape } = input;
  const order = "had its axes in the other order (C and Fortran)";
  const columns = stridesOf(shape.toReversed()).toReversed();
  add(moved(input, columns, "from"), order);
  // Where the shape reads the same from both ends, the two ways are one.
  if (!sameShape(shape, shape.toReversed())) add(moved(input, columns, "to"), order);
  else if (shape.length === 2) return variants;
  for (let a = 0; a < shape.length; a++) {
    for (let b = a + 1; b < shape.length; b++) {
      if (shape[a] !== shape[b] || shape[a] < 2) continue;
      const strides = stridesOf(shape);
      [strides[a], strides[b]] = [strides[b], strides[a]];
      add(moved(input, strides, "from"), `was transposed: axes ${a} and ${b} were swapped`);
    }
  }
  return variants;
}

/** The elements of a tensor, read from (or written to) the places that other strides give its coordinates. */
function moved(
  { dtype, shape, size, data }: Tensor,
  strides: readonly number[],
  way: "from" | "to",
): Tensor {
  const offsets = new Uint32Array(size);
  const at = shape.map(() => 0);
  let offset = 0;
  for (let p = 0; p < size; p++) {
    offsets[p] = offset;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= shape[axis] * strides[axis];
      at[axis] = 0;
    }
  }
  const plan: Plan = { offsets, slice: 1, count: size, size, batches: 1, span: size };
  const out = allocate(dtype, size);
  const session = createJs().begin();
  if (way === "from") session.gather(plan, dtype, data, out);
  else session.scatter(plan, dtype, "none", out, data, out);
  return new Tensor(dtype, [...shape], size, out);
}
