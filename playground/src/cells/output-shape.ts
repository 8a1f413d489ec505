/** Computes a call's output shape, which is often known even if the call has errors. */

import { roleOf } from "ndscatter/operators";
import { rolePosition } from "../values/schema.ts";
import type { CallView } from "./view.ts";

/** Returns the output shape, or null if the valid parts of the call do not determine it. */
export function outputShapeOf({
  state,
  explanation,
  faults,
  picture,
}: CallView): readonly number[] | null {
  if (picture !== null) return picture.output.shape;
  const version = explanation?.version ?? null;
  if (explanation === null || version === null) return null;
  // A scatter's output always has the shape of data, even if other inputs are invalid.
  if (rolePosition(version, "updates") !== -1) {
    return state.inputs[rolePosition(version, "data")]?.shape ?? null;
  }
  // An axis that cannot be parsed becomes 0, which must not determine the output shape.
  const isAxisWrong = faults.some(
    ({ place }) => "input" in place && roleOf(version.inputs[place.input]) === "axis",
  );
  const [{ name }] = version.outputs;
  return isAxisWrong ? null : (explanation.shapes.find(({ of }) => of === name)?.expected ?? null);
}
