/** `duplicates: "error"`: the error for the first update whose target an earlier update has. */

import { TensorError } from "../errors.ts";
import type { PlanInputs } from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import { firstRepeat } from "../plan/repeats.ts";
import { coordinatesOf, printShape } from "../tensor/shape.ts";
import type { Call } from "./call.ts";

/** @throws TensorError `duplicate-index` at the first index whose target an earlier one has */
export function checkDuplicates(plan: Plan, call: Call, inputs: PlanInputs): void {
  const repeat = firstRepeat(plan);
  if (repeat === null) return;
  const { positions, indexAt, addressed } = call.operator.layout(inputs, call);
  const at = indexAt(coordinatesOf(repeat.position, positions));
  const earlier = indexAt(coordinatesOf(repeat.earlier, positions));
  const cell = coordinatesOf(repeat.target, inputs.data).slice(0, addressed);
  const where = cell.length === 0 ? "" : printShape(cell);
  throw new TensorError(
    "duplicate-index",
    `indices${printShape(at)} has the target of indices${printShape(earlier)}, data${where}`,
    { ...call.fields, input: "indices", at },
  );
}
