/** Calls that can be run, of every operator, version, reduction and data type. */

import fc from "fast-check";
import { DTYPES, operators, type DType, type OperatorVersion, type Role } from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import { withDType, withShape } from "../../src/document/edit.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { explainState } from "../../src/document/read-state.ts";
import { dtypesOf, rolePosition } from "../../src/values/schema.ts";
import { sizeOf } from "../../src/values/shape.ts";
import type { State, TensorText } from "../../src/values/state.ts";
import { withOperator } from "../../src/document/with-operator.ts";
import { SEED } from "../support/sample.ts";
import { states } from "./states.ts";

const hasNoFaults = (state: State): boolean => explainState(state).faults.length === 0;

/**
 * Presets under every version and reduction that takes them. The first of each operator, with and without repeated
 * targets, is there under every data type too.
 */
function presetCalls(): Map<string, State> {
  const found = new Map<string, State>();
  const seen = new Set<string>();
  for (const { id, state } of PRESETS) {
    for (const version of operators()) {
      if (version.name !== state.op || version.domain !== state.domain) continue;
      const { domain, name: op, sinceVersion: opset } = version;
      const chosen = withOperator(state, { domain, op, opset }).state;
      const words = version.attributes.find(({ name }) => name === "reduction")?.values ?? [null];
      for (const word of words) {
        const { story } = explainState(chosen).explanation ?? {};
        const key = `${domain}/${op}/${opset}/${word}/${(story?.summary.repeats ?? 0) > 0}`;
        const own = chosen.inputs[0]?.dtype ?? "float32";
        const types = seen.has(key) ? [own] : dtypesOf(version, version.inputs[0]);
        seen.add(key);
        for (const dtype of types) {
          const call = withWord(withData(chosen, version, dtype), word);
          if (hasNoFaults(call)) found.set(`${id}, ${op}-${opset} ${word} of ${dtype}`, call);
        }
      }
    }
  }
  return found;
}

/** The state with data and updates of a data type. */
function withData(state: State, version: OperatorVersion, dtype: DType): State {
  const isData = (position: number): boolean =>
    ["data", "updates"].includes(roleOf(version.inputs[position]));
  const inputs = state.inputs.map((input, position) =>
    isData(position) && input !== null ? withDType(fewBits(input, dtype), dtype) : input,
  );
  return { ...state, inputs };
}

/** The text with 0 and 1 alone where elements have two bits, so that every such type has its values. */
function fewBits(input: TensorText, dtype: DType): TensorText {
  const { bits = 8 }: { readonly bytes: number; readonly bits?: number } = DTYPES[dtype];
  if (bits > 2) return input;
  const values = input.values.map((value) => String(Math.abs(Math.trunc(Number(value))) % 2));
  return { ...input, values };
}

/** The state with a word for its reduction; without one for none. */
function withWord(state: State, word: string | null): State {
  const { reduction: _, ...others } = state.attributes;
  const isPlain = word === null || word === "none";
  return { ...state, attributes: isPlain ? others : { ...others, reduction: word } };
}

/** The state with a valid axis, perhaps with other indices, and with updates of the shape that they must have. */
function fitted(state: State, indices: TensorText | null | undefined): State {
  const version = resolve(state);
  const [data] = state.inputs;
  const axis: TensorText = {
    dtype: "int64",
    shape: [],
    values: [state.opset % 2 === 0 ? "0" : "-1"],
  };
  const others: Partial<Record<Role, TensorText | null | undefined>> = { axis, indices };
  const given = {
    ...state,
    inputs: state.inputs.map(
      (input, position) => others[roleOf(version.inputs[position])] ?? input,
    ),
  };
  const position = rolePosition(version, "updates");
  const shapes = explainState(given).explanation?.shapes ?? [];
  const shape = shapes.find(({ of }) => of === version.inputs[position]?.name)?.expected;
  if (shape === undefined || !data) return given;
  const values = Array.from(
    { length: sizeOf(shape) },
    (_, i) => ["1", "2", "0", "-1"][(i * 7) % 4],
  );
  return { ...given, inputs: given.inputs.with(position, { dtype: data.dtype, shape, values }) };
}

/** A TensorScatter whose updates are as long as the cache: in circular mode they fit from any position. */
function ringOf(state: State): State[] {
  const [data] = state.inputs;
  if (state.op !== "TensorScatter") return [];
  const begins = data && {
    dtype: "int64" as const,
    shape: data.shape.slice(0, 1),
    values: ["2", "-1", "1"].slice(0, data.shape[0]),
  };
  const attributes = { ...state.attributes, mode: "circular" };
  return [{ ...state, attributes, inputs: [data, data, begins ?? null] }];
}

/** True for a call whose text has bytes in UTF-8, in which Python gets its code: no half of a surrogate pair. */
const hasBytes = ({ inputs }: State): boolean =>
  !inputs.some((input) => input?.values.some((text) => /\p{Surrogate}/u.test(text)));

/** Calls that can be run, made from an arbitrary state. */
function callsFrom(state: State): State[] {
  const [data] = state.inputs;
  const indices = state.inputs[rolePosition(resolve(state), "indices")];
  // In operators by elements, data and indices have one rank.
  const alike = data && indices ? withShape(indices, data.shape) : { input: indices };
  const changed = "input" in alike ? [alike.input] : [];
  const calls = [undefined, ...changed].map((one) => fitted(state, one));
  return [...calls, ...ringOf(state)].filter((call) => hasNoFaults(call) && hasBytes(call));
}

/** Draws 2,500 states, and at most eight times as many, until five calls of each operator are found. */
function smallCalls(): State[] {
  const found: State[] = [];
  const isRare = ({ name, domain }: OperatorVersion): boolean =>
    found.filter((one) => one.op === name && one.domain === domain).length < 5;
  for (let draws = 0; draws === 0 || (draws < 8 && operators().some(isRare)); draws++)
    found.push(...fc.sample(states, { seed: SEED + draws, numRuns: 2500 }).flatMap(callsFrom));
  return found;
}

/** Small calls of any shapes, with batches, repeats and empty axes. The seed of the commit determines them. */
export const SMALL_CALLS: readonly State[] = smallCalls();

/** Text with quotes and other characters that mean something in one of the languages. */
export const WORDS = ["\"'\\", "\n\u2028\0", "${x}", "\ud800", "é\u{1f600}"];

/** A gather of text, in reverse order. */
export const gatherText = (words: readonly string[]): State => ({
  domain: "ai.onnx",
  op: "Gather",
  opset: 13,
  attributes: {},
  inputs: [
    { dtype: "string", shape: [words.length], values: words },
    {
      dtype: "int64",
      shape: [words.length],
      values: words.map((_, i) => String(words.length - 1 - i)),
    },
  ],
});

/** All calls, by what they are. */
export const CALLS: ReadonlyMap<string, State> = new Map([
  ...presetCalls(),
  ...SMALL_CALLS.map((state, number) => [`${number}: ${JSON.stringify(state)}`, state] as const),
  // Half of a surrogate pair has no bytes in UTF-8, in which Python gets its code.
  ["text", gatherText(WORDS.with(3, ""))] as const,
]);
