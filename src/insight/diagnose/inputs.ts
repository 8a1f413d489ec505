/** Defines hypotheses about inputs whose elements were read in a different order. */

import { sameShape, stridesOf } from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { hypothesis, type Change, type Hypothesis } from "./hypothesis.ts";
import { pick, type Rule } from "./rule.ts";

const ROLES = ["data", "indices", "updates"] as const;

export const INPUTS: readonly Hypothesis[] = [
  hypothesis("transposed-input", "input", (rule) => ROLES.flatMap((role) => reordered(rule, role))),
];

/**
 * Returns changes that read a column-major input as row-major, read a row-major input as column-major, or swap two axes
 * of equal size.
 */
function reordered(rule: Rule, role: (typeof ROLES)[number]): readonly Change[] {
  const input = rule[role];
  if (input === undefined || input.shape.filter((dim) => dim > 1).length < 2) return [];
  const changes: Change[] = [];
  const add = (strides: readonly number[], how: string, isInverse = false): void => {
    changes.push([
      `${role} ${how}`,
      {
        get [role]() {
          return moved(input, strides, isInverse);
        },
      },
    ]);
  };
  const { shape } = input;
  const order = "was read in the wrong memory order (C instead of Fortran, or the reverse)";
  const columns = stridesOf(shape.toReversed()).toReversed();
  add(columns, order);
  // Both directions give the same result if the shape is a palindrome.
  if (!sameShape(shape, shape.toReversed())) add(columns, order, true);
  else if (shape.length === 2) return changes;
  for (const [a, b] of equalAxes(shape)) {
    changes.push([
      `${role} was transposed: axes ${a} and ${b} were swapped`,
      {
        get [role]() {
          return swapped(input, a, b);
        },
      },
    ]);
  }
  return changes;
}

/** Swaps two tensor axes of equal size. */
export function swapped(input: Tensor, a: number, b: number): Tensor {
  const strides = stridesOf(input.shape);
  [strides[a], strides[b]] = [strides[b], strides[a]];
  return moved(input, strides, false);
}

/** Returns the pairs of axes with equal sizes. Sizes below 2 are omitted, because swapping them changes nothing. */
export function equalAxes(shape: readonly number[]): readonly (readonly [number, number])[] {
  return shape.flatMap((size, a) =>
    shape.flatMap((other, b) => (a < b && size === other && size > 1 ? [[a, b] as const] : [])),
  );
}

/**
 * Reorders tensor elements. Each element is read from the position that the given strides assign to its coordinates, or
 * written to this position if `isInverse` is true.
 */
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
