/**
 * Detects updates that share a target, and creates the error that the policy `duplicates` throws for the first repeat.
 */

import { TensorError, type ErrorContext } from "../errors.ts";
import { readIndices } from "../kernels/read-indices.ts";
import { planIndices, type PlanInputs } from "../operators/operator.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import { firstRepeat, type Repeat } from "../plan/targets.ts";
import { coordinatesOf, printShape } from "../tensor/shape.ts";
import { callOf, nodeFrom, type Call, type NodeSpec } from "./call.ts";
import { tensorsOf } from "./inputs.ts";
import { policiesOf } from "./policies.ts";
import { prepare, rulesOf } from "./prepare.ts";

/**
 * Returns true if two updates of a call have the same target, regardless of the reduction.
 * @throws TensorError as `run`
 */
export function hasRepeats(node: NodeSpec, inputs: readonly unknown[]): boolean {
  const isScatter = callOf(nodeFrom(node)).operator.kind === "scatter";
  return isScatter && firstRepeat(planOf(node, inputs)) !== null;
}

/**
 * Returns the slices of data that the indices of a call address: the start of each, and their length, in elements. Uses
 * the shape of data, not its values.
 * @throws TensorError as `run`
 */
export function slicesOf(
  node: NodeSpec,
  inputs: readonly unknown[],
): { readonly starts: Uint32Array; readonly length: number } {
  const plan = planOf(node, inputs);
  return { starts: absoluteOffsets(plan), length: plan.slice };
}

function planOf(node: NodeSpec, inputs: readonly unknown[]): Plan {
  const unsettled = callOf(nodeFrom(node));
  const { call, planInputs } = prepare(unsettled, tensorsOf(unsettled, inputs));
  const policies = policiesOf(call.operator, {}, call.fields);
  const rules = { ...rulesOf(call, policies), merge: false };
  return planIndices(planInputs, call, rules, readIndices);
}

/**
 * Checks that a Plan has no repeated targets.
 * @throws TensorError `duplicate-index` at the first index whose target an earlier index already has
 */
export function checkDuplicates(plan: Plan, call: Call, inputs: PlanInputs): void {
  const repeat = firstRepeat(plan);
  if (repeat !== null) throw repeatError(repeat, call, inputs);
}

/** Creates the error for a repeated target in a call's Plan. */
export function repeatError(repeat: Repeat, call: Call, inputs: PlanInputs): TensorError {
  const { positions, indexAt, addressed } = call.operator.layout(inputs, call);
  const at = indexAt(coordinatesOf(repeat.position, positions));
  const earlier = indexAt(coordinatesOf(repeat.earlier, positions));
  const cell = coordinatesOf(repeat.target, inputs.data).slice(0, addressed);
  return duplicateError(at, earlier, cell, call.fields);
}

/**
 * Creates the error for two indices with the same target.
 * @param at the position of the later index in `indices`
 * @param earlier the position of the earlier index in `indices`
 * @param cell the coordinates of the shared target in data
 */
export const duplicateError = (
  at: readonly number[],
  earlier: readonly number[],
  cell: readonly number[],
  fields: ErrorContext,
): TensorError =>
  new TensorError(
    "duplicate-index",
    `indices${printShape(at)} has the same target as indices${printShape(earlier)}, data` +
      (cell.length === 0 ? "" : printShape(cell)),
    { ...fields, input: "indices", at, earlier, target: cell },
  );
