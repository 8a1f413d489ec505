/**
 * What other systems really made of calls (`dialects/recorded.jsonl`, by `test/peers/dialects.ts`): the table of dialects
 * predicts each result that it decides, and `diagnose` explains those that differ by the dialect that made them.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { run } from "../../src/core/functions.ts";
import { codeOf } from "../../src/cli/text/dialect-code.ts";
import {
  compareDialects,
  type DialectComparison,
} from "../../src/insight/diagnose/compare-dialects.ts";
import { diagnose } from "../../src/insight/diagnose/diagnose.ts";
import { DIAGNOSES } from "../../src/insight/diagnose/diagnosis.ts";
import { dialects } from "../../src/insight/diagnose/dialects.ts";
import { isTensorError } from "../../src/core/errors.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";

// From build/test/insight/.
const folder = path.join(import.meta.dirname, "../../..", "test/fixtures/dialects");
const read = (name: string): readonly unknown[] =>
  fs
    .readFileSync(path.join(folder, name), "utf8")
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

type Value = number | string;

interface Call {
  readonly name: string;
  readonly node: NodeSpec;
  readonly inputs: readonly { dtype: DType; shape: number[]; values: readonly Value[] }[];
}

interface Recorded {
  readonly call: string;
  readonly dialect: string;
  readonly tool: string;
  readonly version: string;
  readonly line: string;
  readonly shape?: number[];
  readonly values?: readonly Value[];
  readonly error?: string;
}

const RECORDED = read("recorded.jsonl") as readonly Recorded[];
const CALLS = new Map((read("calls.jsonl") as readonly Call[]).map((call) => [call.name, call]));

const tensorOf = (dtype: DType, shape: number[], values: readonly Value[]): Tensor =>
  tensor(dtype, shape, dtype === "string" ? values : (values.map(Number) as never));

function callOf(name: string): { node: NodeSpec; inputs: Tensor[] } {
  const call = CALLS.get(name);
  assert.ok(call, name);
  const inputs = call.inputs.map(({ dtype, shape, values }) => tensorOf(dtype, shape, values));
  return { node: call.node, inputs };
}

function comparisonOf({ call, dialect }: Recorded): DialectComparison {
  const { node, inputs } = callOf(call);
  const found = compareDialects(node, inputs).find((one) => one.dialect === dialect);
  assert.ok(found, dialect);
  return found;
}

const flat = (one: Tensor): readonly unknown[] => {
  let level: unknown[] = [one.toArray()];
  for (let axis = 0; axis < one.shape.length; axis++) level = level.flat(1);
  return level;
};

/** The exact result; null where the call is an error. */
function exactOf(name: string): Tensor | null {
  const { node, inputs } = callOf(name);
  try {
    return run(node, inputs)[0];
  } catch (error) {
    if (isTensorError(error, "index-out-of-range")) return null;
    throw error;
  }
}

const resultOf = ({ call, shape = [], values = [] }: Recorded): Tensor =>
  tensorOf(callOf(call).inputs[0].dtype, shape, values);

/** Errors of systems without a kernel for the data type. All other recorded errors are about an index or a shape. */
const LACKS_TYPE =
  /^TypeError: |^NotImplementedError: |^NotFoundError: Could not find device |^RuntimeException: .* Status Message: CPU |^RuntimeError: .*\/core\.cpp:/;

test("every recorded result is the predicted one, in the cells that the dialect decides", () => {
  let decided = 0;
  for (const row of RECORDED) {
    const where = `${row.tool} ${row.version}, ${row.call}: ${row.line}`;
    const { why, output, undecided } = comparisonOf(row);
    if (row.error !== undefined) {
      if (why === "undefined") continue;
      const expected = LACKS_TYPE.test(row.error) ? "missing" : "error";
      assert.equal(why, expected, `${where}: ${row.error}`);
      decided++;
      continue;
    }
    if (why === "undefined") continue;
    assert.ok(output, `${where}: ${why}`);
    const actual = resultOf(row);
    assert.deepEqual(actual.shape, output.shape, where);
    const open = new Set(undecided);
    const [left, right] = [flat(actual), flat(output)].map((cells) =>
      cells.map((value, cell) => (open.has(cell) ? "open" : value)),
    );
    assert.deepEqual(left, right, where);
    decided += why === null ? 1 : 0;
  }
  assert.ok(decided > 0.9 * RECORDED.length, `${decided} of ${RECORDED.length}`);
});

test("a recorded result that differs is explained by the dialect that made it", () => {
  let explained = 0;
  const missed: string[] = [];
  for (const row of RECORDED) {
    if (row.error !== undefined || comparisonOf(row).why === "undefined") continue;
    const { node, inputs } = callOf(row.call);
    const actual = resultOf(row);
    const exact = exactOf(row.call);
    if (exact !== null && JSON.stringify(printed(exact)) === JSON.stringify(printed(actual)))
      continue;
    const where = `${row.tool}, ${row.call}: ${JSON.stringify(row.values)}`;
    const [first] = diagnose(node, inputs, actual);
    if (first?.dialects.some((id) => id === row.dialect)) explained++;
    else missed.push(`${where}: ${JSON.stringify(first)}`);
  }
  assert.deepEqual(missed, []);
  assert.ok(explained >= 30, `${explained}`);
});

/** Cells as text, which tells -0 from 0. */
const printed = (one: Tensor): string[] =>
  flat(one).map((value) => (Object.is(value, -0) ? "-0" : String(value)));

/** Dialects without a recorded run of some calls that the table says are missing. */
const NOT_TRIED = [
  ...["mlx", "onnxruntime-webgpu", "tensorflow-gpu", "tfjs-cpu", "tfjs-wasm"],
  ...["webnn"],
];

test("the lines that were run are those that are printed, and there is one where nothing is missing", () => {
  for (const { call, dialect, line } of RECORDED) {
    const { node, inputs } = callOf(call);
    const id = dialects().find((one) => one.id === dialect)?.id;
    assert.ok(id);
    assert.equal(codeOf(id, node, inputs), line);
  }
  const unproved = new Set<string>();
  for (const name of CALLS.keys()) {
    const { node, inputs } = callOf(name);
    for (const { dialect, why } of compareDialects(node, inputs)) {
      // A line for batch axes, or without data's value, is not known for every dialect that could do it.
      if (name.includes("batches") || name.includes("without data")) continue;
      const isLacking = codeOf(dialect, node, inputs) === null;
      if (isLacking || why !== "missing") {
        assert.equal(isLacking, why === "missing", `${dialect}, ${name}`);
        continue;
      }
      const run = RECORDED.filter((one) => one.dialect === dialect && one.call === name);
      // A recorded run must show that the line fails.
      if (run.length === 0) unproved.add(dialect);
      for (const { error = "" } of run) assert.match(error, LACKS_TYPE, `${dialect}, ${name}`);
    }
  }
  assert.deepEqual([...unproved].toSorted(), NOT_TRIED);
});

test("lines of code know batch axes and a reduction without data only in some dialects, and count an axis from the front", () => {
  const codes = (name: string): Record<string, string> => {
    const { node, inputs } = callOf(name);
    const lines = dialects().map(({ id }) => [id, codeOf(id, node, inputs)]);
    return Object.fromEntries(lines.filter(([, line]) => line !== null));
  };
  const node = 'y = make_node("GatherND", ["data", "indices"], ["y"], batch_dims=1)';
  const tf = "y = tf.gather_nd(data, indices, batch_dims=1)";
  assert.deepEqual(codes("GatherND: batches"), {
    onnx: node,
    "onnxruntime-cpu": node,
    "onnxruntime-webgpu": node,
    openvino: "y = ops.gather_nd(data, indices, 1)",
    "tensorflow-cpu": tf,
    "tensorflow-gpu": tf,
  });
  assert.deepEqual(codes("ScatterElementsUpdate: sum without data"), {
    openvino: 'y = ops.scatter_elements_update(data, indices, updates, 0, "sum", False)',
    "torch-scatter-reduce":
      'y = data.scatter_reduce(0, indices, updates, "sum", include_self=False)',
  });
  const inputs = [tensor("float32", [1, 2], [1, 2]), tensor("int64", [1, 1], [0])];
  const gather = { op: "GatherElements", opset: 13, attributes: { axis: -1 } };
  assert.equal(codeOf("torch-scatter", gather, inputs), "y = data.gather(1, indices)");
  const wrong = { op: "ScatterND", opset: 18, attributes: { reduction: "median" } };
  assert.equal(codeOf("onnx", wrong, [...inputs, inputs[0]]), null);
});

/** What `compareDialects` says of one dialect. */
function inDialect(
  dialect: string,
  op: string,
  reduction: string,
  inputs: readonly Tensor[],
): DialectComparison {
  const attributes = reduction === "none" ? {} : { reduction };
  const all = compareDialects({ op, opset: op.startsWith("G") ? 13 : 18, attributes }, inputs);
  const found = all.find((one) => one.dialect === dialect);
  assert.ok(found, dialect);
  return found;
}

const f32 = (...values: number[]): Tensor => tensor("float32", [values.length], values);
const tuples = (...rows: number[]): Tensor => tensor("int64", [rows.length, 1], rows);

interface Expected {
  readonly output?: readonly unknown[];
  readonly why?: DialectComparison["why"];
  readonly ids?: readonly string[];
  readonly differing?: readonly number[];
  readonly undecided?: readonly number[];
  readonly agrees?: boolean;
}

/** Rows by the documents and sources that docs/other-systems.md names, worked out by hand. */
const BY_HAND: readonly (readonly [
  dialect: string,
  op: string,
  reduction: string,
  inputs: readonly Tensor[],
  expected: Expected,
])[] = [
  // A GPU leaves out what is out of range; negative indices are.
  [
    "tensorflow-gpu",
    "ScatterND",
    "none",
    [f32(1, 2, 3), tuples(-1, 0), f32(8, 9)],
    { output: [9, 2, 3], ids: ["negative-dropped"], differing: [2], agrees: false },
  ],
  [
    "tensorflow-gpu",
    "GatherND",
    "none",
    [f32(1, 2, 3), tuples(2, 5)],
    { output: [3, 0], ids: ["out-of-range-filled"], differing: [], agrees: false },
  ],
  [
    "tensorflow-gpu",
    "ScatterND",
    "none",
    [f32(1, 2), tuples(0, 0, 1), f32(7, 8, 9)],
    { why: "order", undecided: [0], ids: ["any-order"], agrees: false },
  ],
  // Equal updates decide a cell.
  [
    "tensorflow-gpu",
    "ScatterND",
    "none",
    [f32(1, 2), tuples(0, 0, 1), f32(8, 8, 9)],
    { output: [8, 9], why: null, undecided: [], agrees: true },
  ],
  // Whole numbers have one sum, fractions may not.
  ["tensorflow-gpu", "ScatterND", "add", [f32(1, 2), tuples(0, 0), f32(7, 8)], { agrees: true }],
  [
    "tensorflow-gpu",
    "ScatterND",
    "add",
    [f32(1, 2), tuples(0, 0), f32(0.1, 0.2)],
    { why: "order", undecided: [0], ids: ["rounding"] },
  ],
  [
    "tensorflow-gpu",
    "ScatterND",
    "add",
    [f32(2 ** 24, 2), tuples(0, 0), f32(1, 1)],
    { why: "order", undecided: [0] },
  ],
  // An order that is known decides every cell.
  ["numpy", "ScatterND", "add", [f32(1, 2), tuples(0, 0), f32(0.1, 0.2)], { agrees: true }],
  [
    "tfjs-cpu",
    "ScatterND",
    "add",
    [f32(1, 2), tuples(0, 0), f32(0.1, 0.2)],
    { why: null, undecided: [] },
  ],
  ["jax", "ScatterND", "max", [f32(1, 2), tuples(0, 0), f32(0.1, 0.2)], { agrees: true }],
  // One update is rounded once.
  ["tensorflow-gpu", "ScatterND", "add", [f32(0.1, 2), tuples(0), f32(0.2)], { agrees: true }],
  ["tensorflow-gpu", "ScatterND", "mul", [f32(1), tuples(0), f32(1)], { why: "missing" }],
  [
    "tensorflow-gpu",
    "ScatterND",
    "max",
    [f32(1, 2), tuples(0, 1), f32(NaN, 5)],
    { why: "order", undecided: [0], ids: ["nan-one-operand"] },
  ],
  [
    "tensorflow-gpu",
    "ScatterND",
    "max",
    [f32(0, 2), tuples(0, 1), f32(-0, 5)],
    { why: "order", undecided: [0], differing: [] },
  ],
  // Nearest places; negative ones count from the end.
  [
    "webnn",
    "ScatterND",
    "none",
    [f32(1, 2, 3), tuples(7, -9), f32(8, 9)],
    { output: [9, 2, 8], ids: ["out-of-range-clipped"], agrees: false },
  ],
  [
    "webnn",
    "ScatterND",
    "none",
    [f32(1, 2, 3), tuples(-1), f32(8)],
    { output: [1, 2, 8], agrees: true },
  ],
  ["webnn", "ScatterND", "add", [f32(1), tuples(0), f32(1)], { why: "missing" }],
  ["mlx", "GatherND", "none", [f32(1, 2), tuples(2)], { why: "undefined", agrees: false }],
  ["mlx", "GatherND", "none", [f32(1, 2), tuples(-2)], { output: [1], agrees: true }],
  ["onnxruntime-webgpu", "ScatterND", "none", [f32(1), tuples(-1), f32(2)], { why: "undefined" }],
  ["onnxruntime-webgpu", "ScatterND", "none", [f32(1), tuples(0), f32(2)], { agrees: true }],
  ["onnx", "ScatterND", "none", [f32(1, 2), tuples(2), f32(3)], { why: "error", agrees: true }],
  ["onnx", "ScatterND", "none", [f32(1, 2), tuples(1, 1), f32(3, 4)], { undecided: [1] }],
  ["openvino", "GatherND", "none", [f32(1, 2), tuples(2)], { why: "undefined" }],
  // The sum of all updates is added to all of data: no -0 is left, in cells without an update either.
  [
    "tfjs-cpu",
    "ScatterND",
    "add",
    [f32(-0, -0, 3), tuples(0), f32(-0)],
    { output: [0, 0, 3], ids: ["signed-zero"], differing: [0, 1] },
  ],
  // Beyond the tensor the WebAssembly backend reads and writes other memory.
  ["tfjs-wasm", "ScatterND", "none", [f32(1), tuples(9), f32(2)], { why: "undefined" }],
  ["tfjs-cpu", "ScatterND", "none", [f32(1), tuples(9), f32(2)], { why: "error", agrees: true }],
  [
    "tfjs-cpu",
    "ScatterND",
    "none",
    [tensor("float64", [1], [1]), tuples(0), tensor("float64", [1], [2])],
    { why: "missing" },
  ],
  [
    "onnxruntime-cpu",
    "ScatterND",
    "add",
    [tensor("float16", [1], [1]), tuples(0), tensor("float16", [1], [2])],
    { why: "missing" },
  ],
  // OpenVINO keeps the low 32 bits, and extends their sign.
  [
    "openvino",
    "ScatterND",
    "none",
    [tensor("uint64", [2], [2n ** 31n, 5n]), tuples(1), tensor("uint64", [1], [2n ** 40n + 7n])],
    { output: [18446744071562067968n, 7n], ids: ["other-type"], differing: [0, 1] },
  ],
  [
    "openvino",
    "GatherND",
    "none",
    [tensor("float64", [3], [Infinity, -1e300, NaN]), tuples(0, 1, 2)],
    { output: [(2 - 2 ** -23) * 2 ** 127, -(2 - 2 ** -23) * 2 ** 127, NaN], differing: [0, 1] },
  ],
  [
    "openvino",
    "ScatterND",
    "add",
    [
      tensor("bfloat16", [3], [256, -258, NaN]),
      tuples(0, 1, 2),
      tensor("bfloat16", [3], [1.5, -1, 1]),
    ],
    { output: [256, -260, NaN], ids: ["wrong-rounding"], differing: [0] },
  ],
  [
    "openvino",
    "GatherElements",
    "none",
    [tensor("string", [2], ["a", "b"]), tensor("int64", [1], [1])],
    { why: "missing" },
  ],
  [
    "onnxruntime-cpu",
    "ScatterElements",
    "max",
    [tensor("float16", [1], [1]), tensor("int64", [1], [0]), tensor("float16", [1], [2])],
    { output: [2], agrees: true },
  ],
  [
    "onnxruntime-cpu",
    "ScatterND",
    "max",
    [tensor("bool", [1], [true]), tuples(0), tensor("bool", [1], [false])],
    { why: "missing" },
  ],
  [
    "jax",
    "ScatterND",
    "mul",
    [tensor("bool", [1], [true]), tuples(0), tensor("bool", [1], [false])],
    { why: "missing" },
  ],
  [
    "tensorflow-cpu",
    "ScatterND",
    "add",
    [tensor("bool", [1], [true]), tuples(0), tensor("bool", [1], [false])],
    { why: "missing" },
  ],
  [
    "tensorflow-cpu",
    "ScatterND",
    "max",
    [tensor("complex64", [1], [1, 0]), tuples(0), tensor("complex64", [1], [2, 0])],
    { why: "missing" },
  ],
  [
    "torch-index-put",
    "ScatterND",
    "none",
    [tensor("uint16", [1], [1]), tuples(0), tensor("uint16", [1], [2])],
    { why: "missing" },
  ],
  [
    "torch-index-put",
    "GatherND",
    "none",
    [tensor("uint16", [1], [1]), tuples(0)],
    { output: [1], agrees: true },
  ],
  [
    "tfjs-cpu",
    "ScatterND",
    "add",
    [tensor("bool", [1], [true]), tuples(0), tensor("bool", [1], [false])],
    { why: "missing" },
  ],
  // A product beyond float32 becomes the greatest float32 when it is converted back.
  [
    "openvino",
    "ScatterND",
    "mul",
    [tensor("float64", [1], [1e30]), tuples(0), tensor("float64", [1], [-1e30])],
    { output: [-(2 - 2 ** -23) * 2 ** 127], ids: ["other-type"], differing: [0] },
  ],
  [
    "openvino",
    "GatherElements",
    "none",
    [tensor("float32", [1, 2], [1, 2]), tensor("int64", [1, 1], [0])],
    { why: "error" },
  ],
  [
    "openvino",
    "GatherND",
    "none",
    [tensor("complex64", [1], [1, 0]), tuples(0)],
    { why: "missing" },
  ],
  [
    "jax",
    "ScatterND",
    "none",
    [tensor("string", [1], ["a"]), tuples(0), tensor("string", [1], ["b"])],
    { why: "missing" },
  ],
];

for (const [dialect, op, reduction, inputs, expected] of BY_HAND) {
  const [data, indices, updates] = inputs;
  const given = [data, indices, ...(updates === undefined ? [] : [updates])].map(flat).join("; ");
  test(`${dialect}, ${op} ${reduction} of ${given}`, () => {
    const found = inDialect(dialect, op, reduction, inputs);
    const shown = Object.fromEntries(
      Object.keys(expected).map((name) => {
        const value: unknown = Reflect.get(found, name);
        return [name, name === "output" && found.output !== null ? flat(found.output) : value];
      }),
    );
    assert.deepEqual(shown, expected);
  });
}

/** NaN beside 1, zeros of both signs, and numbers: what a comparison of its own makes of them. */
const NAN = [f32(1, NaN, 0, -0, 2), f32(NaN, 1, -0, 0, 3)] as const;
const maxOf = (op: string, opset: number) => ({
  ...{ domain: "openvino", op, opset },
  attributes: { reduction: "max" },
});

for (const [node, inputs, rows] of [
  [
    maxOf("ScatterNDUpdate", 15),
    [NAN[0], tuples(0, 1, 2, 3, 4), NAN[1]],
    { openvino: [], "tensorflow-cpu": [], jax: [0, 3], numpy: [0, 2, 3] },
  ],
  [
    maxOf("ScatterElementsUpdate", 12),
    [NAN[0], tensor("int64", [5], [0, 1, 2, 3, 4]), NAN[1], tensor("int64", [], 0)],
    {
      openvino: [0, 1, 2, 3],
      "onnxruntime-cpu": [],
      jax: [1, 2],
      "torch-scatter-reduce": [1, 2, 3],
    },
  ],
] as const) {
  test(`dialects beside the comparison of ${node.op}`, () => {
    const all = compareDialects(node, inputs);
    for (const [dialect, differing] of Object.entries(rows)) {
      const found = all.find((one) => one.dialect === dialect);
      assert.deepEqual(found?.differing, differing, dialect);
      assert.deepEqual(found?.ids, differing.length === 0 ? [] : ["nan-one-operand"], dialect);
    }
  });
}

test("the plugin's comparison is found in the output of ScatterElementsUpdate", () => {
  const inputs = [NAN[0], tensor("int64", [5], [0, 1, 2, 3, 4]), NAN[1], tensor("int64", [], 0)];
  const node = maxOf("ScatterElementsUpdate", 12);
  // OpenVINO's CPU plugin 2026.4.1 keeps the old value, and other runtimes follow IEEE 754.
  for (const actual of [f32(1, NaN, 0, -0, 3), f32(NaN, NaN, 0, 0, 3)]) {
    const [{ id }] = diagnose(node, inputs, actual);
    assert.equal(id, "nan-one-operand");
  }
});

test("many updates of one target race in ScatterND of ONNX Runtime, and few do not", () => {
  const call = (count: number): readonly Tensor[] => [
    f32(0, 0),
    tensor("int64", [count, 1], new BigInt64Array(count)),
    tensor("float32", [count], new Float32Array(count).fill(1)),
  ];
  assert.equal(inDialect("onnxruntime-cpu", "ScatterND", "add", call(10_000)).agrees, true);
  const many = inDialect("onnxruntime-cpu", "ScatterND", "add", call(10_001));
  assert.deepEqual(many.undecided, [0]);
  assert.deepEqual(many.ids, ["lost-updates"]);
  const elements = call(10_001).map((one) => tensor(one.dtype, [one.size], one.data));
  assert.equal(inDialect("onnxruntime-cpu", "ScatterElements", "add", elements).agrees, true);
  const [data, zeros] = elements;
  const counted = tensor(
    "float32",
    [10_001],
    Float32Array.from({ length: 10_001 }, (_, p) => p),
  );
  const last = inDialect("onnxruntime-cpu", "ScatterElements", "none", [data, zeros, counted]);
  assert.deepEqual(last.output?.toArray(), [10_000, 0]);
  assert.equal(last.agrees, true);
});

test("only ONNX and ONNX Runtime have TensorScatter", () => {
  const inputs = [
    tensor("float32", [1, 3, 1], [1, 2, 3]),
    tensor("float32", [1, 1, 1], [9]),
    tensor("int64", [1], [1]),
  ];
  const all = compareDialects({ op: "TensorScatter", opset: 24 }, inputs);
  assert.deepEqual(
    all.filter(({ why }) => why !== "missing").map(({ dialect, agrees }) => [dialect, agrees]),
    [
      ["onnx", true],
      ["onnxruntime-cpu", true],
    ],
  );
  // ONNX Runtime refuses a negative position, which the specification counts by the remainder.
  const circular = { op: "TensorScatter", opset: 24, attributes: { axis: 1, mode: "circular" } };
  const negative = [inputs[0], inputs[1], tensor("int64", [1], [-1])];
  assert.deepEqual(
    compareDialects(circular, negative)
      .filter(({ why }) => why !== "missing")
      .map(({ dialect, agrees, why }) => [dialect, agrees, why]),
    [
      ["onnx", true, null],
      ["onnxruntime-cpu", false, "error"],
    ],
  );
  const outside = [inputs[0], inputs[1], tensor("int64", [1], [3])];
  const [first] = compareDialects({ op: "TensorScatter", opset: 24 }, outside);
  assert.deepEqual([first.dialect, first.why, first.agrees], ["onnx", "error", true]);
});

test("docs/other-systems.md says how many calls were run, and how many results there are", () => {
  const text = fs.readFileSync(path.join(folder, "../../../docs/other-systems.md"), "utf8");
  assert.ok(text.includes(`on ${CALLS.size} small calls`));
  assert.ok(text.includes(`the ${RECORDED.length} results`));
});

test("the table is a new list for each call, and every id in it is a diagnosis", () => {
  const [first] = dialects();
  Reflect.set(first, "facts", []);
  assert.ok(dialects()[0].facts.length > 0);
  for (const { facts, source, version } of dialects()) {
    assert.match(source, /^https:\/\/[^ $]+$/);
    assert.match(version, /^\d/);
    for (const { id } of facts) assert.ok(id === null || DIAGNOSES.includes(id));
  }
});

test("a diagnosis names the dialects that are known to do it, and none for what none does", () => {
  const [first] = diagnose(
    { op: "ScatterND", opset: 18 },
    [f32(0, 0, 0), tuples(0, 0, 1), f32(1, 2, 3)],
    f32(1, 3, 0),
  );
  assert.deepEqual([first.id, first.dialects], ["first-wins", []]);
  const [dropped] = diagnose(
    { op: "ScatterND", opset: 18 },
    [f32(0, 0, 0), tuples(7, 0, 1), f32(1, 2, 3)],
    f32(2, 3, 0),
  );
  assert.deepEqual(
    [dropped?.id, dropped?.dialects],
    ["out-of-range-dropped", ["tensorflow-gpu", "jax"]],
  );
});
