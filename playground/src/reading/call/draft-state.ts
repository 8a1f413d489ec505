/** Converts a draft to a page state, in the version that the text specifies or else in the newest version. */

import type { OperatorVersion } from "ndscatter";
import { resolve, roleOf } from "ndscatter/operators";
import { withDType } from "../../document/edit.ts";
import { attempt } from "../../values/attempt.ts";
import { defaultText, dtypesOf, newestOf } from "../../values/schema.ts";
import type { State, TensorText } from "../../values/state.ts";
import type { Arr } from "./arrays.ts";
import type { Draft } from "./draft.ts";

function versionOf({ domain, op, opset }: Draft): OperatorVersion | null {
  if (opset !== undefined) {
    const found = attempt(() => resolve({ domain, op, opset }));
    if (!("error" in found)) return found;
  }
  return newestOf(domain, op);
}

/** Returns a draft's state, with remarks about facts that the text does not contain; null without a required input. */
export function stateOf(draft: Draft): { state: State; remarks: string[] } | null {
  const remarks = [...(draft.remarks ?? [])];
  const version = versionOf(draft);
  if (version === null) return null;
  const id = { domain: version.domain, op: version.name, opset: version.sinceVersion };
  if (draft.opset !== undefined && version.sinceVersion > draft.opset) {
    remarks.push(
      `${draft.op} is not in opset ${draft.opset}, so version ${version.sinceVersion} is shown.`,
    );
  }
  const inputs = version.inputs.map((schema, position): TensorText | null => {
    const given = draft.inputs[roleOf(schema)];
    return given === undefined ? null : withType(given, draft, version, position);
  });
  if (version.inputs.some((one, at) => one.optional !== true && inputs[at] === null)) return null;
  const attributes = Object.fromEntries(
    Object.entries(draft.attributes).filter(([name, text]) => text !== defaultText(version, name)),
  );
  return { state: { ...id, attributes, inputs }, remarks };
}

/**
 * Converts an array to the data type of the first input with the same type constraint, unless the text names a type.
 */
function withType(
  array: Arr,
  { inputs }: Draft,
  version: OperatorVersion,
  position: number,
): TensorText {
  const schema = version.inputs[position];
  const { dtype, shape, values } = array;
  const text = { dtype, shape, values };
  if (array.isSaid) return text;
  const first = version.inputs.find(({ type }) => type === schema.type);
  const wanted =
    first === undefined || first === schema ? dtype : (inputs[roleOf(first)]?.dtype ?? dtype);
  const types = dtypesOf(version, schema);
  const taken = types.includes(wanted)
    ? wanted
    : (types.find((one) => one === "int64" || one === "float32") ?? wanted);
  return taken === dtype ? text : withDType(text, taken);
}
