/** `duplicates: "error"`: whether two updates have one target. */

import { TensorError } from "../errors.ts";
import type { PlanInputs } from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import { split } from "../plan/repeats.ts";
import { coordinatesOf, printShape } from "../tensor/shape.ts";
import type { Call } from "./call.ts";

/** @throws TensorError `duplicate-index` at the first index whose target an earlier one has. */
export function checkDuplicates(plan: Plan, call: Call, inputs: PlanInputs): void {
  const { first, later } = split(plan);
  if (later.source === undefined || first.source === undefined || later.count === 0) return;
  const { positions, indexAt, addressed } = call.operator.layout(inputs, call);
  const target = later.offsets[0];
  const at = indexAt(coordinatesOf(later.source[0], positions));
  const earlier = indexAt(coordinatesOf(first.source[first.offsets.indexOf(target)], positions));
  const cell = coordinatesOf(target, inputs.data).slice(0, addressed);
  const where = cell.length === 0 ? "" : printShape(cell);
  throw new TensorError(
    "duplicate-index",
    `indices${printShape(at)} has the target of indices${printShape(earlier)}, data${where}`,
    { ...call.fields, input: "indices", at },
  );
}
