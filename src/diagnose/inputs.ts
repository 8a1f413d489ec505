/** Hypotheses about inputs whose elements were read in another order. */

import { sameShape, stridesOf } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { Hypothesis, Variant } from "./hypothesis.ts";
import { pick, type Rule } from "./rule.ts";

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
  const add = (strides: readonly number[], how: string, isInverse = false): void => {
    variants.push({
      // Made when it is tried: there may be many, and each is as large as the input.
      get rule() {
        return { ...rule, [role]: moved(input, strides, isInverse) };
      },
      sentence: `${role} ${how}`,
    });
  };
  const { shape } = input;
  const order = "had its axes in the other order (C and Fortran)";
  const columns = stridesOf(shape.toReversed()).toReversed();
  add(columns, order);
  // Where the shape reads the same from both ends, the two ways are one.
  if (!sameShape(shape, shape.toReversed())) add(columns, order, true);
  else if (shape.length === 2) return variants;
  for (let a = 0; a < shape.length; a++) {
    for (let b = a + 1; b < shape.length; b++) {
      if (shape[a] !== shape[b] || shape[a] < 2) continue;
      const strides = stridesOf(shape);
      [strides[a], strides[b]] = [strides[b], strides[a]];
      add(strides, `was transposed: axes ${a} and ${b} were swapped`);
    }
  }
  return variants;
}

/** The elements of a tensor in another order: each from the place that other strides give its coordinates, or to it. */
function moved(input: Tensor, strides: readonly number[], isInverse: boolean): Tensor {
  const { shape, size } = input;
  const offsets = new Uint32Array(size);
  const at = shape.map(() => 0);
  let offset = 0;
  for (let p = 0; p < size; p++) {
    if (isInverse) offsets[offset] = p;
    else offsets[p] = offset;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= shape[axis] * strides[axis];
      at[axis] = 0;
    }
  }
  return pick(input, offsets, shape);
}
