/**
 * Cuts data to the size of the indices. ONNX's GatherElements accepts indices that are smaller than data along other
 * axes; OpenVINO's GatherElements-6 rejects such indices.
 */

import { normalizeAxis } from "../../core/operators/shapes.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { quote } from "../model/graph.ts";
import type { GraphContext } from "./context.ts";
import {
  certainShape,
  onlyDeclared,
  refusal,
  targetVersion,
  versionTitle,
  type Meaning,
} from "./meaning.ts";

/**
 * Returns data, or a Gather that selects the part of data that the indices can address. Throws `unsupported-model` if
 * the target requires equal sizes, and the sizes are unknown.
 */
export function cutData(
  row: OperatorVersion,
  { version, settings, inputs, trusted }: Meaning,
  { target, scope, additions }: GraphContext,
): string | undefined {
  const { data = "", indices = "" } = inputs;
  const selector = targetVersion("Gather", target);
  if (row.needsEqualAxes !== true || version.needsEqualAxes === true || selector === null)
    return inputs.data;
  const [whole, part] = [data, indices].map((name) => scope.typeOf(name)?.shape ?? null);
  const unknown = (): Error =>
    refusal(
      `${versionTitle(row)} needs indices with the sizes of data except along the axis, and the sizes of ` +
        `${quote(data)} and ${quote(indices)} are not known to be equal; declare their shapes`,
    );
  if (whole === null || part === null) throw unknown();
  const own = normalizeAxis(Number(settings.axis), whole.length, {});
  let isCertain = true;
  let name = data;
  for (const [axis, size] of whole.entries()) {
    const { [axis]: dim } = part;
    if (axis === own || (dim === size && dim !== null)) continue;
    if (typeof size !== "number" || typeof dim !== "number") throw unknown();
    // Indices larger than data are an error, which a later type check reports.
    if (dim > size) continue;
    isCertain &&= certainShape(data, scope)?.[axis] === size;
    isCertain &&= certainShape(indices, scope)?.[axis] === dim;
    name = additions.select(name, selector, axis, dim);
  }
  if (!isCertain)
    trusted.add(onlyDeclared("shape", indices, `${quote(data)} was cut to fit this shape`));
  return name;
}
