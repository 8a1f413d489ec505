/**
 * A state and the user data that must not be lost: removed elements, tensors of other operators, and the user's own
 * call while an example is shown. Documents are immutable: every function returns a new document.
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

interface Call {
  readonly state: State;
  readonly reserves: readonly Reserve[];
  /** Attributes that the current version does not accept, by name. */
  readonly dropped: Readonly<Record<string, string>>;
}

/** A call, and the calls that the user made earlier with other operators. */
interface Work extends Call {
  /** The last call of each operator, by domain and operator name. */
  readonly kept: Readonly<Record<string, Call>>;
}

export interface Document extends Work {
  /** The preset that equals the state; null after the first change. */
  readonly preset: string | null;
  /** The user's last edited call, saved when an example or file was opened; null if no call was edited. */
  readonly own: Work | null;
}

/** A document, with remarks about any necessary changes. */
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

/** Returns the user's own work, which is preserved while another call is shown. */
const ownOf = (document: Document): Work | null =>
  document.preset === null ? workOf(document) : document.own;

const reserveOf = (document: Document, input: number): Reserve =>
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

const keyOf = ({ domain, op }: OperatorChoice): string => `${domain}/${op}`;

/**
 * Returns the document with another operator or operator version. An operator that was used before gets its tensors
 * back, in the chosen version.
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
  const chosen = withOperator(state, choice, document.preset === null);
  if (chosen.state === state) return { document, remarks: chosen.remarks };
  // A tensor keeps its removed elements in reserve if the new operator accepts the tensor unchanged.
  const carried = chosen.state.inputs.map((text) =>
    text === null ? NO_RESERVE : reserveOf(document, state.inputs.indexOf(text)),
  );
  const fresh = { ...freshWork(chosen.state), reserves: carried, kept };
  return { document: { ...document, ...fresh, preset: null }, remarks: chosen.remarks };
}

/**
 * Returns the document with another version of the same operator. Inputs and attributes that an older version did not
 * accept are restored.
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

/** Checks whether the state's operator version accepts an attribute value. */
function isAttribute(state: State, name: string): boolean {
  const { version, faults } = readState(state);
  const isKnown = version?.attributes.some((one) => one.name === name) ?? false;
  return isKnown && !faults.some(({ place }) => "attribute" in place && place.attribute === name);
}

/** Returns a document that shows an example and preserves the user's own call. */
export const withExample = (
  document: Document,
  { id, state }: Pick<Preset, "id" | "state">,
): Document =>
  document.preset === id ? document : { ...freshWork(state), preset: id, own: ownOf(document) };

/** Returns the user's own call, which later edits replace. */
export function withOwn(document: Document): Document {
  if (document.own === null) return document;
  return {
    ...workOf(document.own),
    preset: null,
    own: ownOf(document),
  };
}

/**
 * Returns a document for a state from a file or link. If the state equals the user's own call, the user's whole
 * document is restored.
 */
export function withOpened(document: Document, state: State, preset: string | null): Document {
  const hash = toHash(state);
  if (hash === toHash(document.state)) return document;
  const { own } = document;
  if (own !== null && hash === toHash(own.state)) return withOwn(document);
  return { ...freshWork(state), preset, own: ownOf(document) };
}
