/** External data of a model is found by the last names of the files that were opened with it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileOf, readerOf } from "../../src/reading/external.ts";

const file = (name: string, ...bytes: number[]) => ({ name, bytes: Uint8Array.from(bytes) });
const refused = (sentence: RegExp) => ({ code: "unsupported-model", message: sentence });

test("external data is read from the file with its name, from any position", () => {
  const read = readerOf([file("model.onnx", 9), file("a.data", 1, 2, 3, 4)]);
  assert.deepEqual([...read("weights/a.data", 1, 2)], [2, 3]);
  assert.deepEqual([...read("weights/a.data", 0, 4)], [1, 2, 3, 4]);
});

test("external data whose file is missing, or of which two files could be meant, is refused", () => {
  const two = [file("a.data"), file("other/a.data")];
  assert.throws(() => fileOf("a.data", two), refused(/several opened files have this name/));
  assert.throws(() => fileOf("b.data", two), refused(/"b\.data", which was not opened/));
  // A model cannot name itself as its data.
  assert.throws(() => fileOf("m.onnx", [file("m.onnx")]), refused(/which was not opened/));
  const read = readerOf([file("a.data", 1)]);
  read("first/a.data", 0, 1);
  assert.throws(() => read("second/a.data", 0, 1), refused(/first\/a\.data and second\/a\.data/));
});
