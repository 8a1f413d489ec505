import assert from "node:assert/strict";
import { test } from "node:test";
import type { ErrorCode, ErrorFields } from "../../src/core/errors.ts";
import { roleOf, type TensorType } from "../../src/core/operators/operator.ts";
import { operators, resolve } from "../../src/core/operators/registry.ts";
import { infer } from "../../src/core/call/check.ts";
import type { PartialShape } from "../../src/core/tensor/shape.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { assertRefused } from "../support/refusal.ts";

type Node = Parameters<typeof infer>[0];
type Shapes = readonly PartialShape[];

/** The shape of the output, or the error that is certain. */
type Expected = PartialShape | Refusal;
interface Refusal {
  readonly code: ErrorCode;
  readonly fields: ErrorFields;
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
  (fields: ErrorFields): Refusal => ({ code, fields });
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
  [nd, [[], null, null], rank({ input: "data", got: 0 })],
  [nd, [null, [], null], rank({ input: "indices", got: 0 })],
  [nd, [[4], ["M", 2], null], rank({ input: "indices", got: 2, expected: [0, 1] })],
  [nd, [["A"], ["M", 2], null], rank({ input: "indices", got: 2, expected: [0, 1] })],
  [nd, [[4, 4], [2, 1], [2, 5]], mismatch({ input: "updates", expected: [2, 4] })],
  [nd, [["N", 4], ["M", 1], ["M", 3]], mismatch({ input: "updates", expected: undefined })],
  [nd, [[4, 4], ["M", 1], [2]], mismatch({ input: "updates" })],
  // A tuple of no indices leads to all of data.
  [nd, [[4, 4], [2, 0], [2, 4, 5]], mismatch({ input: "updates", expected: [2, 4, 4] })],
  [nd, [[4, 4], [2, null], [2, 3, 4]], mismatch({ input: "updates", expected: [2, 4, 4] })],
  // Without k: from the ranks, or as far as the beginning and the end tell.
  [nd, [[4, 5], ["M", null], ["M", 5]], [4, 5]],
  [nd, [[4, 5], ["M", null], ["M", 6]], mismatch({ input: "updates" })],
  [nd, [[4, 5], [3, null], [2]], mismatch({ input: "updates", expected: [3] })],
  [nd, [[4, 5], [3, null], [3, 4, 5, 6]], mismatch({ input: "updates" })],
  [nd, [[4, 5], [3, 2, null], [3]], mismatch({ input: "updates", expected: [3, 2] })],
  [nd, [null, [3, null], [2, 4]], mismatch({ input: "updates", expected: [3] })],
  [nd, [null, [3, null], [3, 4]], null],
  [nd, [null, [0, 2, 0], [null, 2]], mismatch({ input: "updates" })],
  [nd, [null, [0], []], mismatch({ input: "updates" })],
  [nd, [null, [3, 0], [3]], mismatch({ input: "updates" })],
  [nd, [null, [3, 1], [3]], null],
  [nd, [[4], [3, null], [3]], [4]],
  [update, [[1], [null, null], [2, null, null]], mismatch({ input: "updates" })],
  [update, [[null, 2, 1], [null], [0]], mismatch({ input: "updates", expected: [1] })],
  [update, [[null, 2, 1], [null], [1, 1, 1, 1]], [null, 2, 1]],
  // A scalar may be one element in OpenVINO, and there alone.
  [update, [[4], [1], []], [4]],
  [update, [[4], [1], [1, 1]], [4]],
  [update, [[4], [1], [null, "N"]], [4]],
  [update, [[4], [1], [2]], mismatch({ input: "updates", expected: [] })],
  [update, [[4], [null], [1, 1, 1]], [4]],
  [update, [[4, 4], ["K"], [1, 1]], [4, 4]],
  [update, [[4, 4], [1], [1]], mismatch({ input: "updates", expected: [4] })],
  [update, [[4, 4], [2, 1], [2, 5]], mismatch({ input: "updates", expected: [2, 4] })],
  [nd, [[4], [1], [1]], mismatch({ input: "updates", expected: [] })],
  // ScatterElements: one rank, updates as indices, not larger than data off the axis.
  [elements(), [[3, 3], [2, 3], [2, 3]], [3, 3]],
  [elements(), [[3, 3], [9, 2], [9, 2]], [3, 3]],
  [elements(-1), [[3, "C"], [2, 9], [2, 9]], [3, "C"]],
  [elements(), [null, [2, 3], ["A", "B"]], null],
  [elements(), [["N", 3], null, null], ["N", 3]],
  [elements(), [[3, 3], [2], null], rank({ input: "indices", got: 1 })],
  [elements(), [null, [2, 3], [2]], rank({ input: "updates", got: 1 })],
  [elements(), [[], null, null], rank({ input: "data", got: 0 })],
  [elements(2), [[3, 3], null, null], axis({ axis: 2, got: 2, expected: [-2, 1] })],
  [elements(-3), [null, null, [2, 2]], axis({ axis: -3, got: -3, expected: [-2, 1] })],
  [elements(9), [null, null, null], null],
  [elements(), [[3, 3], [2, 4], null], mismatch({ input: "indices", axis: 1, got: 4 })],
  [elements(), [[3, 3], null, [2, 4]], mismatch({ input: "indices", axis: 1, got: 4 })],
  [elements(), [[3, 3], [2, null], [3, 3]], mismatch({ input: "updates" })],
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
  [gather(1), [[2, 3], [4, 1]], mismatch({ input: "indices" })],
  [gather(), [[2, 2], [5, 3]], rank({ input: "indices", got: 3, expected: [1, 2] })],
  [gather(), [null, [5, 0]], rank({ input: "indices", got: 0, expected: undefined })],
  [gather(1), [[2, 2], [2, 2]], rank({ input: "indices", got: 2, expected: [1, 1] })],
  [gather(2), [[2, 2], null], rank({ got: 2, expected: [0, 1] })],
  [gather(1), [null, [4]], rank({ got: 1, expected: [0, 0] })],
  [gather(), [[], null], rank({ input: "data", got: 0 })],
  // Scatter, as ScatterElements: off the axis, indices are no larger than data.
  [{ op: "Scatter", opset: 11 }, [["N", 3], [2, 3], [2, 3]], ["N", 3]],
  [{ op: "Scatter", opset: 11 }, [[3, 3], [2, 4], [2, 4]], mismatch({ input: "indices", axis: 1, got: 4 })],
  // GatherElements: the output is indices.
  [gatherElements(), [[3, 3], [2, "N"]], [2, "N"]],
  [gatherElements(), [[3, 3], null], null],
  [gatherElements(), [null, [2, 2]], [2, 2]],
  [openvino("GatherElements", 6, { axis: 1 }), [[3, 7, 5], [3, 10, 5]], [3, 10, 5]],
  [openvino("GatherElements", 6, { axis: 1 }), [[3, 7, 5], [4, 7, 5]], mismatch({ input: "indices", axis: 0, got: 4 })],
  // OpenVINO 2026.4.1: "Shapes [4,3] and [2,2] are not consistent", although ONNX takes them.
  [openvino("GatherElements", 6, { axis: 0 }), [[4, 3], [2, 2]],
    mismatch({ input: "indices", axis: 1, got: 2, expected: 3 })],
  [openvino("GatherElements", 6, { axis: 0 }), [[4, "N"], [2, 2]], [2, 2]],
  [gatherElements(0), [[4, 3], [2, 2]], [2, 2]],
  [gatherElements(1), [[3, 3], [4, 1]], mismatch({ input: "indices", axis: 0, got: 4 })],
  [gatherElements(1), [[3, 3], [4]], rank({ input: "indices", got: 1 })],
  [gatherElements(1), [null, [4]], axis({ axis: 1, got: 1, expected: [-1, 0] })],
  // Gather: indices in the place of the axis.
  [gatherAlong(0), [[5, 4], [2, 3]], [2, 3, 4]],
  [gatherAlong(1), [[5, 4], [2]], [5, 2]],
  [gatherAlong(-1), [["N", 4], [null]], ["N", null]],
  [gatherAlong(0), [[5, 4], []], [4]],
  [gatherAlong(-2), [[5, 4, 3], []], [5, 3]],
  [gatherAlong(0), [null, [2]], null],
  [gatherAlong(0), [[5], null], null],
  [gatherAlong(1), [[5], null], axis({ axis: 1, got: 1, expected: [-1, 0] })],
  [gatherAlong(-2), [[5], [1]], axis({ axis: -2, got: -2, expected: [-1, 0] })],
  [gatherAlong(0), [[], null], rank({ input: "data", got: 0 })],
  // GatherND of openvino: version 5 fuses batches, where there are two axes of them.
  [fused(5, 2), [[2, 3, 4, 5], [2, 3, 7, 1]], [6, 7, 5]],
  [fused(5, 2), [["B", 3, 4, 5], ["B", 3, 7, 1]], [null, 7, 5]],
  [fused(5, 2), [["B", 3, 4, 5], [2, null, 7, 1]], [6, 7, 5]],
  [fused(5, 2), [["B", 3, 4, 5], null], null],
  [fused(5, 1), [[2, 3], [2, 4, 1]], [2, 4]],
  [fused(5, 3), [[2, 3, 4, 5], [2, 3, 4, 1]], [24]],
  [fused(8, 2), [[2, 3, 4, 5], [2, 3, 7, 1]], [2, 3, 7, 5]],
  [fused(8, 1), [[2, 3], [4, 1]], mismatch({ input: "indices" })],
  // TensorScatter: the output is the cache; the sequence may be shorter than its axis.
  [sequence(), [[2, 4, 3], [2, 2, 3], [2]], [2, 4, 3]],
  [sequence(), [["B", 4, 3], ["B", 4, 3], [2]], ["B", 4, 3]],
  [sequence(), [[2, "S", 3], [2, 9, 3], null], [2, "S", 3]],
  [sequence(), [[2, 4, 3], [2, null, 3], null], [2, 4, 3]],
  [sequence(-1), [[2, 4], [2, 3], null], [2, 4]],
  [sequence(1), [null, [2, 2, 3], null], null],
  [sequence(), [[2, 4, 3], null, ["B"]], [2, 4, 3]],
  [sequence(), [[2, 4, 3], [2, 5, 3], null], mismatch({ input: "update" })],
  [sequence(), [[2, 4, 3], [2, 2, 5], null], mismatch({ input: "update" })],
  [sequence(), [[2, 4, 3], [3, 2, 3], null], mismatch({ input: "update" })],
  [sequence(), [[2, 4, 3], [2, 2, 3], [3]], mismatch(POSITIONS)],
  [sequence(), [null, [2, 2, 3], [3]], mismatch({ input: "write_indices" })],
  [sequence(), [[2, 4, 3], [2, 2, 3], [2, 1]], rank({ ...POSITIONS, got: 2 })],
  [sequence(), [null, null, []], rank({ input: "write_indices", got: 0 })],
  [sequence(), [[2, 4, 3], [2, 2], null], rank({ input: "update", got: 2 })],
  [sequence(), [[], null, null], rank({ input: "past_cache", got: 0 })],
  [sequence(), [[2, 4], null, null], axis({ axis: 0, got: -2 })],
  [sequence(0), [null, [2, 4], null], axis({ axis: 0, got: 0 })],
  [sequence(3), [[2, 4, 3], null, null], axis({ axis: 3, got: 3, expected: [-3, 2] })],
];

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
  [gather8(1), [[7, 4], [8, 3]], 1, mismatch({ input: "indices" })],
  [gather8(2), [[2, 3], [2, 3]], 1, axis({ axis: 1, got: 1 })],
  [gather8(), [[5], [2]], 1, axis({ axis: 1, got: 1, expected: [-1, 0] })],
  [gather8(3), [[2, 3, 4], [2, 3]], 2, rank({ got: 3, expected: [-2, 2] })],
  [gather8(-3), [[2, 3, 4], [2, 3]], 2, rank({ got: -3, expected: [-2, 2] })],
  [gather8(3), [[2, 3], null], 1, rank({ got: 3, expected: [-2, 2] })],
  [gather8(-1), [[2, 3], [2, 3, 4, 5]], 1, rank({ got: -1, expected: [-4, -2] })],
  [gather8(3), [[2, 3], [2, 3, 4, 5]], 1, rank({ got: 3, expected: [0, 2] })],
  [gather8(-5), [[2, 3], [2, 3, 4, 5]], 1, rank({ got: -5, expected: [-4, -2] })],
  [gather8(-3), [[2, 3], [2, 3, 4, 5]], 1, [2, 3, 4, 5]],
  [gather8(), [[], [2]], 0, rank({ input: "data", got: 0 })],
  [slices, [[4, 5], [2], [4, 2]], 1, [4, 5]],
  [slices, [[4, 5], [2], [2, 5]], -2, [4, 5]],
  [slices, [[4, 5], [2], [2, 5]], null, [4, 5]],
  [slices, [[4, 5], [], [4]], 1, [4, 5]],
  [slices, [["N", 5], ["M"], ["K", 5]], 0, ["N", 5]],
  [slices, [null, [2], [4]], 0, null],
  [slices, [[4, 5], null, [1, 2, 3]], 0, [4, 5]],
  [slices, [[4, 5], [2], null], 0, [4, 5]],
  [slices, [[4, 5], [2], [4, 3]], 1, mismatch({ input: "updates", expected: [4, 2] })],
  [slices, [["N", 5], ["M"], ["K", 6]], 0, mismatch({ input: "updates" })],
  [slices, [[4, 5], [2], [4]], null, mismatch({ input: "updates" })],
  [slices, [[], [2], null], 0, rank({ input: "data", got: 0 })],
  [slices, [[4, 5], [2], null], 2, axis({ axis: 2, got: 2, expected: [-2, 1] })],
  [elementsUpdate, [[3, 3], [2, 9], [2, 9]], 1, [3, 3]],
  [elementsUpdate, [[3, 3], [9, 9], [9, 9]], null, [3, 3]],
  [elementsUpdate, [[3, 3], [2, 9], null], 0, mismatch({ input: "indices", axis: 1, got: 9 })],
  [elementsUpdate, [[3, 3], [2, 2], null], -3, axis({ axis: -3, got: -3, expected: [-2, 1] })],
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
    assertRefused(output.code, { op: node.op, ...output.fields }, () => infer(node, types));
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
    assertRefused("shape-mismatch", { input: "axis" }, () => inferWith(shape));
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
  assertRefused("dtype", {}, () => infer({ op: "ScatterND", opset: 11 }, types));
});

test("an output of more than 2^32 - 1 elements is too large", () => {
  const types: TensorType[] = [
    { dtype: "float32", shape: [2, 2 ** 20] },
    { dtype: "int64", shape: [2 ** 13, 1] },
  ];
  assertRefused("too-large", {}, () => infer(gather(), types));
});
