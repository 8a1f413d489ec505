/**
 * Changes the inputs of a document's call. Removed elements and inputs are kept in reserve: unlike undo, the reserve
 * restores elements when an axis grows again.
 */

import { MOST_AXES, MOST_ELEMENTS } from "../values/limits.ts";
import { versionOf } from "../values/schema.ts";
import { sizeOf } from "../values/shape.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText } from "../values/tensor-text.ts";
import { NO_RESERVE, type Document, type Reserve } from "./document.ts";
import { keepsCoordinates, resized, withDType, withGiven, withInput, withShape } from "./edit.ts";

export const reserveOf = (document: Document, input: number): Reserve =>
  document.reserves[input] ?? NO_RESERVE;

/** Returns the document with an edited state. Removed elements and inputs are kept in reserve. */
export function withState(document: Document, state: State): Document {
  const { inputs } = document.state;
  if (state === document.state) return document;
  const reserves = state.inputs.map((after, position) =>
    reserveAfter(inputs[position] ?? null, after, reserveOf(document, position)),
  );
  return { ...document, state, reserves, preset: null };
}

/** Returns an input's reserve after a change that may reshape or omit the input. */
function reserveAfter(
  before: TensorText | null,
  after: TensorText | null,
  reserve: Reserve,
): Reserve {
  if (before === after) return reserve;
  if (after === null) return { ...reserve, leftOut: before };
  if (before === null) return { ...reserve, leftOut: null };
  const isSame = String(before.shape) === String(after.shape);
  return isSame ? reserve : { ...reserve, former: formerOf(before, after.shape, reserve) };
}

/** Returns the former tensor of an input that is being reshaped; null if no element keeps its coordinates. */
function formerOf(
  input: TensorText,
  shape: readonly number[],
  { former }: Reserve,
): TensorText | null {
  if (!keepsCoordinates(input.shape, shape)) return null;
  if (former === null) return input;
  const [some, others] = [input.shape, former.shape];
  const longest = some.length > others.length ? some : others;
  const whole = longest.map((_, axis) => Math.max(some[axis] ?? 1, others[axis] ?? 1));
  if (!isShown(whole)) return input;
  return resized(input, whole, resized(withDType(former, input.dtype), whole).values);
}

const isShown = (shape: readonly number[]): boolean =>
  shape.length <= MOST_AXES && sizeOf(shape) <= MOST_ELEMENTS;

/**
 * Returns the document with a new shape for one input, or an error if the shape is refused. Removed elements are
 * restored when the input grows again.
 */
export function withInputShape(
  document: Document,
  input: number,
  shape: readonly number[],
): { readonly document: Document } | { readonly error: string } {
  const text = document.state.inputs[input] ?? zerosText("float32", []);
  const edited = withShape(text, shape);
  if ("error" in edited) return edited;
  const former = formerOf(text, shape, reserveOf(document, input));
  const state = withInput(
    document.state,
    input,
    former === null ? edited.input : resized(former, shape),
  );
  const reserves = document.reserves.with(input, { former, leftOut: null });
  return { document: { ...document, state, reserves, preset: null } };
}

/** Returns an input's shape with one more axis. The new axis has the length that this axis had at most, or 1. */
export function grownShape(document: Document, input: number): readonly number[] {
  const shape = document.state.inputs[input]?.shape ?? [];
  const length = reserveOf(document, input).former?.shape[shape.length] ?? 1;
  const grown = [...shape, length];
  return isShown(grown) ? grown : [...shape, 1];
}

/**
 * Returns the document with another tensor as one input. Elements of the replaced tensor do not return when the new
 * tensor grows.
 */
export function withInputText(document: Document, input: number, text: TensorText): Document {
  const state = withInput(document.state, input, text);
  return { ...document, state, reserves: document.reserves.with(input, NO_RESERVE), preset: null };
}

/** Returns the document with an omitted input restored: its former tensor, or zeros. */
export function withInputGiven(document: Document, input: number): Document {
  const { state } = document;
  const version = versionOf(state);
  if (state.inputs[input] !== null || version === null) return document;
  const { leftOut } = reserveOf(document, input);
  return withState(
    document,
    leftOut === null ? withGiven(state, version, input) : withInput(state, input, leftOut),
  );
}
