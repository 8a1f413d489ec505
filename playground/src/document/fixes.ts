/**
 * Proposes fixes for a call's faults; one click applies a fix. Every fix is tested before it is offered: its fault must
 * disappear, and fewer faults must remain. The library's own checks decide whether a fix works.
 */

import {
  DTYPES,
  isTensorError,
  operators,
  type AttributeSchema,
  type BadIndex,
  type OperatorVersion,
  type ParameterSchema,
} from "ndscatter";
import { printShape, roleOf } from "ndscatter/operators";
import { withAttribute, withGiven, withInput, withInputOf, withType, withValue } from "./edit.ts";
import { explainState, type ExplainedState, type Fault } from "./read-state.ts";
import { dtypesOf, firstText, rolePosition } from "../values/schema.ts";
import { positionOf } from "../values/shape.ts";
import type { State, TensorText } from "../values/state.ts";
import { zeroText } from "../values/tensor-text.ts";
import { fitted } from "./with-operator.ts";

export interface Fix {
  /** The button's text, such as `clamp to 3`. */
  readonly label: string;
  readonly state: State;
}

const MOST_FIXES = 4;

/** The maximum number of proposals to try, because each trial runs the whole call. */
const MOST_TRIES = 24;

interface Broken extends ExplainedState {
  readonly state: State;
  readonly version: OperatorVersion;
}

/** Returns up to four fixes, starting with fixes for the first fault. */
export function fixesOf(state: State, explained = explainState(state)): readonly Fix[] {
  const { version, faults } = explained;
  if (version === null || faults.length === 0) return [];
  const broken: Broken = { ...explained, state, version };
  const fixes: Fix[] = [];
  let tries = 0;
  for (const fault of faults) {
    for (const proposal of proposalsFor(fault, broken)) {
      if (fixes.length === MOST_FIXES || tries++ === MOST_TRIES) return fixes;
      const fix = settled(proposal);
      const isNew = fixes.every(({ label }) => label !== fix.label);
      if (isNew && isFixed(fix.state, fault, faults)) fixes.push(fix);
    }
  }
  return fixes;
}

function isFixed(state: State, fault: Fault, before: readonly Fault[]): boolean {
  const { faults } = explainState(state);
  const isGone = faults.every(({ sentence }) => sentence !== fault.sentence);
  return isGone && faults.length < before.length;
}

/** Adapts another input's shape to the proposed change. */
function settled({ label, state }: Fix): Fix {
  const next = fitted(state);
  if (next === null) return { label, state };
  return { label: `${label}, and ${next.of} ${printShape(next.shape)}`, state: next.state };
}

function* proposalsFor(fault: Fault, broken: Broken): Iterable<Fix> {
  const { place } = fault;
  const { state, version, explanation } = broken;
  if ("attribute" in place) yield* attributeFixes(place.attribute, broken);
  if ("input" in place) {
    const schema = version.inputs[place.input];
    const bad = explanation?.badIndices.find(
      ({ sentence, input }) => sentence === fault.sentence && input === schema?.name,
    );
    if (bad !== undefined) yield* indexFixes(place.input, bad, broken);
    else if ("at" in place) yield* elementFixes(place.input, place.at, broken);
    if (schema !== undefined && roleOf(schema) === "axis") yield* axisFixes(place.input, broken);
    yield* dtypeFixes(place.input, broken);
  }
  for (const { of, fits, expected } of explanation?.shapes ?? []) {
    const input = version.inputs.findIndex(({ name }) => name === of);
    if (!fits) yield* shapeFix(state, input, expected, `make ${of}`);
  }
  yield* rankFixes(broken);
  yield* missing(broken);
  yield* newerVersions(broken);
}

function* shapeFix(
  state: State,
  input: number,
  shape: readonly number[],
  verb: string,
): Iterable<Fix> {
  const next = withInputOf(state, input, shape);
  if (next !== null) yield { label: `${verb} ${printShape(shape)}`, state: next };
}

/** Proposes fixes for an index out of range: clamp the index, or enlarge data. */
function* indexFixes(input: number, bad: BadIndex, broken: Broken): Iterable<Fix> {
  const { state, version, explanation } = broken;
  const text = state.inputs[input];
  const data = rolePosition(version, "data");
  if (text === null) return;
  const valued = (value: number): State =>
    withInput(state, input, withValue(text, bad.at, String(value)));
  const clamped = clampedIndex(bad);
  if (clamped !== null) yield { label: `clamp to ${clamped}`, state: valued(clamped) };
  const got = Number(bad.got);
  const [least, most] = bad.expected;
  const length = state.inputs[data]?.shape[bad.axis] ?? 0;
  // In a version without negative indices, a negative index was probably meant to count from the end.
  if (least === 0 && got < 0 && got + length >= 0) {
    yield { label: `use ${got + length} instead of ${got}`, state: valued(got + length) };
  }
  if (least < 0 && got === most + 1) yield { label: "use -1, the last index", state: valued(-1) };
  const shape = state.inputs[data]?.shape ?? [];
  const needed = got < 0 ? -got : got + 1;
  if (bad.axis < shape.length && (got >= 0 || least < 0)) {
    yield* shapeFix(state, data, shape.with(bad.axis, needed), `make ${version.inputs[data].name}`);
  }
  const all = (explanation?.badIndices ?? []).filter((one) => one.input === bad.input);
  if (all.length < 2) return;
  const every = all.reduce((next, one) => {
    const nearest = clampedIndex(one);
    return nearest === null ? next : withValue(next, one.at, String(nearest));
  }, text);
  yield { label: `clamp all ${all.length}`, state: withInput(state, input, every) };
}

/** Returns the nearest valid index as a non-negative number, or null for an empty axis. */
function clampedIndex({ got, expected: [least, most] }: BadIndex): number | null {
  if (most < least) return null;
  return got > most ? most : Math.max(0, least);
}

/** Proposes fixes for an element that its data type cannot represent. */
function* elementFixes(input: number, at: readonly number[], { state }: Broken): Iterable<Fix> {
  const text = state.inputs[input];
  if (text === null || text === undefined) return;
  const typed = Number(text.values[positionOf(at, text.shape)]);
  const zero = zeroText(text.dtype);
  for (const value of [...(Number.isFinite(typed) ? [String(Math.trunc(typed))] : []), zero]) {
    const label = `replace with ${value === "" ? "an empty text" : value}`;
    yield { label, state: withInput(state, input, withValue(text, at, value)) };
  }
}

/** Proposes other attribute values: first values near the given value, then the smallest values. */
function* attributeFixes(name: string, broken: Broken): Iterable<Fix> {
  const { state, version, explanation } = broken;
  const schema = version.attributes.find((one) => one.name === name);
  const { [name]: text = "", ...others } = state.attributes;
  // A newer version that accepts the value preserves the user's intention, so this fix comes first.
  if (!isTensorError(explanation?.error, "axis")) yield* newerVersions(broken);
  if (schema === undefined)
    yield { label: `leave ${name} out`, state: { ...state, attributes: others } };
  else {
    for (const value of valuesOf(schema, nearestAxis(text, broken))) {
      if (value === text) continue;
      yield { label: `use ${name} ${value}`, state: withAttribute(state, version, name, value) };
    }
  }
}

/** Returns candidate values of an attribute. */
function valuesOf(schema: AttributeSchema, nearest: number): Iterable<string> {
  const { values, type } = schema;
  if (values !== undefined) return values;
  if (type === "boolean") return ["false", "true"];
  return type === "int" ? new Set([nearest, 0, 1, 2, -1, firstText(schema)].map(String)) : [];
}

/** Proposes fixes for an axis given as an input. */
function* axisFixes(input: number, broken: Broken): Iterable<Fix> {
  const { state } = broken;
  const text = state.inputs[input];
  if (text === null || text === undefined) return;
  for (const value of new Set([nearestAxis(text.values[0], broken), 0, 1])) {
    const scalar = { ...text, shape: [], values: [String(value)] };
    yield { label: `use axis ${value}`, state: withInput(state, input, scalar) };
  }
}

/** Returns the valid axis that is nearest to a text, counted from the first axis; 0 if the call's error names no range. */
function nearestAxis(text: string | undefined, { explanation }: Broken): number {
  const error = explanation?.error;
  const [least = 0, most = 0] = isTensorError(error, "axis") ? (error.expected ?? []) : [];
  const given = Number(text);
  return Number.isNaN(given) ? 0 : Math.min(Math.max(given, 0, least), most);
}

/** Proposes accepted data types. Inputs with the same type constraint change together. */
function* dtypeFixes(input: number, broken: Broken): Iterable<Fix> {
  const { state, version, explanation } = broken;
  if (!isTensorError(explanation?.error, "dtype")) return;
  yield* newerVersions(broken);
  for (const dtype of byLikeness(version, version.inputs[input], state.inputs[input] ?? null)) {
    yield { label: `use ${dtype}`, state: withType(state, version, input, dtype) };
  }
}

/**
 * Returns candidate data types for an input: first the types of inputs with the same type constraint, then common
 * types.
 */
function byLikeness(version: OperatorVersion, schema: ParameterSchema, text: TensorText | null) {
  const family = text === null ? null : DTYPES[text.dtype].family;
  const rank = (dtype: keyof typeof DTYPES): number =>
    (dtype === "int64" || dtype === "float32" ? 0 : 1) + (DTYPES[dtype].family === family ? 0 : 2);
  return dtypesOf(version, schema)
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, 3);
}

/** Proposes new shapes of indices and data for errors in rank or axis. */
function* rankFixes({ state, version, explanation }: Broken): Iterable<Fix> {
  const error = explanation?.error ?? null;
  if (!isTensorError(error, "rank", "shape-mismatch")) return;
  // The input's shape follows from the other inputs, so this fix is already offered.
  if (explanation?.shapes.some(({ of, fits }) => of === error.input && !fits)) return;
  const [data, indices] = [rolePosition(version, "data"), rolePosition(version, "indices")];
  const shape = state.inputs[data]?.shape ?? [];
  const mine = state.inputs[indices]?.shape;
  const give = (position: number, next: readonly number[]): Iterable<Fix> =>
    shapeFix(state, position, next, `give ${version.inputs[position].name} the shape`);
  if (mine !== undefined) {
    const rank = shape.length;
    // Proposes to turn each index in a list into a tuple of one index.
    yield* give(indices, [...mine, 1]);
    if (mine.length < rank) {
      yield* give(indices, [...mine, ...Array<number>(rank - mine.length).fill(1)]);
    }
    if (mine.length > rank) yield* give(indices, mine.slice(0, rank));
    // A range gives the allowed tuple lengths; a number gives another input's rank.
    const [, most] = Array.isArray(error.expected) ? (error.expected as readonly unknown[]) : [];
    if (mine.length > 0 && error.code === "rank" && typeof most === "number") {
      yield* give(indices, [...mine.slice(0, -1), most]);
    }
    // Apart from the axis, an index and its target have the same coordinates, so data must be at least as large.
    const fitting = mine.map((length, axis) => Math.min(length, shape[axis] ?? length));
    yield* give(indices, fitting);
    yield* give(
      indices,
      mine.map((length, axis) => (axis === 0 ? (shape[0] ?? length) : length)),
    );
    if (mine.length === rank) {
      yield* give(
        data,
        shape.map((length, axis) => Math.max(length, mine[axis])),
      );
    }
  }
  if (shape.length === 0) yield* give(data, [1]);
}

function* missing({ state, version }: Broken): Iterable<Fix> {
  for (const [input, { name, optional }] of version.inputs.entries()) {
    if (optional === true || state.inputs[input] !== null) continue;
    yield { label: `add ${name}`, state: withGiven(state, version, input) };
  }
}

function* newerVersions({ state, version }: Broken): Iterable<Fix> {
  for (const other of operators()) {
    const isNewer = other.sinceVersion > version.sinceVersion;
    const isSame = other.name === version.name && other.domain === version.domain;
    if (!isNewer || !isSame || other.inputs.length !== version.inputs.length) continue;
    const { sinceVersion: opset } = other;
    yield { label: `use ${version.name}-${opset}`, state: { ...state, opset } };
  }
}
