/**
 * The steps of a reduction: the first update of a target does one thing, later ones another, and a mean is divided at
 * the end. This file defines the steps. Four files carry them out: `execute.ts` on tensors, `chunked/stages/move.ts`
 * chunk by chunk, `gpu/kernels/scatter.ts` on a GPU, and `diagnose/rule.ts` by the rules of other systems.
 */

import type { Settings } from "../operators/operator.ts";
import type { Steps } from "../tensor/dtype.ts";

/** A reduction, and the choice whether it begins with the value of data. */
export type Reducing = Pick<Settings, "reduction" | "includeSelf">;

/** The steps of a reduction. */
export function stepsOf({ reduction, includeSelf }: Reducing): Steps {
  const step = reduction === "mean" ? "add" : reduction;
  return { first: includeSelf ? step : "none", later: step, divides: reduction === "mean" };
}

/** True if every update does the same step and no division follows, as in most calls. */
export const isOneStep = ({ reduction, includeSelf }: Reducing): boolean =>
  includeSelf ? reduction !== "mean" : reduction === "none";

/** The divisor of a mean after that many updates. */
export const divisorOf = ({ includeSelf }: Reducing, updates: number): number =>
  includeSelf ? updates + 1 : updates;
