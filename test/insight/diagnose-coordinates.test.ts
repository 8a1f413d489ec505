/** Reasons that lie with whoever wrote the call: coordinates, their first number, no data, and another shape. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnose } from "../../src/insight/diagnose/diagnose.ts";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { run } from "../../src/core/functions.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { f32, i64, onnx, openvino } from "../support/calls.ts";
import { assertRefused } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

const ids = (node: NodeSpec, inputs: readonly Tensor[], actual: Tensor): string[] =>
  diagnose(node, inputs, actual).map(({ id, sentence, cells }) => {
    reportSentence("diagnosis", sentence);
    return `${id} ${cells.explained}/${cells.differing}`;
  });

const GRID = f32([2, 3], [1, 2, 3, 4, 5, 6]);
const SQUARE = f32([3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
const SCATTER = onnx("ScatterND", 18);

test("a swapped tuple is shown by the first that the order changes", () => {
  const inputs = [SQUARE, i64([3, 2], [1, 1, 0, 2, 1, 0]), f32([3], [10, 20, 30])];
  // By hand: row and column exchanged, so 20 stands in [2, 0] and 30 in [0, 1].
  const [first] = diagnose(SCATTER, inputs, f32([3, 3], [1, 30, 3, 4, 10, 6, 20, 8, 9]));
  assert.equal(first.id, "swapped-coordinates");
  reportSentence("diagnosis", first.sentence);
  assert.deepEqual(first.cells, { explained: 4, differing: 4 });
});

test("tuples for the other order are an error here, and explained", () => {
  const inputs = [GRID, i64([2, 2], [2, 0, 1, 1]), f32([2], [10, 20])];
  assert.throws(() => run(SCATTER, inputs));
  const [first] = diagnose(SCATTER, inputs, f32([2, 3], [1, 2, 10, 4, 20, 6]));
  assert.equal(first.id, "swapped-coordinates");
  assert.equal(first.cells.explained, first.cells.differing);
});

test("swapped tuples that lie outside may have been left out", () => {
  const inputs = [GRID, i64([2, 2], [0, 2, 1, 0]), f32([2], [10, 20])];
  // [0, 2] would be [2, 0], which is outside; [1, 0] leads to [0, 1].
  const found = diagnose(SCATTER, inputs, f32([2, 3], [1, 20, 3, 4, 5, 6]));
  reportSentence("diagnosis", found[0].sentence);
});

test("in tuples of three two neighbours may be exchanged", () => {
  const data = f32([2, 2, 2], [0, 1, 2, 3, 4, 5, 6, 7]);
  const indices = i64([3, 3], [0, 0, 1, 0, 1, 0, 1, 0, 1]);
  const node = onnx("GatherND", 13);
  // Coordinates 1 and 2 exchanged: [0, 1, 0], [0, 0, 1], [1, 1, 0].
  const [first] = diagnose(node, [data, indices], f32([3], [2, 1, 6]));
  assert.equal(first.id, "swapped-coordinates");
  reportSentence("diagnosis", first.sentence);
});

test("indices from 1 explain a call that is an error by its last index", () => {
  const data = f32([3], [1, 2, 3]);
  const inputs = [data, i64([2, 1], [1, 3]), f32([2], [10, 30])];
  assert.throws(() => run(SCATTER, inputs));
  const [first] = diagnose(SCATTER, inputs, f32([3], [10, 2, 30]));
  assert.equal(first.id, "indices-from-one");
  reportSentence("diagnosis", first.sentence);
});

test("zeros in place of data: TensorFlow's scatter_nd also adds", () => {
  const data = f32([4], [1, 2, 3, 4]);
  const inputs = [data, i64([3, 1], [1, 1, 3]), f32([3], [10, 20, 30])];
  const [added] = diagnose(SCATTER, inputs, f32([4], [0, 30, 0, 30]));
  assert.equal(added.id, "zeros-for-data");
  reportSentence("diagnosis", added.sentence);
  const [last] = diagnose(SCATTER, inputs, f32([4], [0, 20, 0, 30]));
  reportSentence("diagnosis", last.sentence);
});

test("zeros for data are not reported where nothing was applied or a cell was not zero", () => {
  const inputs = [f32([3], [1, 2, 3]), i64([1, 1], [0]), f32([1], [9])];
  assert.deepEqual(ids(SCATTER, inputs, f32([3], [1, 2, 3])), [
    "not-applied 1/1",
    "other-reduction 1/1",
  ]);
  assert.deepEqual(ids(SCATTER, inputs, f32([3], [9, 0, 5])), []);
});

const WIDE = f32([3, 4], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);

test("another axis of a gather is found by its shape", () => {
  const inputs = [WIDE, i64([2], [2, 0])];
  // Axis 0 gives [2, 4]; axis 1 gives columns 2 and 0 of each row.
  const actual = f32([3, 2], [2, 0, 6, 4, 10, 8]);
  const found = diagnose(onnx("Gather", 13), inputs, actual);
  const [{ sentence, ...facts }, ...others] = found;
  reportSentence("diagnosis", sentence);
  assert.deepEqual(facts, {
    id: "other-axis",
    cells: { explained: 6, differing: 6 },
    dialects: [],
  });
  assert.deepEqual(others, []);
});

test("another axis may hold an index that is an error along the call's own", () => {
  const inputs = [WIDE, i64([2], [3, 0])];
  assert.throws(() => run(onnx("Gather", 13), inputs));
  assert.deepEqual(ids(onnx("Gather", 13), inputs, f32([3, 2], [3, 0, 7, 4, 11, 8])), [
    "other-axis 6/6",
  ]);
});

test("another operator and other batches are found by their shape", () => {
  // GatherElements takes element [i, indices[i, j]]; Gather along axis 1 gives [2, 2, 2].
  const indices = i64([2, 2], [2, 0, 1, 1]);
  const elements = f32([2, 2], [3, 1, 5, 5]);
  assert.deepEqual(ids(onnx("Gather", 13, { axis: 1 }), [GRID, indices], elements), [
    "other-operator 4/4",
  ]);
  const node = openvino("Gather", 8, { batch_dims: 1 });
  const all = f32([2, 2, 2], [3, 1, 2, 2, 6, 4, 5, 5]);
  assert.deepEqual(ids(node, [GRID, indices, i64([], [1])], all), ["other-batch-dims 8/8"]);
});

test("a shape that nothing gives is an error still, and so is one whose elements differ", () => {
  const inputs = [WIDE, i64([2], [2, 0])];
  for (const actual of [f32([3, 2], [2, 0, 6, 4, 10, 9]), f32([4, 2], [0, 1, 2, 3, 4, 5, 6, 7])]) {
    assertRefused("shape-mismatch", {}, () => diagnose(onnx("Gather", 13), inputs, actual));
  }
  const scatter = [WIDE, i64([1, 1], [0]), f32([1, 4], [9, 9, 9, 9])];
  assert.throws(() =>
    diagnose(
      SCATTER,
      scatter,
      f32(
        [4, 3],
        Array.from({ length: 12 }, () => 0),
      ),
    ),
  );
  // A shape that is right by chance needs elements that say something.
  const bools = tensor("bool", [1, 2], [true, true]);
  assertRefused("shape-mismatch", {}, () =>
    diagnose(onnx("Gather", 13), [bools, i64([1], [0])], tensor("bool", [1, 1], [true])),
  );
});
