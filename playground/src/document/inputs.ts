/** Changes the inputs of a document's call. Removed elements and inputs are kept in reserve. */

import { resolve } from "ndscatter/operators";
import { attempt } from "../values/attempt.ts";
import { withGiven } from "../values/given.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText } from "../values/tensor-text.ts";
import { NO_RESERVE, type Document, type Reserve } from "./document.ts";
import { reserveAfter, reshaped, withAxis } from "./reserve.ts";

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

export const withInput = (state: State, input: number, text: TensorText | null): State => ({
  ...state,
  inputs: state.inputs.with(input, text),
});

/**
 * Returns the document with a new shape for one input, or an error if the shape is refused. Removed elements are
 * restored when the input grows again.
 */
export function withInputShape(
  document: Document,
  input: number,
  shape: readonly number[],
): { readonly document: Document } | { readonly error: string } {
  const { state } = document;
  const text = state.inputs[input] ?? zerosText("float32", []);
  const found = reshaped(text, shape, reserveOf(document, input));
  if ("error" in found) return found;
  const reserves = document.reserves.with(input, { ...found.reserve, leftOut: null });
  const next = withInput(state, input, found.input);
  return { document: { ...document, state: next, reserves, preset: null } };
}

/** Returns an input's shape with one more axis. The new axis has the length of the axis that was last removed, or 1. */
export const grownShape = (document: Document, input: number): readonly number[] =>
  withAxis(document.state.inputs[input]?.shape ?? [], reserveOf(document, input));

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
  if (state.inputs[input] !== null) return document;
  const { leftOut } = reserveOf(document, input);
  if (leftOut !== null) return withState(document, withInput(state, input, leftOut));
  const { domain, op, opset } = state;
  const version = attempt(() => resolve({ domain, op, opset }));
  return "error" in version ? document : withState(document, withGiven(state, version, input));
}
