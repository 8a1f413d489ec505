/**
 * A state and all data that must not be lost: elements cut off from inputs, the tensors of other operators, and the
 * user's own call while an example is shown. Documents are immutable; every function returns a new document.
 */

import { resolve } from "ndscatter/operators";
import { toHash } from "./hash.ts";
import type { Preset } from "../examples/presets.ts";
import { NO_RESERVE, reserveAfter, reshaped, withAxis, type Reserve } from "./reserve.ts";
import type { State, TensorText } from "../values/state.ts";
import { zerosText } from "../values/tensor-text.ts";
import { withOperator, type OperatorChoice } from "./with-operator.ts";
import { attempt } from "../values/attempt.ts";
import { readState } from "./read-state.ts";
import { withGiven } from "../values/given.ts";

/** A call of one operator, as the user left it. */
interface Call {
  readonly state: State;
  /** The reserve of each input. */
  readonly reserves: readonly Reserve[];
  /** Attributes that a version did not accept, by name. */
  readonly dropped: Readonly<Record<string, string>>;
}

/** A call, and the user's earlier calls of other operators. */
interface Work extends Call {
  /** The last call of each operator, by domain and operator. */
  readonly kept: Readonly<Record<string, Call>>;
}

export interface Document extends Work {
  /** The id of the preset that equals the state; null after the first change. */
  readonly preset: string | null;
  /** The user's last edited call before an example or a file was opened; null if no call was edited. */
  readonly own: Work | null;
}

/** A document, and remarks about the changes that were necessary. */
export interface Changed {
  readonly document: Document;
  readonly remarks: readonly string[];
}

const freshWork = (state: State): Work => ({
  state,
  reserves: state.inputs.map(() => NO_RESERVE),
  dropped: {},
  kept: {},
});

/** @param preset the id of the preset that equals the state */
export const documentOf = (state: State, preset: string | null): Document => ({
  ...freshWork(state),
  preset,
  own: null,
});

const workOf = ({ state, reserves, dropped, kept }: Work): Work => ({
  state,
  reserves,
  dropped,
  kept,
});

/** Returns the user's own work, which is kept while another call is shown. */
const ownOf = (document: Document): Work | null =>
  document.preset === null ? workOf(document) : document.own;

const reserveOf = (document: Document, input: number): Reserve =>
  document.reserves[input] ?? NO_RESERVE;

/** Returns the document after an edit of its state. Elements and inputs that the edit removes are kept in reserve. */
export function withState(document: Document, state: State): Document {
  const { inputs } = document.state;
  if (state === document.state) return document;
  const reserves = state.inputs.map((after, position) =>
    reserveAfter(inputs[position] ?? null, after, reserveOf(document, position)),
  );
  return { ...document, state, reserves, preset: null };
}

const withInput = (state: State, input: number, text: TensorText | null): State => ({
  ...state,
  inputs: state.inputs.with(input, text),
});

/**
 * Returns the document with a new shape for one input, or an error if the shape is refused. Elements that were cut off
 * earlier come back.
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

/** Returns the shape of an input with one more axis. The axis has the length that was last cut off, otherwise 1. */
export const grownShape = (document: Document, input: number): readonly number[] =>
  withAxis(document.state.inputs[input]?.shape ?? [], reserveOf(document, input));

/**
 * Returns the document with an input replaced by another tensor. The former tensor's elements do not come back when the
 * new tensor grows.
 */
export function withInputText(document: Document, input: number, text: TensorText): Document {
  const state = withInput(document.state, input, text);
  return { ...document, state, reserves: document.reserves.with(input, NO_RESERVE), preset: null };
}

/** Returns the document with an omitted input added: its former tensor, or zeros. */
export function withInputGiven(document: Document, input: number): Document {
  const { state } = document;
  if (state.inputs[input] !== null) return document;
  const { leftOut } = reserveOf(document, input);
  if (leftOut !== null) return withState(document, withInput(state, input, leftOut));
  const { domain, op, opset } = state;
  const version = attempt(() => resolve({ domain, op, opset }));
  return "error" in version ? document : withState(document, withGiven(state, version, input));
}

const keyOf = ({ domain, op }: OperatorChoice): string => `${domain}/${op}`;

/**
 * Returns the document with another operator or version. If the operator was used before, its tensors come back in the
 * chosen version.
 */
export function withChoice(document: Document, choice: OperatorChoice): Changed {
  const { state } = document;
  const { [keyOf(choice)]: left, ...others } = document.kept;
  if (keyOf(choice) === keyOf(state)) return withVersion(document, choice);
  const { reserves, dropped } = document;
  const kept = { ...others, [keyOf(state)]: { state, reserves, dropped } };
  if (left !== undefined) {
    const back = withVersion({ ...document, ...left, kept, preset: null }, choice);
    const sentence = `the ${choice.op} tensors are as you left them`;
    return { ...back, remarks: [sentence, ...back.remarks] };
  }
  const chosen = withOperator(state, choice);
  if (chosen.state === state) return { document, remarks: chosen.remarks };
  // A tensor keeps its cut-off elements if the new operator accepts the tensor unchanged.
  const carried = chosen.state.inputs.map((text) =>
    text === null ? NO_RESERVE : reserveOf(document, state.inputs.indexOf(text)),
  );
  const fresh = { ...freshWork(chosen.state), reserves: carried, kept };
  return { document: { ...document, ...fresh, preset: null }, remarks: chosen.remarks };
}

/**
 * Returns the document with another version of its operator. Inputs and attributes that an older version did not accept
 * come back.
 */
function withVersion(document: Document, choice: OperatorChoice): Changed {
  const { state: before } = document;
  const { state, remarks } = withOperator(before, choice);
  const dropped = { ...document.dropped };
  const attributes = { ...state.attributes };
  const back: string[] = [];
  for (const [name, text] of Object.entries(before.attributes)) {
    if (!Object.hasOwn(attributes, name)) dropped[name] = text;
  }
  for (const [name, text] of Object.entries(dropped)) {
    const isTaken =
      !Object.hasOwn(attributes, name) &&
      !Object.hasOwn(before.attributes, name) &&
      isAttribute({ ...state, attributes: { ...attributes, [name]: text } }, name);
    if (isTaken) {
      attributes[name] = text;
      back.push(`${name} = ${text} is back`);
    }
    if (Object.hasOwn(attributes, name)) delete dropped[name];
  }
  const next = back.length === 0 ? state : { ...state, attributes };
  if (next === before) return { document, remarks };
  return { document: { ...withState(document, next), dropped }, remarks: [...remarks, ...back] };
}

/** Checks whether the version of a state accepts an attribute with this text. */
function isAttribute(state: State, name: string): boolean {
  const { version, faults } = readState(state);
  const isKnown = version?.attributes.some((one) => one.name === name) ?? false;
  return isKnown && !faults.some(({ place }) => "attribute" in place && place.attribute === name);
}

/** Returns a document with an example, and keeps the user's own call. */
export const withExample = (
  document: Document,
  { id, state }: Pick<Preset, "id" | "state">,
): Document =>
  document.preset === id ? document : { ...freshWork(state), preset: id, own: ownOf(document) };

/** Returns the user's own call. Later edits of the call replace it. */
export function withOwn(document: Document): Document {
  if (document.own === null) return document;
  return {
    ...workOf(document.own),
    preset: null,
    own: ownOf(document),
  };
}

/**
 * Returns a document for a state from a file or a link. If the state equals the user's own call, the call's whole
 * document comes back.
 */
export function withOpened(document: Document, state: State, preset: string | null): Document {
  const hash = toHash(state);
  if (hash === toHash(document.state)) return document;
  const { own } = document;
  if (own !== null && hash === toHash(own.state)) return withOwn(document);
  return { ...freshWork(state), preset, own: ownOf(document) };
}
