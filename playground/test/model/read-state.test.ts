/** A state becomes a call, with every fault at its place. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isTensorError, run, type ErrorCode } from "ndscatter";
import { PRESETS } from "../../src/examples/presets.ts";
import { readState, explainState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { sentenceOf } from "../support/refused.ts";
import { states } from "./states.ts";
import { stateOf } from "../support/states.ts";

const SMALL = stateOf("ai.onnx/ScatterND/18;float32:2,2:0*4;int64:2,1:1,-2;float32:2,2:1,2,3,4");

const inputAs = (position: number, change: Partial<State["inputs"][0]>): State => ({
  ...SMALL,
  inputs: SMALL.inputs.map((input, at) =>
    at === position && input ? { ...input, ...change } : input,
  ),
});

/** The sentence of the library for a state. */
const refusal = (code: ErrorCode, state: State): string => {
  const { node, inputs } = readState(state);
  return sentenceOf(code, node, inputs);
};

const PLUS: State = { ...SMALL, attributes: { reduction: "plus" } };
const OLD: State = { ...SMALL, opset: 13, attributes: { reduction: "add" } };
const UNKNOWN: State = { ...SMALL, op: "Scatterer" };

test("a valid state has no faults, and an output", () => {
  const { faults, explanation } = explainState(SMALL);
  assert.deepEqual(faults, []);
  assert.deepEqual(explanation?.output?.toArray(), [
    [3, 4],
    [1, 2],
  ]);
});

const outside = (...values: string[]): string =>
  refusal("index-out-of-range", inputAs(1, { values }));

// prettier-ignore
const FAULTS: readonly (readonly [name: string, state: State, faults: readonly (readonly [place: object, sentence: string])[]])[] = [
  ["text that is no number", inputAs(0, { values: ["0", "x", "0", "1,5"] }),
    [[{ input: 0, at: [0, 1] }, 'float32 cannot hold "x"'], [{ input: 0, at: [1, 1] }, 'float32 cannot hold "1,5"']]],
  ["an index with a fraction", inputAs(1, { values: ["0", "0.5"] }), [[{ input: 1, at: [1, 0] }, "int64 cannot hold 0.5"]]],
  ["every index out of range", inputAs(1, { values: ["2", "-3"] }),
    [[{ input: 1, at: [0, 0] }, outside("2", "0")], [{ input: 1, at: [1, 0] }, outside("0", "-3")]]],
  ["a word that is no reduction", PLUS, [[{ attribute: "reduction" }, refusal("reduction", PLUS)]]],
  ["an attribute that the version has not", OLD, [[{ attribute: "reduction" }, refusal("attribute", OLD)]]],
  ["no such operator", UNKNOWN, [[{ whole: "operator" }, refusal("unknown-operator", UNKNOWN)]]],
];

for (const [name, state, faults] of FAULTS) {
  test(`a fault: ${name}`, () => {
    const found = explainState(state).faults.map(({ place, sentence }) => [place, sentence]);
    assert.deepEqual(found, faults);
  });
}

test("updates of another shape: the dimensions that are wrong", () => {
  const { faults, explanation } = explainState(
    inputAs(2, { shape: [2, 3], values: ["1", "2", "3", "4", "5", "6"] }),
  );
  assert.deepEqual(
    faults.map(({ place }) => place),
    [{ input: 2, dims: [1] }],
  );
  assert.match(faults[0].sentence, /indices\.shape\[:-1\] \+\+ data\.shape\[1:\]/);
  assert.deepEqual(explanation?.shapes[0].expected, [2, 2]);
});

test("an axis outside the rank is a fault of the attribute, or of the input", () => {
  const tensors = "float32:2,2:0*4;int64:2,1:1,-2";
  const attribute = stateOf(`ai.onnx/GatherElements/13;axis=2;${tensors}`);
  assert.deepEqual(explainState(attribute).faults[0].place, { attribute: "axis" });
  const [{ place }] = explainState(stateOf(`openvino/Gather/8;${tensors};int64::2`)).faults;
  assert.ok("input" in place && place.input === 2);
});

test("an output that is too large is not made", () => {
  const state = stateOf("ai.onnx/Gather/13;float32:1,20000:0*20000;int64:20000:0*20000");
  const { faults, explanation } = explainState(state);
  assert.equal(explanation, null);
  assert.deepEqual(
    faults.map(({ place }) => place),
    [{ whole: "output" }],
  );
  assert.match(
    faults[0].sentence,
    /up to 20,000 elements, but the output of shape \[20000, 20000\] has 400,000,000/,
  );
});

for (const { id, state } of PRESETS) {
  test(`the faults of ${id} are those of run`, () => {
    const { node, inputs, faults } = explainState(state);
    try {
      run(node, inputs);
      assert.deepEqual(faults, []);
    } catch (error) {
      assert.ok(isTensorError(error));
      assert.ok(faults.some(({ sentence }) => sentence === error.message));
    }
  });
}

test("no state throws, and a state without faults can be run", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { faults, explanation } = explainState(state);
      assert.equal(
        faults.length === 0,
        explanation?.output !== null &&
          explanation !== null &&
          readState(state).faults.length === 0,
      );
    }),
    { numRuns: 500 },
  );
});
