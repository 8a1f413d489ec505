/** Converts a state to a call of the library, and lists all errors with their places. */

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

/** The place of an error: an element, some dimensions, a whole input (`dims` is empty), or another part of the call. */
export type Place =
  | { readonly input: number; readonly at: readonly number[] }
  | { readonly input: number; readonly dims: readonly number[] }
  | { readonly attribute: string }
  | { readonly whole: "operator" | "output" };

/** A problem with the call. An error that the library finds has the library's message. */
export interface Fault {
  readonly place: Place;
  readonly sentence: string;
}

/** A state in the form that the library accepts. */
export interface Reading {
  readonly node: NodeSpec;
  /** The operator version; null if the operator is unknown. */
  readonly version: OperatorVersion | null;
  /** Input tensors, with zeros for elements that could not be parsed; undefined if a tensor could not be parsed. */
  readonly inputs: (Tensor | undefined)[];
  /** Errors in the state itself, which are found before the library checks the call. */
  readonly faults: Fault[];
  readonly reads: Reads;
}

/**
 * The parsed texts of inputs. The next reading reuses them: an edit changes one input, and parsing 20,000 elements
 * takes 8 ms.
 */
type Reads = ReadonlyMap<TensorText, InputRead>;

/** The result of parsing an input's text. Errors name the input. */
interface InputRead {
  readonly name: string;
  readonly read: ReturnType<typeof tensorOf> | { readonly error: string };
}

const NO_READS: Reads = new Map();

/**
 * Converts a state to a call. The function never throws.
 * @param before texts of the previous reading, which are not parsed again
 */
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

/**
 * Returns the value of an attribute. If the text cannot be parsed, returns the text itself, so that the library refuses
 * it.
 */
function parseAttribute(schema: AttributeSchema | undefined, text: string): unknown {
  const trimmed = text.trim();
  if (schema?.type === "int" && /^[+-]?\d{1,20}$/.test(trimmed)) return Number(trimmed);
  if (schema?.type === "boolean" && /^(true|false)$/i.test(trimmed)) return /^t/i.test(trimmed);
  return schema?.type === "string" ? trimmed : text;
}

/**
 * Returns the library's error for each attribute on its own. Other required attributes are set to their first allowed
 * value.
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
    // The call has no inputs, so it always fails, but the error is about inputs if all attributes are valid.
    return isTensorError(error, "attribute", "reduction")
      ? [{ place: { attribute }, sentence: error.message }]
      : [];
  });
}

/** Refuses an output larger than the page can show before it is allocated: small inputs can produce a large output. */
function outputFaults({ node, inputs }: Reading): Fault[] {
  const inferred = attempt(() => infer(node, inputs));
  // The explanation reports the same error.
  if ("error" in inferred) return [];
  const checked = attempt(() => {
    // The inputs are tensors, so every dimension is known.
    for (const { shape } of inferred) checkExtent(shape as number[], "the output");
    return null;
  });
  return checked === null ? [] : [{ place: { whole: "output" }, sentence: checked.error }];
}

/** A parsed state, with the library's explanation of its call. */
export interface ExplainedState extends Reading {
  /** Null if the operator is unknown, or if the output is larger than the page can show. */
  readonly explanation: Explanation | null;
}

/**
 * Parses a state and explains its call. `faults` has all errors of the state and of the call. The explanation's shapes
 * are valid even if there are faults; its output and story are valid only without faults.
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

/** Returns the faults of a call: every bad index, and the error that `run` throws. Known faults are omitted. */
function callFaults(
  { error, badIndices, shapes }: Explanation,
  version: OperatorVersion,
  known: readonly Fault[],
): Fault[] {
  const inputOf = (name: string): number => version.inputs.findIndex((one) => one.name === name);
  // Elements that could not be parsed are zero here, so errors about their values are meaningless.
  const zeroed = new Set(known.map(({ place }) => keyOf(place)));
  const faults = badIndices
    .map(({ input, at, sentence }): Fault => ({ place: { input: inputOf(input), at }, sentence }))
    .filter(({ place }) => !zeroed.has(keyOf(place)));
  const isKnown = (sentence: string): boolean =>
    [...known, ...faults].some((fault) => fault.sentence === sentence);
  // An input that could not be parsed already has an error, so reporting it as missing would be wrong.
  const isUnread = known.some(({ place }) => "dims" in place);
  if (error === null || isKnown(error.message) || isUnread) return faults;
  if (error.code === "index-out-of-range" && badIndices.length > 0) return faults;
  const derived = shapes.find(({ of, fits }) => of === error.input && !fits);
  return [...faults, { place: placeOf(error, version, derived), sentence: error.message }];
}

/** Returns a key for the element of a place. */
const keyOf = (place: Place): string => ("at" in place ? `${place.input}: ${place.at.join()}` : "");

/** Returns the place of the call's error. */
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
