/** A link holds the whole state, and no link does harm. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromHash, toHash } from "../../src/document/hash.ts";
import type { State } from "../../src/values/state.ts";
import { stateOf } from "../support/states.ts";
import { states } from "./states.ts";
import { anyText } from "../support/any-text.ts";

const SMALL: State = {
  domain: "ai.onnx",
  op: "ScatterND",
  opset: 18,
  attributes: { reduction: "add" },
  inputs: [
    { dtype: "float32", shape: [4, 2], values: ["0", "0", "0", "0", "0", "0", "0", "0"] },
    { dtype: "int64", shape: [2, 1], values: ["1", "-1"] },
    { dtype: "float32", shape: [2, 2], values: ["1.5", "nan", "", "a;b"] },
  ],
};

test("a link can be read", () => {
  const hash =
    "ai.onnx/ScatterND/18;reduction=add;float32:4,2:0*8;int64:2,1:1,-1;float32:2,2:1.5,nan,,a%3Bb";
  assert.equal(toHash(SMALL), hash);
  assert.deepEqual(fromHash(`#${hash}`), { state: SMALL });
  // A program may encode the link once more.
  assert.deepEqual(fromHash(`#${encodeURIComponent(hash)}`), { state: SMALL });
});

test("a part of a larger tensor keeps the numbers of its rows", () => {
  const hash = "ai.onnx/GatherND/13;int32:6:0*6:3,1250000-1250002,9,8;int64:1:0";
  const state = stateOf(hash);
  assert.deepEqual(state.inputs[0]?.rows, [3, 1_250_000, 1_250_001, 1_250_002, 9, 8]);
  assert.equal(toHash(state), hash);
});

test("every state comes back from its link, which needs no escaping", () => {
  fc.assert(
    fc.property(states, (state) => {
      const hash = toHash(state);
      assert.deepEqual(fromHash(hash), { state });
      // A browser leaves these as they are; it would encode others.
      assert.match(hash, /^[A-Za-z0-9._+\-/;:=,*%]*$/);
    }),
  );
});

test("an opset between two versions means the one before", () => {
  const result = fromHash("ai.onnx/GatherND/17;int32:1:5;int64:1:0");
  assert.ok("state" in result);
  assert.equal(result.state.opset, 13);
});

test("an optional input may be left out", () => {
  const result = fromHash("ai.onnx/TensorScatter/24;float32:1,1,1:0;float32:1,1,1:1;-");
  assert.ok("state" in result);
  assert.equal(result.state.inputs[2], null);
});

const REFUSED: readonly (readonly [hash: string, sentence: RegExp])[] = [
  ["", /begins with "", not with an operator/],
  ["#", /begins with ""/],
  ["ai.onnx/ScatterND", /begins with "ai.onnx\/ScatterND"/],
  ["ai.onnx/Scatterer/18", /Scatterer: unknown operator of ai\.onnx/],
  ["mars/ScatterND/18", /must be ai\.onnx or openvino, got "mars"/],
  ["ai.onnx/ScatterND/10", /does not have this operator yet/],
  ["ai.onnx/ScatterND/x", /"x" is not a size/],
  ["ai.onnx/ScatterND/18", /has 3 inputs \(data, indices, updates\), but the link has 0/],
  ["ai.onnx/GatherND/13;axis=1;axis=2;int32:1:5;int64:1:0", /gives the attribute "axis" twice/],
  ["ai.onnx/GatherND/13;int33:1:5;int64:1:0", /"int33" is not a data type/],
  ["ai.onnx/GatherND/13;int32:1;int64:1:0", /an input is a data type, a shape and values/],
  ["ai.onnx/GatherND/13;int32:-1:5;int64:1:0", /"-1" is not a size/],
  ["ai.onnx/GatherND/13;int32:2:5;int64:1:0", /needs 2 values, but the link has 1/],
  ["ai.onnx/GatherND/13;int32:2:5*3;int64:1:0", /no room for "5\*3"/],
  ["ai.onnx/GatherND/13;int32:2:5*99999999999;int64:1:0", /no room/],
  ["ai.onnx/GatherND/13;int32:300,300:0*90000;int64:1:0", /up to 20,000 elements/],
  ["ai.onnx/GatherND/13;int32:0,99999999:;int64:1:0", /up to 20,000 lists/],
  ["ai.onnx/GatherND/13;int32:1,1,1,1,1,1:5;int64:1:0", /up to 5 axes/],
  ["ai.onnx/GatherND/13;int32:2:5,5:7-5,1-5;int64:1:0", /"7-5,1-5" does not number 2 rows/],
  ["ai.onnx/GatherND/13;int32:2:5,5:0-999999999999999;int64:1:0", /does not number 2 rows/],
  ["ai.onnx/GatherND/13;int32:2:5,5:7,-1;int64:1:0", /"" is not a size/],
  ["ai.onnx/GatherND/13;int32:1:%ff;int64:1:0", /"%ff" is not text in UTF-8/],
];

for (const [hash, sentence] of REFUSED) {
  test(`refused: ${hash || "nothing"}`, () => {
    const result = fromHash(hash);
    assert.ok("error" in result);
    assert.match(result.error, sentence);
  });
}

test("a link of a few characters does not fill the memory", () => {
  const result = fromHash(
    `ai.onnx/GatherND/13;int32:20000:${"0*20000,".repeat(100_000)}0;int64:1:0`,
  );
  assert.ok("error" in result);
});

test("garbage never throws", () => {
  const near = fc
    .tuple(states, fc.nat(), fc.string({ maxLength: 3 }), fc.nat(3))
    .map(([state, at, text, length]) => {
      const hash = toHash(state);
      const where = at % (hash.length + 1);
      return hash.slice(0, where) + text + hash.slice(where + length);
    });
  fc.assert(
    fc.property(fc.oneof(anyText(), near), (hash) => {
      const result = fromHash(hash);
      assert.ok("state" in result ? result.state.inputs.length > 0 : result.error.length > 0);
    }),
  );
});
