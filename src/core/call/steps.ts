/**
 * Defines the steps of a reduction: how to apply the first update of a target, how to apply later updates, and whether
 * a mean is divided at the end. Four files perform the steps: `execute.ts` on tensors, `chunked/stages/move.ts` chunk
 * by chunk, `gpu/kernels/scatter.ts` on a GPU, and `diagnose/rule.ts` under the rules of other systems.
 */

import type { Settings } from "../operators/operator.ts";
import type { Steps } from "../tensor/dtype.ts";

/** A reduction, and whether it starts with the value in data. */
export type Reducing = Pick<Settings, "reduction" | "includeSelf">;

/** Returns the steps of a reduction. */
export function stepsOf({ reduction, includeSelf }: Reducing): Steps {
  const step = reduction === "mean" ? "add" : reduction;
  return { first: includeSelf ? step : "none", later: step, divides: reduction === "mean" };
}

/** Returns true if every update performs the same step and no division follows, as in most calls. */
export const isOneStep = ({ reduction, includeSelf }: Reducing): boolean =>
  includeSelf ? reduction !== "mean" : reduction === "none";

/** Returns the divisor of a target's mean after the given number of updates. */
export const divisorOf = ({ includeSelf }: Reducing, updates: number): number =>
  includeSelf ? updates + 1 : updates;
