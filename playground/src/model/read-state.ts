/** From a state to a call of the library, and everything that is wrong with it, at the place where it is. */

import {
  explain,
  infer,
  isTensorError,
  resolve,
  type AttributeSchema,
  type Explanation,
  type NodeSpec,
  type OperatorVersion,
  type ParameterSchema,
  type Role,
  type Tensor,
  type TensorError,
} from "ndscatter";
import { checkExtent } from "./limits.ts";
import type { State } from "./state.ts";
import { tensorOf } from "./tensor-text.ts";
import { attempt } from "./attempt.ts";

/** What a fault is about: an element or dimensions of an input (all of it where none is named), or something else. */
export type Place =
  | { readonly input: number; readonly at: readonly number[] }
  | { readonly input: number; readonly dims: readonly number[] }
  | { readonly attribute: string }
  | { readonly whole: "operator" | "output" };

/** Something that is wrong, in the library's own words where they are about the call. */
export interface Fault {
  readonly place: Place;
  readonly sentence: string;
}

/** A state as the library takes it. */
export interface Reading {
  readonly node: NodeSpec;
  /** Null where there is no such operator. */
  readonly version: OperatorVersion | null;
  /** Zeros stand where an element is wrong; undefined where there is no tensor at all. */
  readonly inputs: (Tensor | undefined)[];
  /** What is wrong with the state itself: it says nothing of what the library makes of the call. */
  readonly faults: Fault[];
}

/** What an input is for. */
export const roleOf = ({ name, role }: ParameterSchema): Role => role ?? (name as Role);

/** It does not throw, whatever the state says. */
export function readState(state: State): Reading {
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
  const inputs = state.inputs.map((text, input) => {
    if (text === null) return undefined;
    const name = version?.inputs[input]?.name ?? `input ${input}`;
    const read = attempt(() => tensorOf(text, name));
    if ("error" in read) {
      faults.push({ place: { input, dims: [] }, sentence: read.error });
      return undefined;
    }
    for (const { at, sentence } of read.wrong) faults.push({ place: { input, at }, sentence });
    return read.tensor;
  });
  const reading = { node, version, inputs, faults };
  if (version !== null) faults.push(...outputFaults(reading));
  return reading;
}

/** The value of an attribute; the text itself where it is none, which the library refuses. */
function parseAttribute(schema: AttributeSchema | undefined, text: string): unknown {
  const trimmed = text.trim();
  if (schema?.type === "int" && /^[+-]?\d{1,20}$/.test(trimmed)) return Number(trimmed);
  if (schema?.type === "boolean" && /^(true|false)$/i.test(trimmed)) return /^t/i.test(trimmed);
  return schema?.type === "string" ? trimmed : text;
}

/** What the library says of each attribute alone: those that have to be given are there as they are by default. */
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
    // Without inputs a call with fitting attributes fails too, but for its inputs.
    return isTensorError(error, "attribute", "reduction")
      ? [{ place: { attribute }, sentence: error.message }]
      : [];
  });
}

/** The text of an attribute that has to be given, before anybody has. */
export function firstText({ type, values, minimum = 0 }: AttributeSchema): string {
  if (values !== undefined) return values[0];
  return type === "boolean" ? "false" : type === "int" ? String(Math.max(minimum, 0)) : "";
}

/** An output that the page does not show is not made: small inputs can make a large one. */
function outputFaults({ node, inputs }: Reading): Fault[] {
  const inferred = attempt(() => infer(node, inputs));
  // Whatever else is wrong is told by the explanation.
  if ("error" in inferred) return [];
  const checked = attempt(() => {
    // Of tensors every dimension is known.
    for (const { shape } of inferred) checkExtent(shape as number[], "the output");
    return null;
  });
  return checked === null ? [] : [{ place: { whole: "output" }, sentence: checked.error }];
}

/** A state told: as it was read, and what the library makes of it. */
export interface ExplainedState extends Reading {
  /** Null where there is no such operator, and where the output would be larger than the page shows. */
  readonly explanation: Explanation | null;
}

/**
 * Reads a state and explains its call. `faults` has everything that is wrong, of the call as well; the explanation's
 * shapes hold whatever is wrong, its output and its story only where nothing is.
 */
export function explainState(state: State): ExplainedState {
  const reading = readState(state);
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

/** What is wrong with a call whose inputs could be read: every bad index, and what `run` throws. */
function callFaults(
  { error, badIndices, shapes }: Explanation,
  version: OperatorVersion,
  known: readonly Fault[],
): Fault[] {
  const inputOf = (name: string): number => version.inputs.findIndex((one) => one.name === name);
  // Zeros stand there for what is wrong already.
  const zeroed = new Set(known.map(({ place }) => keyOf(place)));
  const faults = badIndices
    .map(({ input, at, sentence }): Fault => ({ place: { input: inputOf(input), at }, sentence }))
    .filter(({ place }) => !zeroed.has(keyOf(place)));
  const isKnown = (sentence: string): boolean =>
    [...known, ...faults].some((fault) => fault.sentence === sentence);
  // An input of which nothing could be read is told of already, and not that it is left out.
  const isUnread = known.some(({ place }) => "dims" in place);
  if (error === null || isKnown(error.message) || isUnread) return faults;
  if (error.code === "index-out-of-range" && badIndices.length > 0) return faults;
  const derived = shapes.find(({ of, fits }) => of === error.input && !fits);
  return [...faults, { place: placeOf(error, version, derived), sentence: error.message }];
}

/** What tells an element of an input from others. */
const keyOf = (place: Place): string => ("at" in place ? `${place.input}: ${place.at.join()}` : "");

/** The place that an error of a call speaks of. */
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
