/** What of other code comes out of reading and writing ONNX files: what it throws becomes an error of the package. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { TensorError } from "../../src/core/errors.ts";
import { decodeUtf8, encodedAs } from "../../src/models/onnx/wire.ts";
import { readOutline, readTensor } from "../../src/entries/onnx.ts";
import { bytes, file, text, type Bytes } from "../support/onnx-encoder.ts";
import { sourceOf } from "../support/byte-source.ts";
import { head, initializer, modelFile, TENSOR } from "../support/onnx-parts.ts";
import { assertCode, assertRefused } from "../support/refusal.ts";

const thrower = (cause: unknown) => (): never => {
  throw cause;
};

test("what the platform throws at a text is the cause of an error about the file", () => {
  const error = assertCode("malformed-file", {}, () => decodeUtf8(Uint8Array.of(0xff), "a name"));
  assert.ok(error.cause instanceof TypeError);
  const reason = error.cause.message.replace(/\.$/, "");
  assert.equal(error.message, `a name cannot be decoded: ${reason}`);
  assert.equal(decodeUtf8(Uint8Array.of(0x61), "a name"), "a");
});

test("a file that memory does not hold is too large, and other errors are not about memory", () => {
  const cause = new RangeError("Array buffer allocation failed");
  assertRefused("too-large", { cause }, () => encodedAs("the model", thrower(cause)));
  for (const other of [new TensorError("engine", "x"), new TypeError("y")]) {
    assert.throws(
      () => encodedAs("the model", thrower(other)),
      (thrown) => thrown === other,
    );
  }
});

/** A tensor with more elements than any may have, whose values an outline leaves in the file. */
const huge = (...name: readonly Bytes[]): Bytes[] => [
  head("int8", 2 ** 20, 2 ** 20),
  ...name,
  bytes(TENSOR.rawData, new Uint8Array(2000)),
];

for (const [name, input] of [
  ["w", "w"],
  ["", undefined],
] as const) {
  test(`errors of sizes name the tensor ${JSON.stringify(name)}`, () => {
    const parts = huge(...(name === "" ? [] : [text(TENSOR.name, name)]));
    assertRefused("too-large", { input }, () => readTensor(file(...parts)));
    const [constant] = readOutline(sourceOf(modelFile(initializer(...parts)))).graph.constants;
    assertRefused("too-large", { input }, () => constant.read());
  });
}
