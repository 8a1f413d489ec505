/** Gradients as limits: the change of the sum of an output, weighted by its gradient, with each part of an input. */

import assert from "node:assert/strict";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { Random } from "./random.ts";

const STEP = 2 ** -20;

const weighted = (output: Tensor, gradient: Tensor): number => {
  let sum = 0;
  for (const [at, value] of (output.data as Float64Array).entries()) {
    sum += value * Number(gradient.data[at]);
  }
  return sum;
};

/**
 * Compares gradients with central differences, which are accurate to about 1 in 2^30 of float64. The parts of a complex
 * number count as separate numbers.
 * @param call returns the output for inputs that may be changed
 * @param found the gradients; inputs whose gradient is null are not changed
 */
export function assertDifferences(
  call: (inputs: readonly Tensor[]) => Tensor,
  inputs: readonly Tensor[],
  gradient: Tensor,
  found: readonly (Tensor | null)[],
): number {
  let compared = 0;
  for (const [position, one] of found.entries()) {
    if (one === null) continue;
    const values = inputs[position].data as Float64Array;
    for (const [at, value] of values.entries()) {
      values[at] = value + STEP;
      const above = weighted(call(inputs), gradient);
      values[at] = value - STEP;
      const below = weighted(call(inputs), gradient);
      values[at] = value;
      const expected = (above - below) / (2 * STEP);
      const error = Math.abs(Number(one.data[at]) - expected);
      const most = 1e-6 * Math.max(1, Math.abs(expected));
      assert.ok(error <= most, `gradient ${position} at ${at} is ${one.data[at]}, not ${expected}`);
      compared++;
    }
  }
  return compared;
}

/** Random numbers of size 0.5 to 2, all different by far more than a step, so that none are tied. */
export function untied(
  dtype: "float64" | "complex128",
  shapes: readonly (readonly number[])[],
  random: Random,
): Tensor[] {
  const sizes = shapes.map((shape) => shape.reduce((size, dim) => size * dim, 1));
  const parts = dtype === "float64" ? 1 : 2;
  const total = parts * sizes.reduce((sum, size) => sum + size, 0);
  const values = Array.from({ length: total }, (_, p) => {
    const size = 0.5 + (1.5 * (p + 0.5)) / total;
    return random(2) === 0 ? size : -size;
  });
  for (let p = total - 1; p > 0; p--) {
    const other = random(p + 1);
    [values[p], values[other]] = [values[other], values[p]];
  }
  return shapes.map((shape, nth) =>
    tensor(dtype, shape, Float64Array.from(values.splice(0, parts * sizes[nth]))),
  );
}
