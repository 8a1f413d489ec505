/** Edits a tensor's text or a whole state. Every edit returns a new text or state. */

import { DTYPES, type DType, type OperatorVersion } from "ndscatter";
import { roleOf } from "ndscatter/operators";
import { checkShape } from "../values/limits.ts";
import { defaultText, dtypesOf } from "../values/schema.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText, zeroText } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";
import { coordinatesOf, positionOf, sizeOf } from "../values/shape.ts";

/** An edited tensor text, or the reason why the edit was refused. */
export type Edited = { readonly input: TensorText } | { readonly error: string };

/**
 * Reshapes a tensor; new elements are zero. If the rank stays the same, or axes are added or removed at the end, every
 * element that fits keeps its coordinates. If the rank changes but the number of elements stays the same, all elements
 * keep their order. Otherwise, leading axes are added or removed, and coordinates are aligned at the last axis.
 */
export const withShape = (input: TensorText, shape: readonly number[]): Edited =>
  attempt(() => {
    checkShape(shape, "the tensor");
    const { shape: before, values } = input;
    if (shape.length !== before.length && sizeOf(shape) === values.length) {
      return { input: { dtype: input.dtype, shape: [...shape], values } };
    }
    if (keepsCoordinates(before, shape)) return { input: resized(input, shape) };
    const ones = Array.from({ length: Math.max(shape.length - before.length, 0) }, () => 1);
    const aligned = [...ones, ...before.slice(-shape.length)];
    return { input: resized({ ...input, shape: aligned }, shape) };
  });

/** Checks whether a change of shape keeps the rank, or adds or removes axes only at the end. */
export const keepsCoordinates = (before: readonly number[], after: readonly number[]): boolean =>
  before.length === after.length ||
  before.slice(0, after.length).every((length, axis) => length === after[axis]);

/**
 * Resizes a tensor, whose elements keep their coordinates. Along an axis that is added or removed at the end, the first
 * element stays. New elements come from `below`, the elements of a tensor of the new shape, or are zero.
 */
export function resized(
  { dtype, shape: before, values }: TensorText,
  shape: readonly number[],
  below: readonly string[] = [],
): TensorText {
  const zero = zeroText(dtype);
  const texts = Array.from({ length: sizeOf(shape) }, (_, position) => {
    const at = coordinatesOf(position, shape);
    const from = before.map((_, axis) => at[axis] ?? 0);
    const isThere =
      from.every((coordinate, axis) => coordinate < before[axis]) &&
      at.slice(before.length).every((coordinate) => coordinate === 0);
    return (isThere ? values[positionOf(from, before)] : below[position]) ?? zero;
  });
  return { dtype, shape: [...shape], values: texts };
}

/**
 * Returns the tensor with another data type. Elements keep their text, even if the new data type cannot represent them.
 * Only booleans are converted to 0 and 1, and back.
 */
export function withDType(input: TensorText, dtype: DType): TensorText {
  const { dtype: before, values } = input;
  const [wasBool, isBool] = [before, dtype].map((one) => DTYPES[one].family === "bool");
  if (isBool && !wasBool) {
    return {
      ...input,
      dtype,
      values: values.map((text) => (/^[01]$/.test(text) ? WORDS[Number(text)] : text)),
    };
  }
  if (wasBool && !isBool && DTYPES[dtype].family !== "string") {
    return { ...input, dtype, values: values.map((text) => numberOf(text)) };
  }
  const isFromEmpty = before === "string";
  return {
    ...input,
    dtype,
    values: isFromEmpty ? values.map((text) => text || zeroText(dtype)) : values,
  };
}

const WORDS = ["false", "true"] as const;

const numberOf = (text: string): string => {
  const position = WORDS.findIndex((word) => word === text.trim().toLowerCase());
  return position === -1 ? text : String(position);
};

/** Returns the tensor with a new text for one element, or the same tensor if the element does not exist. */
export function withValue(input: TensorText, at: readonly number[], text: string): TensorText {
  const { shape, values } = input;
  const isThere =
    at.length === shape.length &&
    at.every(
      (coordinate, axis) =>
        Number.isInteger(coordinate) && coordinate >= 0 && coordinate < shape[axis],
    );
  return isThere ? { ...input, values: values.with(positionOf(at, shape), text) } : input;
}

export const withInput = (state: State, input: number, text: TensorText | null): State => ({
  ...state,
  inputs: state.inputs.with(input, text),
});

/**
 * Returns the state with another shape of one input: the same state for the same shape, and null if the input is omitted
 * or the shape is refused.
 */
export function withInputOf(state: State, input: number, shape: readonly number[]): State | null {
  const text = state.inputs[input] ?? null;
  if (text === null) return null;
  if (String(text.shape) === String(shape)) return state;
  const edited = withShape(text, shape);
  return "error" in edited ? null : withInput(state, input, edited.input);
}

/** Returns the state with another data type of an input, and of all inputs with the same type constraint. */
export function withType(
  state: State,
  { inputs: schemas }: OperatorVersion,
  input: number,
  dtype: DType,
): State {
  const inputs = state.inputs.map((text, other) =>
    text !== null && schemas[other].type === schemas[input].type ? withDType(text, dtype) : text,
  );
  return { ...state, inputs };
}

/** Returns the state with another attribute value. A value that equals its default is not stored. */
export function withAttribute(
  state: State,
  version: OperatorVersion | null,
  name: string,
  text: string,
): State {
  const { [name]: _, ...others } = state.attributes;
  const isDefault = version !== null && defaultText(version, name) === text;
  return { ...state, attributes: isDefault ? others : { ...others, [name]: text } };
}

/**
 * Returns the state with an omitted input added: one zero for each index on the first axis of data, in the data type of
 * an input with the same type constraint.
 */
export function withGiven(state: State, version: OperatorVersion, input: number): State {
  const schema = version.inputs[input];
  const shape = roleOf(schema) === "axis" ? [] : (state.inputs[0]?.shape.slice(0, 1) ?? []);
  const peer = state.inputs.find(
    (text, other) => text && version.inputs[other].type === schema.type,
  );
  const [dtype = "float32"] = peer ? [peer.dtype] : dtypesOf(version, schema);
  return withInput(state, input, zerosText(dtype, shape));
}
