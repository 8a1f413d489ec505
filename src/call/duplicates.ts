/** `duplicates: "error"`: the error for the first update whose target an earlier update has. */

import { TensorError, type ErrorFields } from "../errors.ts";
import type { PlanInputs } from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import { firstRepeat, type Repeat } from "../plan/repeats.ts";
import { coordinatesOf, printShape } from "../tensor/shape.ts";
import type { Call } from "./call.ts";
import type { Policies } from "./policies.ts";

/** Whether two updates of one target are an error of the call. */
export const refusesRepeats = ({ operator, settings }: Call, { duplicates }: Policies): boolean =>
  duplicates === "error" && settings.reduction === "none" && operator.kind === "scatter";

/** @throws TensorError `duplicate-index` at the first index whose target an earlier one has */
export function checkDuplicates(plan: Plan, call: Call, inputs: PlanInputs): void {
  const repeat = firstRepeat(plan);
  if (repeat !== null) throw repeatError(repeat, call, inputs);
}

/** The error for a repeated target of a call's Plan. */
export function repeatError(repeat: Repeat, call: Call, inputs: PlanInputs): TensorError {
  const { positions, indexAt, addressed } = call.operator.layout(inputs, call);
  const at = indexAt(coordinatesOf(repeat.position, positions));
  const earlier = indexAt(coordinatesOf(repeat.earlier, positions));
  const cell = coordinatesOf(repeat.target, inputs.data).slice(0, addressed);
  return duplicateError(at, earlier, cell, call.fields);
}

/**
 * @param at of an index, whose target the index at `earlier` has
 * @param cell that target's coordinates in data
 */
export const duplicateError = (
  at: readonly number[],
  earlier: readonly number[],
  cell: readonly number[],
  fields: ErrorFields,
): TensorError =>
  new TensorError(
    "duplicate-index",
    `indices${printShape(at)} has the target of indices${printShape(earlier)}, data` +
      (cell.length === 0 ? "" : printShape(cell)),
    { ...fields, input: "indices", at },
  );
