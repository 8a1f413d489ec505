/** Converts a state to a library call, and lists all errors with their locations. */

import {
  explain,
  infer,
  isTensorError,
  type AttributeSchema,
  type Explanation,
  type NodeSpec,
  type OperatorVersion,
  type Tensor,
  type TensorError,
} from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import { checkExtent } from "../values/limits.ts";
import { firstText } from "../values/schema.ts";
import type { State, TensorText } from "../values/state.ts";
import { tensorOf } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";

/**
 * An error's location: an element, some dimensions, a whole input (if `dims` is empty), or another part of the call.
 */
export type Place =
  | { readonly input: number; readonly at: readonly number[] }
  | { readonly input: number; readonly dims: readonly number[] }
  | { readonly attribute: string }
  | { readonly whole: "operator" | "output" };

export interface Fault {
  readonly place: Place;
  readonly sentence: string;
}

/** A state, converted to the library's types. */
export interface Reading {
  readonly node: NodeSpec;
  readonly version: OperatorVersion | null;
  /**
   * The input tensors, with zeros for elements that could not be parsed; undefined for a tensor that could not be
   * parsed.
   */
  readonly inputs: (Tensor | undefined)[];
  /** Errors in the state itself, detected before the library checks the call. */
  readonly faults: Fault[];
  readonly reads: Reads;
}

/** Parsed input texts are reused, because an edit changes one input and parsing 20,000 elements takes 8 ms. */
type Reads = ReadonlyMap<TensorText, InputRead>;

/** Error messages contain the input's name. */
interface InputRead {
  readonly name: string;
  readonly read: ReturnType<typeof tensorOf> | { readonly error: string };
}

const NO_READS: Reads = new Map();

/** Texts in `before` are not parsed again. */
export function readState(state: State, before: Reads = NO_READS): Reading {
  const { domain, op, opset } = state;
  const found = attempt(() => ({ version: resolve({ domain, op, opset }) }));
  const version = "version" in found ? found.version : null;
  const faults: Fault[] = [];
  if ("error" in found) faults.push({ place: { whole: "operator" }, sentence: found.error });
  const schemas = version?.attributes ?? [];
  const entries = Object.entries(state.attributes).map(
    ([name, text]) =>
      [
        name,
        parseAttribute(
          schemas.find((one) => one.name === name),
          text,
        ),
      ] as const,
  );
  const node = { domain, op, opset, attributes: Object.fromEntries(entries) };
  if (version !== null) faults.push(...attributeFaults(node, version));
  const reads = new Map<TensorText, InputRead>();
  const inputs = state.inputs.map((text, input) => {
    if (text === null) return undefined;
    const name = version?.inputs[input]?.name ?? `input ${input}`;
    const known = before.get(text);
    const read = known?.name === name ? known.read : attempt(() => tensorOf(text, name));
    reads.set(text, { name, read });
    if ("error" in read) {
      faults.push({ place: { input, dims: [] }, sentence: read.error });
      return undefined;
    }
    for (const { at, sentence } of read.wrong) faults.push({ place: { input, at }, sentence });
    return read.tensor;
  });
  const reading = { node, version, inputs, faults, reads };
  if (version !== null) faults.push(...outputFaults(reading));
  return reading;
}

/** Returns an attribute's value. A text that cannot be parsed is passed unchanged, so that the library refuses it. */
function parseAttribute(schema: AttributeSchema | undefined, text: string): unknown {
  const trimmed = text.trim();
  if (schema?.type === "int" && /^[+-]?\d{1,20}$/.test(trimmed)) return Number(trimmed);
  if (schema?.type === "boolean" && /^(true|false)$/i.test(trimmed)) return /^t/i.test(trimmed);
  return schema?.type === "string" ? trimmed : text;
}

/**
 * Returns the library's error for each attribute, checked separately. The other required attributes have their first
 * allowed value.
 */
function attributeFaults(node: NodeSpec, version: OperatorVersion): Fault[] {
  const { attributes = {} } = node;
  const required = version.attributes.filter((one) => one.default === undefined);
  const names = new Set([...Object.keys(attributes), ...required.map(({ name }) => name)]);
  return [...names].flatMap((attribute) => {
    const others = required.filter(({ name }) => name !== attribute);
    const filled = others.map((schema) => [schema.name, parseAttribute(schema, firstText(schema))]);
    const mine = Object.hasOwn(attributes, attribute) ? [[attribute, attributes[attribute]]] : [];
    const alone = { ...node, attributes: Object.fromEntries([...filled, ...mine]) };
    const { error } = explain(alone, []);
    // A call without inputs always fails, but the error is about inputs if all attributes are valid.
    return isTensorError(error, "attribute", "reduction")
      ? [{ place: { attribute }, sentence: error.message }]
      : [];
  });
}

/** Refuses an output that is too large before allocating it, because small inputs can produce a large output. */
function outputFaults({ node, inputs }: Reading): Fault[] {
  const inferred = attempt(() => infer(node, inputs));
  // The explanation reports the same error.
  if ("error" in inferred) return [];
  const checked = attempt(() => {
    // All inputs are tensors, so every dimension is known.
    for (const { shape } of inferred) checkExtent(shape as number[], "the output");
    return null;
  });
  return checked === null ? [] : [{ place: { whole: "output" }, sentence: checked.error }];
}

/** A parsed state with the library's explanation of the call. */
export interface ExplainedState extends Reading {
  /** Null if the operator is unknown or the output is larger than the page can show. */
  readonly explanation: Explanation | null;
}

/**
 * Parses a state and explains its call. The result's `faults` list all errors in the state and the call. If the call
 * has faults, only the explanation's shapes are valid.
 */
export function explainState(state: State, before: Reads = NO_READS): ExplainedState {
  const reading = readState(state, before);
  const { node, version, inputs, faults } = reading;
  const isTooLarge = faults.some(({ place }) => "whole" in place);
  if (version === null || isTooLarge) return { ...reading, explanation: null };
  const explanation = explain(node, inputs);
  return {
    ...reading,
    faults: [...faults, ...callFaults(explanation, version, faults)],
    explanation,
  };
}

/**
 * Returns a call's faults: every bad index, and the error that `run` throws. Faults that are already known are omitted.
 */
function callFaults(
  { error, badIndices, shapes }: Explanation,
  version: OperatorVersion,
  known: readonly Fault[],
): Fault[] {
  const inputOf = (name: string): number => version.inputs.findIndex((one) => one.name === name);
  // Elements that could not be parsed are zero here, so errors about their values would be misleading.
  const zeroed = new Set(known.map(({ place }) => keyOf(place)));
  const faults = badIndices
    .map(({ input, at, sentence }): Fault => ({ place: { input: inputOf(input), at }, sentence }))
    .filter(({ place }) => !zeroed.has(keyOf(place)));
  const isKnown = (sentence: string): boolean =>
    [...known, ...faults].some((fault) => fault.sentence === sentence);
  // An input that could not be parsed already has an error, so it must not be reported as missing.
  const isUnread = known.some(({ place }) => "dims" in place);
  if (error === null || isKnown(error.message) || isUnread) return faults;
  if (error.code === "index-out-of-range" && badIndices.length > 0) return faults;
  const derived = shapes.find(({ of, fits }) => of === error.input && !fits);
  return [...faults, { place: placeOf(error, version, derived), sentence: error.message }];
}

const keyOf = (place: Place): string => ("at" in place ? `${place.input}: ${place.at.join()}` : "");

function placeOf(
  { code, message, input, at, axis }: TensorError,
  version: OperatorVersion,
  derived:
    | { readonly expected: readonly number[]; readonly got: readonly number[] | null }
    | undefined,
): Place {
  const attribute = version.attributes.find(({ name }) => name === code)?.name;
  if (attribute !== undefined) return { attribute };
  const spoken = version.attributes.find(({ name }) => message.includes(name));
  if (input === undefined && spoken !== undefined) return { attribute: spoken.name };
  const named = input ?? (code === "axis" ? "axis" : "");
  const position = version.inputs.findIndex((one) => one.name === named || roleOf(one) === named);
  if (position === -1) return { whole: "operator" };
  if (at !== undefined) return { input: position, at };
  const { expected = [], got } = derived ?? {};
  const dims =
    got?.length === expected.length
      ? got.flatMap((dim, d) => (dim === expected[d] ? [] : [d]))
      : axis === undefined
        ? []
        : [axis];
  return { input: position, dims };
}
