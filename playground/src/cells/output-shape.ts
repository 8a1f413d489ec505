/** The shape of a call's output, if possible also for a call with an error. */

import { roleOf } from "ndscatter";
import { rolePosition } from "../values/schema.ts";
import type { CallView } from "./view.ts";

/** The shape; null if the valid parts of the call do not determine it. */
export function outputShapeOf({
  state,
  explanation,
  faults,
  picture,
}: CallView): readonly number[] | null {
  if (picture !== null) return picture.output.shape;
  const version = explanation?.version ?? null;
  if (explanation === null || version === null) return null;
  // The output of a scatter always has the shape of its data, even if other inputs are wrong.
  if (rolePosition(version, "updates") !== -1) {
    return state.inputs[rolePosition(version, "data")]?.shape ?? null;
  }
  // An axis that cannot be read counts as 0 in the state, so no shape can be derived from it.
  const isAxisWrong = faults.some(
    ({ place }) => "input" in place && roleOf(version.inputs[place.input]) === "axis",
  );
  const [{ name }] = version.outputs;
  return isAxisWrong ? null : (explanation.shapes.find(({ of }) => of === name)?.expected ?? null);
}
