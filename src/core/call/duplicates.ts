/**
 * Updates that share a target: whether a call has any, and the error that `duplicates: "error"` gives for the first of
 * them.
 */

import { TensorError, type ErrorFields } from "../errors.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { planIndices, type PlanInputs } from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import { firstRepeat, type Repeat } from "../plan/repeats.ts";
import { coordinatesOf, printShape } from "../tensor/shape.ts";
import { callOf, nodeFrom, type Call, type NodeSpec } from "./call.ts";
import { tensorsOf } from "./inputs.ts";
import { policiesOf } from "./policies.ts";
import { prepare, rulesOf } from "./prepare.ts";

/**
 * True if two updates of a call have the same target, whatever the reduction.
 * @throws TensorError as `run`
 */
export function hasRepeats(node: NodeSpec, inputs: readonly unknown[]): boolean {
  const unsettled = callOf(nodeFrom(node));
  if (unsettled.operator.kind !== "scatter") return false;
  const { call, planInputs } = prepare(unsettled, tensorsOf(unsettled, inputs));
  const policies = policiesOf(call.operator, {}, call.fields);
  const rules = { ...rulesOf(call, policies), merge: false };
  return firstRepeat(planIndices(planInputs, call, rules, readIndices)) !== null;
}

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
