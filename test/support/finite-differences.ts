/** Gradients as limits: the change of the weighted sum of an output with each part of an input. */

import assert from "node:assert/strict";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { Random } from "./random.ts";

const STEP = 2 ** -20;

/** About so many parts of a longer input are compared, spread evenly. */
const MOST_PARTS = 50;

/** Returns the change of the weighted sum of an output, and the sum of the sizes of all changed terms. */
function changeOf(
  above: Tensor,
  below: Tensor,
  gradient: Tensor,
): { change: number; size: number } {
  let [change, size] = [0, 0];
  const lower = below.data as Float64Array;
  for (const [at, value] of (above.data as Float64Array).entries()) {
    if (value === lower[at]) continue;
    const weight = Number(gradient.data[at]);
    change += (value - lower[at]) * weight;
    size += Math.abs(value * weight);
  }
  return { change, size };
}

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
    // Each part takes two calls. An odd step reaches both parts of complex numbers.
    const step = 2 * Math.floor(values.length / (2 * MOST_PARTS)) + 1;
    for (let at = 0; at < values.length; at += step) {
      const value = values[at];
      values[at] = value + STEP;
      const above = call(inputs);
      values[at] = value - STEP;
      const below = call(inputs);
      values[at] = value;
      const { change, size } = changeOf(above, below, gradient);
      const expected = change / (2 * STEP);
      const error = Math.abs(Number(one.data[at]) - expected);
      // A product of complex numbers may be far larger than its change, whose rounding error then counts.
      const most = 1e-6 * Math.max(1, Math.abs(expected)) + 2 ** -31 * size;
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
