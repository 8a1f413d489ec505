/** Errors of indices, of repeated targets and of `out`, and what is left as it was after an error. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/core/functions.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import {
  elements,
  f32,
  gather,
  gatherElements,
  i32,
  i64,
  nd,
  ok,
  openvino,
  testErrors,
  type ErrorRow,
  update,
} from "../support/error-rows.ts";
import { WITH_LONG_STRINGS } from "../support/platform.ts";

/** As many elements of the same memory, of which there must be one more, one element further on. */
const shiftedBy4Bytes = ({ data, shape, size }: Tensor<"float32">) =>
  tensor("float32", shape, new Float32Array(data.buffer, 4, size));

/** Indices whose low 32 bits, or all bits but the sign, would lie within an axis of 8, or which int32 cannot hold. */
const BEYOND = [
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 40n,
  2n ** 32n,
  -(2n ** 31n) - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
];

// prettier-ignore
const ROWS: readonly ErrorRow[] = [
  // Indices.
  { name: "an index past its axis", node: nd(16), inputs: () => [f32(8, 3), i64([3, 1], 4, 3, 9), f32(3, 3)],
    code: "index-out-of-range",
    fields: { op: "ScatterND", opset: 16, input: "indices", at: [2, 0], axis: 0, got: 9, expected: [-8, 7] } },
  { name: "an index before its axis", node: nd(18), inputs: () => [f32(8), i64([1, 1], -9), f32(1)],
    code: "index-out-of-range", fields: { got: -9 } },
  { name: "bounds by axis, not by flat offset", node: nd(18), inputs: () => [f32(3, 3), i64([1, 2], 0, 5), f32(1)],
    code: "index-out-of-range",
    fields: { axis: 1, at: [0, 1] } },
  { name: "the first of several bad ones", node: nd(18),
    inputs: () => [f32(3, 3), i64([3, 2], 0, 0, 1, 7, 9, 9), f32(3)], code: "index-out-of-range", fields: { at: [1, 1] } },
  { name: "an index into an axis without elements", node: nd(18),
    inputs: () => [f32(0, 3), i64([1, 1], 0), f32(1, 3)], code: "index-out-of-range", fields: { expected: [0, -1] } },
  { name: "a bad index over an empty slice", node: nd(18), inputs: () => [f32(3, 0), i64([1, 1], 3), f32(1, 0)],
    code: "index-out-of-range" },
  ...BEYOND.map((index): ErrorRow => ({
    name: `the index ${index}`,
    node: nd(18),
    inputs: () => [f32(8), i64([1, 1], index), f32(1)],
    code: "index-out-of-range",
    fields: { got: Number.isSafeInteger(Number(index)) ? Number(index) : index },
  })),
  { name: "int32 indices at their ends", node: elements(18), inputs: () => [f32(8), i32([1], -(2 ** 31)), f32(1)],
    code: "index-out-of-range" },
  { name: "the axis of a batched gather", node: gather(12, { batch_dims: 1 }),
    inputs: () => [f32(2, 3, 4), i64([2, 1, 1], 0, 3)], code: "index-out-of-range",
    fields: { axis: 1, at: [1, 0, 0] } },
  { name: "elements along the last axis", node: gatherElements(11, { axis: 1 }),
    inputs: () => [f32(2, 3), i64([2, 2], 0, 0, 0, -4)], code: "index-out-of-range",
    fields: { axis: 1, at: [1, 1] } },
  { name: "negative indices in ScatterNDUpdate-3", node: update(4), inputs: () => [f32(8), i64([1, 1], -1), f32(1)],
    code: "index-out-of-range",
    fields: { opset: 3, expected: [0, 7] } },
  { name: "a sequence that does not fit", node: { op: "TensorScatter", opset: 24 },
    inputs: () => [f32(2, 4, 3), f32(2, 2, 3), i64([2], 2, 3)], code: "index-out-of-range",
    fields: { input: "write_indices", at: [1], axis: 1, got: 3, expected: [0, 2] } },
  { name: "a sequence before the cache", node: { op: "TensorScatter", opset: 24 },
    inputs: () => [f32(1, 4, 3), f32(1, 2, 3), i64([1], -1)], code: "index-out-of-range" },
  ...([
    ["Gather-1", { op: "Gather", opset: 10 }, () => [f32(8), i64([1], -1)]],
    ["Scatter-9", { op: "Scatter", opset: 10 }, () => [f32(8), i64([1], -1), f32(1)]],
    ["ScatterUpdate-3", openvino("ScatterUpdate", 15), () => [f32(8), i64([1], -1), f32(1), i64([], 0)]],
    ["ScatterElementsUpdate-3", openvino("ScatterElementsUpdate", 11),
      () => [f32(8), i64([1], -1), f32(1), i64([], 0)]],
    ["GatherND-5", openvino("GatherND", 7), () => [f32(8), i64([1, 1], -1)]],
    ["GatherElements-6", openvino("GatherElements", 15, { axis: 0 }), () => [f32(8), i64([1], -1)]],
  ] as const).map(([title, node, inputs]): ErrorRow => ({
    name: `negative indices in ${title}`,
    node,
    inputs,
    code: "index-out-of-range",
    fields: { input: "indices", at: inputs()[1].shape.map(() => 0), axis: 0, got: -1, expected: [0, 7] },
  })),
  { name: "Gather-8 counts from the back, but GatherND-8 has no zeros for what is out of range",
    node: openvino("GatherND", 8), inputs: () => [f32(8), i64([1, 1], 8)], code: "index-out-of-range" },
  { name: "uint64 indices beyond int64", node: openvino("GatherND", 8),
    inputs: () => [f32(8), tensor("uint64", [1, 1], [2n ** 64n - 1n])], code: "index-out-of-range", fields: { got: 2n ** 64n - 1n } },
  // Duplicates.
  { name: "a repeated slice along an axis", node: openvino("ScatterUpdate", 3),
    inputs: () => [f32(2, 3), i64([2, 1], 1, 1), f32(2, 2, 1), i64([], 1)], options: () => ({ duplicates: "error" }),
    code: "duplicate-index",
    fields: { at: [1, 0] } },
  { name: "a repeated tuple", node: nd(18), inputs: () => [f32(8, 2), i64([3, 1], 1, 0, 1), f32(3, 2)],
    options: () => ({ duplicates: "error" }), code: "duplicate-index", fields: { input: "indices", at: [2] } },
  { name: "a repeated target, once from the back", node: nd(18), inputs: () => [f32(8), i64([2, 1], -1, 7), f32(2)],
    options: () => ({ duplicates: "error" }), code: "duplicate-index" },
  { name: "a repeated element", node: elements(18, { axis: 1 }),
    inputs: () => [f32(2, 3), i64([2, 2], 0, 1, 2, -1), f32(2, 2)], options: () => ({ duplicates: "error" }),
    code: "duplicate-index",
    fields: { at: [1, 1] } },
  // Out.
  { name: "out of another type", node: nd(18), inputs: ok, options: () => ({ out: zeros("float64", [8]) }),
    code: "dtype", fields: { input: "out" } },
  { name: "out of another shape", node: nd(18), inputs: ok, options: () => ({ out: f32(2, 4) }),
    code: "shape-mismatch",
    fields: { expected: [8] } },
  { name: "out that is updates", node: nd(18), inputs: () => [f32(2), i64([2, 1], 0, 1), f32(2)],
    options: (inputs) => ({ out: inputs[2] as Tensor }), code: "overlap",
    fields: { input: "out" } },
  { name: "out over a part of data", node: nd(18),
    inputs: () => [tensor("float32", [8], new Float32Array(9).subarray(0, 8)), i64([1, 1], 0), f32(1)],
    options: ([data]) => ({ out: shiftedBy4Bytes(data as Tensor<"float32">) }),
    code: "overlap" },
  { name: "a gather in place", node: gather(13), inputs: () => [f32(2), i64([2, 1], 0, 1)],
    options: ([data]) => ({ out: data as Tensor }), code: "overlap" },
  { name: "out in the memory of indices", node: nd(18),
    inputs: () => [zeros("int64", [2]), i64([2, 1], 0, 1), zeros("int64", [2])],
    options: ([, indices]) => ({ out: tensor("int64", [2], (indices as Tensor<"int64">).data) }), code: "overlap" },
  { name: "strings in place of updates", node: nd(18),
    inputs: () => [zeros("string", [1]), i64([1, 1], 0), zeros("string", [1])],
    options: (inputs) => ({ out: inputs[2] as Tensor }), code: "overlap" },
];

testErrors(ROWS);

test("after an error in the last index, out is what it was, in place too", () => {
  const indices = i64([3, 1], 0, 1, 8);
  const updates = full("float32", [3], 5);
  for (const reduction of ["none", "add", "max"]) {
    const data = full("float32", [8], 1);
    const out = full("float32", [8], 2);
    assert.throws(() => run(nd(18, { reduction }), [data, indices, updates], { out }));
    assert.throws(() => run(nd(18, { reduction }), [data, indices, updates], { out: data }));
    assert.ok(equals(out, full("float32", [8], 2)));
    assert.ok(equals(data, full("float32", [8], 1)));
  }
});

test(
  "strings that outgrow what a string holds leave out as it was, data itself or not",
  { skip: WITH_LONG_STRINGS },
  () => {
    const big = "x".repeat(2 ** 28);
    for (const inPlace of [true, false]) {
      const data = tensor("string", [2], ["a", big]);
      const out = inPlace ? data : tensor("string", [2], ["p", "q"]);
      const before = [...out.data];
      const inputs = [data, i64([4, 1], 0, 1, 1, 1), tensor("string", [4], ["b", big, big, big])];
      assert.throws(
        () => run(nd(18, { reduction: "add" }), inputs, { out }),
        (error) => isTensorError(error, "too-large") && error.op === "ScatterND",
      );
      assert.deepEqual(out.data, before);
    }
  },
);

test("any number of empty tuples over empty data does nothing, in no time", () => {
  const [output] = run(nd(18), [f32(0), i64([2 ** 40, 0]), f32(2 ** 40, 0)]);
  assert.deepEqual(output.shape, [0]);
});

test("batches without offsets take no time, however many", () => {
  const empty = () => f32(2 ** 52, 0);
  const indices = zeros("int64", [2 ** 52, 0]);
  for (const duplicates of ["last", "error"] as const) {
    const [output] = run(elements(18, { axis: 1 }), [empty(), indices, empty()], { duplicates });
    assert.equal(output.size, 0);
  }
  run(elements(18, { axis: 1, reduction: "add" }), [empty(), indices, empty()]);
});

test("an empty out within the memory of indices overlaps nothing", () => {
  const indices = i64([2, 1], 0, 1);
  const out = tensor("float32", [2, 0], new Float32Array(indices.data.buffer, 8, 0));
  assert.equal(run(gather(13), [f32(2, 0), indices], { out })[0], out);
});
