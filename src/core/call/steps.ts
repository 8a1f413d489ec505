/**
 * Defines the steps of a reduction: how to apply the first update of a target, how to apply later updates, and whether
 * a mean is divided at the end. `run.ts` performs the steps on tensors, `diagnose/predict.ts` under the rules of other
 * systems, `chunked/stages/move.ts` chunk by chunk, and `gpu/kernels/scatter.ts` on a GPU.
 */

import type { Settings } from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import { countTargets, split } from "../plan/targets.ts";
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

/**
 * Returns the step of a scatter that is a single action, as in most calls: every update performs the same step, no
 * division follows, and no text can exceed the maximum string length midway. Returns null for other scatters.
 */
export function singleStepOf(reducing: Reducing, dtype: DType): Step | null {
  return isOneStep(reducing) && dtype !== "string" ? stepOf(reducing, dtype) : null;
}

/** Returns true if every update performs the same step and no division follows. */
const isOneStep = ({ reduction, includeSelf }: Reducing): boolean =>
  includeSelf ? reduction !== "mean" : reduction === "none";

/** Returns the divisor of a target's mean after the given number of updates. */
export const divisorOf = ({ includeSelf }: Reducing, updates: number): number =>
  includeSelf ? updates + 1 : updates;

/** The parts of a scatter, in the order in which they are applied. */
export interface ScatterSteps {
  readonly parts: readonly { readonly plan: Plan; readonly step: Step }[];
  /** The targets of a mean, and the divisor of each; null for other reductions. */
  readonly division: { readonly targets: Plan; readonly divisors: Uint32Array } | null;
}

/**
 * Returns the steps of a scatter. The Plan stays whole, unless first updates are treated differently: then first and
 * later updates have separate Plans.
 */
export function scatterSteps(plan: Plan, reducing: Reducing, dtype: DType): ScatterSteps {
  const { first: step, later: laterStep, divides } = stepsOf(reducing, dtype);
  const whole = [{ plan, step }];
  if (isOneStep(reducing)) return { parts: whole, division: null };
  const { first, later } = split(plan);
  const separate = [
    { plan: first, step },
    { plan: later, step: laterStep },
  ];
  const parts = step === laterStep ? whole : separate;
  if (!divides) return { parts, division: null };
  const divisors = countTargets(first, later).map((count) => divisorOf(reducing, count));
  return { parts, division: { targets: first, divisors } };
}
