/** Computes the output shape of a call, in many cases even if the call has errors. */

import { roleOf } from "ndscatter/operators";
import { rolePosition } from "../values/schema.ts";
import type { CallView } from "./view.ts";

/** Returns the output shape; null if the valid parts of the call do not determine the shape. */
export function outputShapeOf({
  state,
  explanation,
  faults,
  picture,
}: CallView): readonly number[] | null {
  if (picture !== null) return picture.output.shape;
  const version = explanation?.version ?? null;
  if (explanation === null || version === null) return null;
  // The output of a scatter always has the shape of data, even if other inputs are invalid.
  if (rolePosition(version, "updates") !== -1) {
    return state.inputs[rolePosition(version, "data")]?.shape ?? null;
  }
  // An axis that cannot be parsed is replaced by 0 in the state, and this 0 must not determine the shape.
  const isAxisWrong = faults.some(
    ({ place }) => "input" in place && roleOf(version.inputs[place.input]) === "axis",
  );
  const [{ name }] = version.outputs;
  return isAxisWrong ? null : (explanation.shapes.find(({ of }) => of === name)?.expected ?? null);
}
