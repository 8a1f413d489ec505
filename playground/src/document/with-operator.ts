/**
 * Converts a state to another operator or version. Parts that the version does not accept are omitted, and the
 * library's reason is reported.
 */

import {
  explain,
  infer,
  type DType,
  type OperatorVersion,
  type Reduction,
  type Role,
} from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import { withDType, withShape } from "./edit.ts";
import type { OperatorChoice } from "./state.ts";
import { PRESETS } from "../examples/presets.ts";
import { explainState, readState } from "./read-state.ts";
import { checkShape } from "../values/limits.ts";
import { defaultText, dtypesOf, firstText, rolePosition } from "../values/schema.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";
import { printNames } from "../values/names.ts";

export interface Chosen {
  readonly state: State;
  readonly remarks: string[];
}

/**
 * Returns `state` under another version, with a remark for each refused attribute, data type and input. If the shapes
 * do not fit, the inputs of the user's own call are reshaped, and an example replaces any other call.
 */
export function withOperator(state: State, choice: OperatorChoice, isOwn = false): Chosen {
  const found = attempt(() => ({ version: resolve(choice) }));
  if ("error" in found) return { state, remarks: [found.error] };
  const { version } = found;
  const from = attempt(() => resolve({ domain: state.domain, op: state.op, opset: state.opset }));
  const before = "error" in from ? version : from;
  const remarks: string[] = [];
  const id = { domain: version.domain, op: version.name, opset: version.sinceVersion };
  const { kept: attributes, refused } = keptAttributes(state, before, version);
  const inputs = keptInputs(state, before, version, remarks);
  const dropped = refused.map(({ name, text, sentence }) => {
    const word = name === "reduction" ? sameReduction(state, { ...id, attributes, inputs }) : null;
    if (word === null) return `${sentence}, so ${name} = ${text} is left out`;
    attributes[name] = word;
    return `${name} = ${text} is called ${word} in ${id.op}-${id.opset}`;
  });
  const bare = { ...id, attributes, inputs };
  const hasNew = rolePosition(before, "updates") === -1;
  const sized = hasNew ? attempt(() => withUpdates(bare, version)) : bare;
  const chosen = "error" in sized ? bare : sized;
  const isSibling = before.name === version.name && before.domain === version.domain;
  const example = PRESETS.find((one) => one.state.op === id.op && one.state.domain === id.domain);
  if (isSibling || example === undefined || suits(chosen)) {
    return { state: chosen, remarks: [...dropped, ...remarks] };
  }
  const title = `${version.name}-${version.sinceVersion}`;
  const adapted = isOwn ? reshapedFor(chosen, version) : null;
  if (adapted !== null) {
    const names = version.inputs.flatMap(({ name }, position) =>
      adapted.inputs[position] === chosen.inputs[position] ? [] : [name],
    );
    const are = names.length === 1 ? "is" : "are";
    const what = `${title} needs other shapes, so ${printNames(names)} ${are} reshaped; undo restores the call`;
    return { state: adapted, remarks: [what, ...dropped, ...remarks] };
  }
  const sentence = `${title} cannot be run on these shapes, so an example is shown`;
  // The example may use another operator version. The recursion is only one level deep, because the operator stays the
  // same.
  const { state: shown, remarks: more } = withOperator(example.state, id);
  return { state: shown, remarks: [sentence, ...more] };
}

/** Returns the state with indices, and the inputs that follow from them, in shapes that fit; null if none fit. */
function reshapedFor(state: State, version: OperatorVersion): State | null {
  const [data, indices] = [rolePosition(version, "data"), rolePosition(version, "indices")];
  const [rows, own] = [state.inputs[data]?.shape ?? [], state.inputs[indices]?.shape ?? []];
  const shapes = [
    own,
    [...own.slice(0, -1), 1],
    [...own.slice(0, 1), ...rows.slice(1)],
    rows.slice(0, 1),
  ];
  for (const shape of shapes) {
    let next = withInputShape(state, indices, shape);
    // Each pass reshapes one input.
    for (const _ of version.inputs) {
      if (suits(next)) return next;
      const { node, inputs } = readState(next);
      const derived = attempt(() => ({ shapes: explain(node, inputs).shapes }));
      const unfit = "error" in derived ? undefined : derived.shapes.find(({ fits }) => !fits);
      if (unfit === undefined) break;
      const position = version.inputs.findIndex(({ name }) => name === unfit.of);
      next = withInputShape(next, position, unfit.expected);
    }
  }
  return null;
}

function withInputShape(state: State, position: number, shape: readonly number[]): State {
  const text = state.inputs[position];
  if (text == null || String(text.shape) === String(shape)) return state;
  const edited = withShape(text, shape);
  return "error" in edited
    ? state
    : { ...state, inputs: state.inputs.with(position, edited.input) };
}

/** Checks whether a state's shapes are compatible; values are not checked. */
function suits(state: State): boolean {
  const { node, inputs } = readState(state);
  return !("error" in attempt(() => infer(node, inputs)));
}

/** Returns another version's name for the state's reduction, or null if that version lacks the reduction. */
function sameReduction(before: State, after: State): string | null {
  const meaning = reductionOf(before);
  if (meaning === null) return null;
  const words = resolve(after).attributes.find(({ name }) => name === "reduction")?.values ?? [];
  const isSame = (word: string): boolean =>
    reductionOf({ ...after, attributes: { ...after.attributes, reduction: word } }) === meaning;
  return words.find(isSame) ?? null;
}

/** Returns the library's name for the state's reduction, or null for a gather or an invalid call. */
function reductionOf(state: State): Reduction | null {
  const story = explainState(state).explanation?.story;
  return story?.kind === "scatter" ? story.reduction : null;
}

/** A refused attribute, with the library's reason. */
interface Refused {
  readonly name: string;
  readonly text: string;
  readonly sentence: string;
}

/** Returns the accepted non-default attributes, and the refused attributes. */
function keptAttributes(
  state: State,
  before: OperatorVersion,
  version: OperatorVersion,
): { kept: Record<string, string>; refused: Refused[] } {
  const id = { domain: version.domain, op: version.name, opset: version.sinceVersion };
  const given = { ...state.attributes };
  const axis = version.attributes.find(({ name }) => name === "axis");
  const typed = state.inputs[rolePosition(before, "axis")];
  // The axis changes from an input to an attribute.
  if (axis !== undefined && typed?.values.length === 1) [given["axis"]] = typed.values;
  const isInput = rolePosition(version, "axis") !== -1;
  const kept: Record<string, string> = {};
  const refused: Refused[] = [];
  for (const [name, text] of Object.entries(given)) {
    if (name === "axis" && isInput) continue;
    const faults = readState({ ...id, attributes: { [name]: text }, inputs: [] }).faults;
    const fault = faults.find(({ place }) => "attribute" in place && place.attribute === name);
    if (fault !== undefined) refused.push({ name, text, sentence: fault.sentence });
    else if (text !== defaultText(version, name)) kept[name] = text;
  }
  for (const schema of version.attributes) {
    if (schema.default === undefined) kept[schema.name] ??= firstText(schema);
  }
  return { kept, refused };
}

/** Returns the version's inputs, matched by role and converted to accepted data types. */
function keptInputs(
  state: State,
  before: OperatorVersion,
  version: OperatorVersion,
  remarks: string[],
): (TensorText | null)[] {
  const byRole = new Map<Role, TensorText | null>(
    before.inputs.map((one, position) => [roleOf(one), state.inputs[position] ?? null]),
  );
  const inputs = version.inputs.map((schema): TensorText | null => {
    const role = roleOf(schema);
    const had = byRole.get(role) ?? null;
    if (had === null && schema.optional === true) return null;
    if (had !== null) return had;
    if (role === "axis") {
      const axis = state.attributes["axis"] ?? defaultText(before, "axis") ?? "0";
      return { dtype: "int64", shape: [], values: [axis] };
    }
    return zerosText(role === "indices" ? "int64" : (byRole.get("data")?.dtype ?? "float32"), [1]);
  });
  for (const one of before.inputs) {
    const role = roleOf(one);
    const isGone = role !== "axis" && rolePosition(version, role) === -1;
    if (isGone && byRole.get(role) !== null) {
      remarks.push(`${version.name} has no input ${one.name}, so it is left out`);
    }
  }
  return retyped(version, inputs, remarks);
}

/**
 * Converts the inputs to data types that the version accepts. Inputs with the same type constraint get the same data
 * type.
 */
function retyped(
  version: OperatorVersion,
  inputs: readonly (TensorText | null)[],
  remarks: string[],
): (TensorText | null)[] {
  return inputs.map((text, position) => {
    if (text === null) return null;
    const schema = version.inputs[position];
    const types = dtypesOf(version, schema);
    const first = inputs[version.inputs.findIndex(({ type }) => type === schema.type)] ?? text;
    const wanted = types.includes(first.dtype) ? first.dtype : nearest(types, first.dtype);
    if (text === first && wanted !== text.dtype) {
      remarks.push(`${dtypeRefusal(version, position, text)}, so it becomes ${wanted}`);
    }
    return wanted === text.dtype ? text : withDType(text, wanted);
  });
}

/** Returns the library's error for one input's data type. */
function dtypeRefusal(version: OperatorVersion, position: number, text: TensorText): string {
  const node = { domain: version.domain, op: version.name, opset: version.sinceVersion };
  const attributes = version.attributes
    .filter((one) => one.default === undefined)
    .map((one) => [one.name, one.type === "int" ? 0 : firstText(one)]);
  const types = version.inputs.map((schema, other) => ({
    dtype: other === position ? text.dtype : dtypesOf(version, schema)[0],
    shape: null,
  }));
  const found = attempt(() =>
    infer({ ...node, attributes: Object.fromEntries(attributes) }, types),
  );
  return "error" in found ? found.error : `${version.name} does not take ${text.dtype}`;
}

function nearest(types: readonly DType[], dtype: DType): DType {
  const kind = dtype.replace(/\d.*$/, "");
  const alike = types.filter((one) => one.startsWith(kind));
  return alike.find(isUsual) ?? alike.pop() ?? types.find(isUsual) ?? types[0];
}

const isUsual = (dtype: DType): boolean => dtype === "float32" || dtype === "int64";

/** Gives updates the shape that follows from data and indices. Throws `too-large` if the page cannot show this shape. */
export function withUpdates(state: State, version: OperatorVersion): State {
  const position = rolePosition(version, "updates");
  const updates = state.inputs[position];
  if (updates === undefined || updates === null) return state;
  const { node, inputs } = readState(state);
  const expected = explain(node, inputs).shapes.find(
    ({ of }) => of === version.inputs[position].name,
  );
  if (expected === undefined || expected.fits) return state;
  checkShape(expected.expected, expected.of);
  const fitting = zerosText(updates.dtype, expected.expected);
  return { ...state, inputs: state.inputs.with(position, fitting) };
}
