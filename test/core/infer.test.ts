import assert from "node:assert/strict";
import { test } from "node:test";
import { isTensorError, type ErrorCode, type ErrorFields } from "../../src/core/errors.ts";
import { roleOf, type TensorType } from "../../src/core/operators/operator.ts";
import { operators, resolve } from "../../src/core/operators/registry.ts";
import { infer } from "../../src/core/call/infer.ts";
import type { PartialShape } from "../../src/core/tensor/shape.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";

type Node = Parameters<typeof infer>[0];
type Shapes = readonly PartialShape[];

/** The shape of the output, or the error that is certain. */
type Expected = PartialShape | Refusal;
interface Refusal {
  readonly code: ErrorCode;
  readonly says: string;
  readonly fields?: ErrorFields | undefined;
}

/** Shapes of the inputs in order, and what follows. */
type Row = readonly [node: Node, shapes: Shapes, output: Expected];

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

const gatherAlong = (axis: number): Node => ({ op: "Gather", opset: 13, attributes: { axis } });
const sequence = (axis = -2): Node => ({ op: "TensorScatter", opset: 24, attributes: { axis } });
const openvino = (op: string, opset: number, attributes = {}): Node => ({
  domain: "openvino",
  op,
  opset,
  attributes,
});
const fused = (opset: number, batch_dims: number) => openvino("GatherND", opset, { batch_dims });

const refusal =
  (code: ErrorCode) =>
  (says: string, fields?: ErrorFields): Refusal => ({ code, says, fields });
const mismatch = refusal("shape-mismatch");
const rank = refusal("rank");
const axis = refusal("axis");

const POSITIONS = { input: "write_indices" };

// prettier-ignore
const ROWS: readonly Row[] = [
  // ScatterND: the output is data, and the three shapes limit each other.
  [nd, [[4, 4, 4], [2, 1], [2, 4, 4]], [4, 4, 4]],
  [nd, [["N", 4, 5], ["M", 2], ["M", 5]], ["N", 4, 5]],
  [nd, [["N", 4, 5], ["M", 2], ["K", 5]], ["N", 4, 5]],
  [nd, [null, [2, 1], [2, 4]], null],
  [nd, [null, null, null], null],
  [nd, [[4, 5], null, [3, 5]], [4, 5]],
  [nd, [["N", 5], null, []], ["N", 5]],
  [nd, [null, null, [3]], null],
  [nd, [[4, null], null, null], [4, null]],
  [nd, [[4, 4], [2, null], null], [4, 4]],
  [nd, [[4, 4], [2, 1], ["N", null]], [4, 4]],
  [nd, [[4, 4], [2, 0], [2, 4, 4]], [4, 4]],
  [nd, [[], null, null], rank("data", { input: "data", got: 0 })],
  [nd, [null, [], null], rank("indices")],
  [nd, [[4], ["M", 2], null], rank("must be from 0 to 1, got 2")],
  [nd, [["A"], ["M", 2], null], rank("must be from 0 to 1, got 2")],
  [nd, [[4, 4], [2, 1], [2, 5]], mismatch("= [2] ++ [4] = [2, 4], got [2, 5]", { input: "updates", expected: [2, 4] })],
  [nd, [["N", 4], ["M", 1], ["M", 3]], mismatch("got [M, 3]", { expected: undefined })],
  [nd, [[4, 4], ["M", 1], [2]], mismatch("got [2]")],
  // A tuple of no indices leads to all of data.
  [nd, [[4, 4], [2, 0], [2, 4, 5]], mismatch("= [2] ++ [4, 4] = [2, 4, 4], got [2, 4, 5]", { input: "updates", expected: [2, 4, 4] })],
  [nd, [[4, 4], [2, null], [2, 3, 4]], mismatch("= [2] ++ [4, 4] = [2, 4, 4], got [2, 3, 4]")],
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
  [nd, [null, [3, 0], [3]], mismatch("at least 2")],
  [nd, [null, [3, 1], [3]], null],
  [nd, [[4], [3, null], [3]], [4]],
  [update, [[1], [null, null], [2, null, null]], mismatch("at most 2")],
  [update, [[null, 2, 1], [null], [0]], mismatch("got [0]")],
  [update, [[null, 2, 1], [null], [1, 1, 1, 1]], [null, 2, 1]],
  // A scalar may be one element in OpenVINO, and there alone.
  [update, [[4], [1], []], [4]],
  [update, [[4], [1], [1, 1]], [4]],
  [update, [[4], [1], [null, "N"]], [4]],
  [update, [[4], [1], [2]], mismatch("one element")],
  [update, [[4], [null], [1, 1, 1]], [4]],
  [update, [[4, 4], ["K"], [1, 1]], [4, 4]],
  [update, [[4, 4], [1], [1]], mismatch("got [1]")],
  [update, [[4, 4], [2, 1], [2, 5]], mismatch("[2, 4]")],
  [nd, [[4], [1], [1]], mismatch("got [1]")],
  // ScatterElements: one rank, updates as indices, not larger than data off the axis.
  [elements(), [[3, 3], [2, 3], [2, 3]], [3, 3]],
  [elements(), [[3, 3], [9, 2], [9, 2]], [3, 3]],
  [elements(-1), [[3, "C"], [2, 9], [2, 9]], [3, "C"]],
  [elements(), [null, [2, 3], ["A", "B"]], null],
  [elements(), [["N", 3], null, null], ["N", 3]],
  [elements(), [[3, 3], [2], null], rank("indices must have the rank of data", { input: "indices", got: 1 })],
  [elements(), [null, [2, 3], [2]], rank("updates must have the rank of indices")],
  [elements(), [[], null, null], rank("rank 1 or more")],
  [elements(2), [[3, 3], null, null], axis("-2 to 1", { axis: 2, got: 2, expected: [-2, 1] })],
  [elements(-3), [null, null, [2, 2]], axis("-2 to 1")],
  [elements(9), [null, null, null], null],
  [elements(), [[3, 3], [2, 4], null], mismatch("axis 1 of indices must be at most 3, as in data [3, 3], got [2, 4]", { input: "indices", axis: 1, got: 4 })],
  [elements(), [[3, 3], null, [2, 4]], mismatch("axis 1 of indices must be at most 3, as in data [3, 3], got [2, 4]")],
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
  [gather(1), [[2, 3], [4, 1]], mismatch("[2] and [4]", { input: "indices" })],
  [gather(), [[2, 2], [5, 3]], rank("must be from 1 to 2, got 3", { input: "indices", got: 3, expected: [1, 2] })],
  [gather(), [null, [5, 0]], rank("at least 1", { got: 0, expected: undefined })],
  [gather(1), [[2, 2], [2, 2]], rank("must be 1, got 2")],
  [gather(2), [[2, 2], null], rank("below 2", { got: 2, expected: [0, 1] })],
  [gather(1), [null, [4]], rank("below 1")],
  [gather(), [[], null], rank("data")],
  // Scatter, as ScatterElements: off the axis, indices are no larger than data.
  [{ op: "Scatter", opset: 11 }, [["N", 3], [2, 3], [2, 3]], ["N", 3]],
  [{ op: "Scatter", opset: 11 }, [[3, 3], [2, 4], [2, 4]], mismatch("axis 1 of indices must be at most 3, as in data [3, 3], got [2, 4]")],
  // GatherElements: the output is indices.
  [gatherElements(), [[3, 3], [2, "N"]], [2, "N"]],
  [gatherElements(), [[3, 3], null], null],
  [gatherElements(), [null, [2, 2]], [2, 2]],
  [openvino("GatherElements", 6, { axis: 1 }), [[3, 7, 5], [3, 10, 5]], [3, 10, 5]],
  [openvino("GatherElements", 6, { axis: 1 }), [[3, 7, 5], [4, 7, 5]], mismatch("axis 0 of indices must be at most 3")],
  [gatherElements(1), [[3, 3], [4, 1]], mismatch("axis 0 of indices must be at most 3")],
  [gatherElements(1), [[3, 3], [4]], rank("rank of data")],
  [gatherElements(1), [null, [4]], axis("-1 to 0")],
  // Gather: indices in the place of the axis.
  [gatherAlong(0), [[5, 4], [2, 3]], [2, 3, 4]],
  [gatherAlong(1), [[5, 4], [2]], [5, 2]],
  [gatherAlong(-1), [["N", 4], [null]], ["N", null]],
  [gatherAlong(0), [[5, 4], []], [4]],
  [gatherAlong(-2), [[5, 4, 3], []], [5, 3]],
  [gatherAlong(0), [null, [2]], null],
  [gatherAlong(0), [[5], null], null],
  [gatherAlong(1), [[5], null], axis("-1 to 0")],
  [gatherAlong(-2), [[5], [1]], axis("-1 to 0")],
  [gatherAlong(0), [[], null], rank("data")],
  // GatherND of openvino: version 5 fuses batches, where there are two axes of them.
  [fused(5, 2), [[2, 3, 4, 5], [2, 3, 7, 1]], [6, 7, 5]],
  [fused(5, 2), [["B", 3, 4, 5], ["B", 3, 7, 1]], [null, 7, 5]],
  [fused(5, 2), [["B", 3, 4, 5], [2, null, 7, 1]], [6, 7, 5]],
  [fused(5, 2), [["B", 3, 4, 5], null], null],
  [fused(5, 1), [[2, 3], [2, 4, 1]], [2, 4]],
  [fused(5, 3), [[2, 3, 4, 5], [2, 3, 4, 1]], [24]],
  [fused(8, 2), [[2, 3, 4, 5], [2, 3, 7, 1]], [2, 3, 7, 5]],
  [fused(8, 1), [[2, 3], [4, 1]], mismatch("[2] and [4]", { input: "indices" })],
  // TensorScatter: the output is the cache; the sequence may be shorter than its axis.
  [sequence(), [[2, 4, 3], [2, 2, 3], [2]], [2, 4, 3]],
  [sequence(), [["B", 4, 3], ["B", 4, 3], [2]], ["B", 4, 3]],
  [sequence(), [[2, "S", 3], [2, 9, 3], null], [2, "S", 3]],
  [sequence(), [[2, 4, 3], [2, null, 3], null], [2, 4, 3]],
  [sequence(-1), [[2, 4], [2, 3], null], [2, 4]],
  [sequence(1), [null, [2, 2, 3], null], null],
  [sequence(), [[2, 4, 3], null, ["B"]], [2, 4, 3]],
  [sequence(), [[2, 4, 3], [2, 5, 3], null], mismatch("at most 4 along axis 1, got [2, 5, 3]", { input: "update" })],
  [sequence(), [[2, 4, 3], [2, 2, 5], null], mismatch("past_cache.shape = [2, 4, 3]")],
  [sequence(), [[2, 4, 3], [3, 2, 3], null], mismatch("got [3, 2, 3]")],
  [sequence(), [[2, 4, 3], [2, 2, 3], [3]], mismatch("write_indices must have the shape [2]", POSITIONS)],
  [sequence(), [null, [2, 2, 3], [3]], mismatch("write_indices must have the shape [2]")],
  [sequence(), [[2, 4, 3], [2, 2, 3], [2, 1]], rank("write_indices must have rank 1", { ...POSITIONS, got: 2 })],
  [sequence(), [null, null, []], rank("write_indices must have rank 1")],
  [sequence(), [[2, 4, 3], [2, 2], null], rank("update must have the rank of past_cache, 3")],
  [sequence(), [[], null, null], rank("past_cache must have rank 1 or more")],
  [sequence(), [[2, 4], null, null], axis("axis is -2, which is the batch axis (axis 0 of rank 2)", { axis: 0, got: -2 })],
  [sequence(0), [null, [2, 4], null], axis("which is the batch axis (axis 0 of rank 2)")],
  [sequence(3), [[2, 4, 3], null, null], axis("-3 to 2")],
];

const FOUR = { got: -1, expected: [-4, -2] };
const gather8 = (batch_dims = 0) => openvino("Gather", 8, { batch_dims });
const slices = openvino("ScatterUpdate", 3);
const elementsUpdate = openvino("ScatterElementsUpdate", 12);

/** Operators whose axis is an input, of which `infer` may know the value. */
type AxisRow = readonly [node: Node, shapes: Shapes, axis: number | null, output: Expected];

// prettier-ignore
const AXIS_ROWS: readonly AxisRow[] = [
  [gather8(), [[5, 4], [2, 3]], 0, [2, 3, 4]],
  [gather8(), [[5, 4], [2, 3]], -1, [5, 2, 3]],
  [gather8(), [[5, 4], [2, 3]], null, [null, null, null]],
  [gather8(), [[5, 4], null], 0, null],
  [gather8(), [null, [2]], 0, null],
  [gather8(1), [["B", 4, 5], ["B", 3]], 1, ["B", 3, 5]],
  [gather8(1), [[null, 4], [7, 3]], 1, [7, 3]],
  [gather8(1), [[7, 4], [null, 3]], 1, [7, 3]],
  [gather8(1), [[7, 4, 2], [7, 3]], null, [null, null, null]],
  [gather8(-1), [[2, 4], [2, 3]], 1, [2, 3]],
  [gather8(-1), [[2, 4], null], 1, null],
  [gather8(2), [[2, 3, 4], [2, 3]], 2, [2, 3]],
  [gather8(1), [[7, 4], [8, 3]], 1, mismatch("[7] and [8]")],
  [gather8(2), [[2, 3], [2, 3]], 1, axis("axis is 1, but must come after the 2 batch axes", { axis: 1, got: 1 })],
  [gather8(), [[5], [2]], 1, axis("-1 to 0")],
  [gather8(3), [[2, 3, 4], [2, 3]], 2, rank("is 3, but must be from -2 to 2, the", { got: 3, expected: [-2, 2] })],
  [gather8(-3), [[2, 3, 4], [2, 3]], 2, rank("is -3, but must be from -2 to 2")],
  [gather8(3), [[2, 3], null], 1, rank("is 3, but must be from -2 to 2")],
  [gather8(-1), [[2, 3], [2, 3, 4, 5]], 1, rank("to 2, the smaller rank of data and indices, or from -4 to -2", FOUR)],
  [gather8(3), [[2, 3], [2, 3, 4, 5]], 1, rank("is 3", { got: 3, expected: [0, 2] })],
  [gather8(-5), [[2, 3], [2, 3, 4, 5]], 1, rank("is -5", { got: -5, expected: [-4, -2] })],
  [gather8(-3), [[2, 3], [2, 3, 4, 5]], 1, [2, 3, 4, 5]],
  [gather8(), [[], [2]], 0, rank("data")],
  [slices, [[4, 5], [2], [4, 2]], 1, [4, 5]],
  [slices, [[4, 5], [2], [2, 5]], -2, [4, 5]],
  [slices, [[4, 5], [2], [2, 5]], null, [4, 5]],
  [slices, [[4, 5], [], [4]], 1, [4, 5]],
  [slices, [["N", 5], ["M"], ["K", 5]], 0, ["N", 5]],
  [slices, [null, [2], [4]], 0, null],
  [slices, [[4, 5], null, [1, 2, 3]], 0, [4, 5]],
  [slices, [[4, 5], [2], null], 0, [4, 5]],
  [slices, [[4, 5], [2], [4, 3]], 1, mismatch("= [4] ++ [2] ++ [] = [4, 2], got [4, 3]")],
  [slices, [["N", 5], ["M"], ["K", 6]], 0, mismatch("got [K, 6]")],
  [slices, [[4, 5], [2], [4]], null, mismatch("updates.shape must have rank 2, got [4]")],
  [slices, [[], [2], null], 0, rank("data")],
  [slices, [[4, 5], [2], null], 2, axis("-2 to 1")],
  [elementsUpdate, [[3, 3], [2, 9], [2, 9]], 1, [3, 3]],
  [elementsUpdate, [[3, 3], [9, 9], [9, 9]], null, [3, 3]],
  [elementsUpdate, [[3, 3], [2, 9], null], 0, mismatch("axis 1 of indices must be at most 3, as in data [3, 3], got [2, 9]; only axis 0")],
  [elementsUpdate, [[3, 3], [2, 2], null], -3, axis("-2 to 1")],
];

/** The types of a node's inputs: indices are of int64, an axis is a tensor where it is known. */
function typesFor(node: Node, shapes: Shapes, axis: number | null): TensorType[] {
  return resolve(node).inputs.map((input, position): TensorType => {
    if (roleOf(input) !== "axis") {
      const dtype = roleOf(input) === "indices" ? "int64" : "float32";
      return { dtype, shape: shapes[position] ?? null };
    }
    return axis === null ? { dtype: "int64", shape: [] } : tensor("int64", [], axis);
  });
}

for (const [node, shapes, axis, output] of [...ROWS.map(withoutAxis), ...AXIS_ROWS]) {
  const attributes = JSON.stringify(node.attributes ?? {});
  const at = axis === null ? "" : `, axis ${axis}`;
  test(`${node.op}-${node.opset} of ${JSON.stringify(shapes)} ${attributes}${at}`, () => {
    const types = typesFor(node, shapes, axis);
    if (output === null || !("code" in output)) {
      assert.deepEqual(infer(node, types), [{ dtype: "float32", shape: output }]);
      return;
    }
    assert.throws(
      () => infer(node, types),
      (error) => {
        assert.ok(isTensorError(error, output.code), String(error));
        assert.ok(error.message.includes(output.says), error.message);
        const { fields = {} } = output;
        for (const [name, value] of Object.entries({ op: node.op, ...fields })) {
          assert.deepEqual(error[name as keyof ErrorFields], value, name);
        }
        return true;
      },
    );
  });
}

function withoutAxis([node, shapes, output]: Row): AxisRow {
  return [node, shapes, null, output];
}

const mayBeAxis: readonly PartialShape[] = [[], [1], null, [null], ["N"]];
const isNoAxis: readonly PartialShape[] = [[2], [0], [1, 1], ["N", 1], [null, null]];

test("every operator has a row that gives a shape, and one that is refused", () => {
  const rows = [...ROWS.map(withoutAxis), ...AXIS_ROWS];
  for (const { domain, name } of operators()) {
    const own = rows.filter(([node]) => node.op === name && (node.domain ?? "ai.onnx") === domain);
    const isRefused = ([, , , output]: AxisRow): boolean => output !== null && "code" in output;
    assert.ok(own.some(isRefused), `${domain} ${name} is refused`);
    assert.ok(!own.every(isRefused), `${domain} ${name} gives a shape`);
  }
});

test("an axis is a scalar or has the shape [1]", () => {
  const inferWith = (shape: PartialShape) =>
    infer(gather8(), [
      { dtype: "float32", shape: [5, 4] },
      { dtype: "int64", shape: [2] },
      { dtype: "int32", shape },
    ]);
  for (const shape of mayBeAxis) assert.deepEqual(inferWith(shape)[0].shape, [null, null]);
  for (const shape of isNoAxis) {
    assert.throws(
      () => inferWith(shape),
      (error) => isTensorError(error, "shape-mismatch") && error.input === "axis",
      JSON.stringify(shape),
    );
  }
});

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
