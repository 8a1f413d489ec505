/**
 * Defines the steps of a reduction: how to apply the first update of a target, how to apply later updates, and whether
 * a mean is divided at the end. The steps of a reduction are performed by four files: `execute.ts` on tensors,
 * `chunked/stages/move.ts` chunk by chunk, `gpu/kernels/scatter.ts` on a GPU, and `diagnose/rule.ts` under the rules of
 * other systems.
 */

import type { Settings } from "../operators/operator.ts";
import { DTYPES, type DType, type Step, type Steps } from "../tensor/dtype.ts";

/** A reduction, whether it starts with the value in data, and how max and min compare floats. */
export type Reducing = Pick<Settings, "reduction" | "includeSelf" | "stays">;

/** Returns the steps of a reduction of a data type. */
export function stepsOf(reducing: Reducing, dtype: DType): Steps {
  const step = stepOf(reducing, dtype);
  const first = reducing.includeSelf ? step : "none";
  return { first, later: step, divides: reducing.reduction === "mean" };
}

/** Returns the step with which a reduction combines a value and an update. */
export function stepOf({ reduction, stays }: Reducing, dtype: DType): Step {
  if (reduction === "mean") return "add";
  if (stays === undefined || (reduction !== "max" && reduction !== "min")) return reduction;
  return isFloat(dtype) ? `${reduction}_${stays}` : reduction;
}

/** Returns true for the types with NaN and signed zeros that a version with its own rule of comparison accepts. */
export const isFloat = (dtype: DType): boolean => {
  const { family } = DTYPES[dtype];
  return family === "float" || family === "half";
};

/** Returns true if every update performs the same step and no division follows, as in most calls. */
export const isOneStep = ({ reduction, includeSelf }: Reducing): boolean =>
  includeSelf ? reduction !== "mean" : reduction === "none";

/** Returns the divisor of a target's mean after the given number of updates. */
export const divisorOf = ({ includeSelf }: Reducing, updates: number): number =>
  includeSelf ? updates + 1 : updates;
