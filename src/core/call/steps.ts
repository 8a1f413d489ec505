/**
 * The steps of a reduction: the first update of a target does one thing, later ones another, and a mean is divided at the
 * end. This file says which steps these are. Four carry the steps out: `execute.ts` on tensors, `chunked/stages/move.ts` chunk by
 * chunk, `gpu/kernels/scatter.ts` on a GPU, and `diagnose/rule.ts` by the rules of other systems.
 */

import type { Settings } from "../operators/operator.ts";
import type { Steps } from "../tensor/dtype.ts";

/** What a reduction does, and whether it begins with the value of data. */
export type Reducing = Pick<Settings, "reduction" | "includeSelf">;

/** The steps of a reduction. */
export function stepsOf({ reduction, includeSelf }: Reducing): Steps {
  const step = reduction === "mean" ? "add" : reduction;
  return { first: includeSelf ? step : "none", later: step, divides: reduction === "mean" };
}

/** Whether every update does the same step, and nothing follows: so it is with most calls. */
export const isOneStep = ({ reduction, includeSelf }: Reducing): boolean =>
  includeSelf ? reduction !== "mean" : reduction === "none";

/** The divisor of a mean after that many updates. */
export const divisorOf = ({ includeSelf }: Reducing, updates: number): number =>
  includeSelf ? updates + 1 : updates;
