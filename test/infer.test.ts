import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import type { TensorType } from "../src/operators/operator.ts";
import { infer } from "../src/call/infer.ts";
import type { PartialShape } from "../src/tensor/shape.ts";

type Node = Parameters<typeof infer>[0];

/** Shapes of the inputs in order, and the output's, or the code of the error that is certain. */
type Row = readonly [
  node: Node,
  shapes: readonly PartialShape[],
  output: PartialShape | { code: ErrorCode; says: string },
];

const nd: Node = { op: "ScatterND", opset: 18 };
const update: Node = { domain: "openvino", op: "ScatterNDUpdate", opset: 15 };
const elements = (axis = 0): Node => ({ op: "ScatterElements", opset: 18, attributes: { axis } });
const gather = (batch_dims = 0): Node => ({
  op: "GatherND",
  opset: 13,
  attributes: { batch_dims },
});
const gatherElements = (axis = 0): Node => ({
  op: "GatherElements",
  opset: 13,
  attributes: { axis },
});

const mismatch = (says: string) => ({ code: "shape-mismatch", says }) as const;
const rank = (says: string) => ({ code: "rank", says }) as const;
const axis = (says: string) => ({ code: "axis", says }) as const;

// prettier-ignore
const ROWS: readonly Row[] = [
  // ScatterND: the output is data, and the three shapes limit each other.
  [nd, [[4, 4, 4], [2, 1], [2, 4, 4]], [4, 4, 4]],
  [nd, [["N", 4, 5], ["M", 2], ["M", 5]], ["N", 4, 5]],
  [nd, [["N", 4, 5], ["M", 2], ["K", 5]], ["N", 4, 5]],
  [nd, [null, [2, 1], [2, 4]], null],
  [nd, [null, null, null], null],
  [nd, [[4, null], null, null], [4, null]],
  [nd, [[4, 4], [2, null], null], [4, 4]],
  [nd, [[4, 4], [2, 1], ["N", null]], [4, 4]],
  [nd, [[4, 4], [2, 0], [2, 4, 4]], [4, 4]],
  [nd, [[], null, null], rank("data")],
  [nd, [null, [], null], rank("indices")],
  [nd, [[4], ["M", 2], null], rank("is 2")],
  [nd, [["A"], ["M", 2], null], rank("is 2")],
  [nd, [[4, 4], [2, 1], [2, 5]], mismatch("= [2] ++ [4] = [2, 4], got [2, 5]")],
  [nd, [["N", 4], ["M", 1], ["M", 3]], mismatch("got [M, 3]")],
  [nd, [[4, 4], ["M", 1], [2]], mismatch("got [2]")],
  // Without k: from the ranks, or as far as the beginning and the end tell.
  [nd, [[4, 5], ["M", null], ["M", 5]], [4, 5]],
  [nd, [[4, 5], ["M", null], ["M", 6]], mismatch("data.shape[1:]")],
  [nd, [[4, 5], [3, null], [2]], mismatch("got [2]")],
  [nd, [[4, 5], [3, null], [3, 4, 5, 6]], mismatch("at most 3")],
  [nd, [[4, 5], [3, 2, null], [3]], mismatch("begin with")],
  [nd, [null, [3, null], [2, 4]], mismatch("begin with indices.shape[:-1] = [3]")],
  [nd, [null, [3, null], [3, 4]], null],
  [nd, [null, [0, 2, 0], [null, 2]], mismatch("at least 3")],
  [nd, [null, [0], []], mismatch("at least 1")],
  [update, [[1], [null, null], [2, null, null]], mismatch("at most 2")],
  [update, [[null, 2, 1], [null], [0]], mismatch("got [0]")],
  [update, [[null, 2, 1], [null], [1, 1, 1, 1]], [null, 2, 1]],
  // A scalar may be one element in OpenVINO, and there alone.
  [update, [[4], [1], []], [4]],
  [update, [[4], [1], [1, 1]], [4]],
  [update, [[4], [1], [null, "N"]], [4]],
  [update, [[4], [1], [2]], mismatch("one element")],
  [update, [[4], [null], [1, 1, 1]], [4]],
  [update, [[4, 4], [2, 1], [2, 5]], mismatch("[2, 4]")],
  [nd, [[4], [1], [1]], mismatch("got [1]")],
  // ScatterElements: one rank, updates as indices, not larger than data off the axis.
  [elements(), [[3, 3], [2, 3], [2, 3]], [3, 3]],
  [elements(), [[3, 3], [9, 2], [9, 2]], [3, 3]],
  [elements(-1), [[3, "C"], [2, 9], [2, 9]], [3, "C"]],
  [elements(), [null, [2, 3], ["A", "B"]], null],
  [elements(), [["N", 3], null, null], ["N", 3]],
  [elements(), [[3, 3], [2], null], rank("indices must have the rank of data")],
  [elements(), [null, [2, 3], [2]], rank("updates must have the rank of indices")],
  [elements(), [[], null, null], rank("rank >= 1")],
  [elements(2), [[3, 3], null, null], axis("-2..1")],
  [elements(-3), [null, null, [2, 2]], axis("-2..1")],
  [elements(9), [null, null, null], null],
  [elements(), [[3, 3], [2, 4], null], mismatch("axis 1 is 4 against 3")],
  [elements(), [[3, 3], null, [2, 4]], mismatch("axis 1 is 4 against 3")],
  [elements(), [[3, 3], [2, null], [3, 3]], mismatch("got [3, 3]")],
  // GatherND: batches, tuples, rest.
  [gather(), [[2, 2], [2, 2]], [2]],
  [gather(), [["N", 4, 5], ["M", 1]], ["M", 4, 5]],
  [gather(), [[2, 2], ["M", null]], null],
  [gather(), [null, ["M", 1]], null],
  [gather(), [[2, 2], null], null],
  [gather(1), [["B", 3, 4], ["C", 7, 1]], ["C", 7, 4]],
  [gather(1), [[2, 3, 4], [null, 7, 1]], [2, 7, 4]],
  [gather(1), [[null, 3, 4], ["B", "M", 2]], ["B", "M"]],
  [gather(2), [[2, 3, 4], [2, 3, 1]], [2, 3]],
  [gather(1), [[2, 3], [4, 1]], mismatch("[2] and [4]")],
  [gather(), [[2, 2], [5, 3]], rank("is 3, but data takes 1..2")],
  [gather(), [null, [5, 0]], rank("at least 1")],
  [gather(1), [[2, 2], [2, 2]], rank("is 2, but data takes 1..1")],
  [gather(2), [[2, 2], null], rank("below 2")],
  [gather(1), [null, [4]], rank("below 1")],
  [gather(), [[], null], rank("data")],
  // GatherElements: the output is indices.
  [gatherElements(), [[3, 3], [2, "N"]], [2, "N"]],
  [gatherElements(), [[3, 3], null], null],
  [gatherElements(), [null, [2, 2]], [2, 2]],
  [gatherElements(1), [[3, 3], [4, 1]], mismatch("axis 0 is 4 against 3")],
  [gatherElements(1), [[3, 3], [4]], rank("rank of data")],
  [gatherElements(1), [null, [4]], axis("-1..0")],
];

for (const [node, shapes, output] of ROWS) {
  const name = `${node.op} of ${JSON.stringify(shapes)} ${JSON.stringify(node.attributes ?? {})}`;
  const types = shapes.map((shape, position): TensorType => ({
    dtype: position === 1 ? "int64" : "float32",
    shape,
  }));
  test(name, () => {
    if (output !== null && "code" in output) {
      assert.throws(
        () => infer(node, types),
        (error) => {
          assert.ok(isTensorError(error, output.code), String(error));
          assert.ok(error.message.includes(output.says), error.message);
          return true;
        },
      );
    } else {
      assert.deepEqual(infer(node, types), [{ dtype: "float32", shape: output }]);
    }
  });
}

test("every version of ScatterND infers alike, where it takes the types", () => {
  const types: TensorType[] = [
    { dtype: "bfloat16", shape: ["N", 4] },
    { dtype: "int64", shape: ["M", 1] },
    { dtype: "bfloat16", shape: null },
  ];
  for (const opset of [13, 16, 18]) {
    assert.deepEqual(infer({ op: "ScatterND", opset }, types), [
      { dtype: "bfloat16", shape: ["N", 4] },
    ]);
  }
  assert.throws(
    () => infer({ op: "ScatterND", opset: 11 }, types),
    (error) => isTensorError(error, "dtype"),
  );
});

test("an output of more than 2^32 - 1 elements is too large", () => {
  const types: TensorType[] = [
    { dtype: "float32", shape: [2, 2 ** 20] },
    { dtype: "int64", shape: [2 ** 13, 1] },
  ];
  assert.throws(
    () => infer(gather(), types),
    (error) => isTensorError(error, "too-large"),
  );
});
