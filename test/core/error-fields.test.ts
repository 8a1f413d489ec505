/** The fields of errors: for every code, calls that raise it, with all fields; and only fields of the table ever. */

import assert from "node:assert/strict";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import {
  COMMON_FIELDS,
  FIELDS_OF_CODES,
  type CodeFields,
  type ErrorCode,
  type ErrorFields,
} from "../../src/core/error-fields.ts";
import { ERROR_CODES, isTensorError, type TensorError } from "../../src/core/errors.ts";
import { runPlain } from "../../src/core/call/run.ts";
import { defaultExecutor } from "../../src/core/engines/choice.ts";
import {
  createEngine,
  equals,
  explain,
  firstDifference,
  full,
  gather,
  gatherElements,
  gatherND,
  infer,
  run,
  scatterND,
  tensor,
  tensorScatter,
  toRuntime,
  zeros,
  type Tensor,
} from "../../src/entries/index.ts";
import { printScalar, resolve } from "../../src/entries/operators.ts";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { createExactSession, nodeCall, runModel, writeModel } from "../../src/entries/onnx.ts";
import { createGpuEngine } from "../../src/entries/webgpu.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { F32, onnxModel } from "../support/node-models.ts";
import { latin1, npyDictionary, npyFile } from "../support/npy-file.ts";
import { randomFrom, type Random } from "../support/random.ts";
import {
  arbitraryShape,
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  scatterElementsCase,
  scatterNDCase,
  tensorScatterCase,
  type Case,
} from "../support/random-calls.ts";

type Row = readonly [code: ErrorCode, fields: ErrorFields, call: () => unknown];

const ZFP = latin1(
  JSON.stringify({
    ...{ zarr_format: 3, node_type: "array", shape: [4], data_type: "int32", fill_value: 0 },
    ...{ chunk_grid: { name: "regular", configuration: { chunk_shape: [2] } } },
    ...{ chunk_key_encoding: { name: "default" }, codecs: ["zfp"] },
  }),
);

const f32 = (...shape: number[]): Tensor => zeros("float32", shape);
const i64 = (shape: number[], ...values: number[]): Tensor =>
  tensor("int64", shape, values.map(BigInt));
const nd = { op: "ScatterND", opset: 18 } as const;
const table = f32(4, 2);
const rows = i64([2, 1], 3, 0);
const gone = zeros("float32", [2]);
gone.dispose();
const there = path.join(os.tmpdir(), "ndscatter-no-such-array.zarr");

/** A Gather of three values, whose index is an input. */
const model = onnxModel(18, {
  inputs: { x: F32(3), i: { dtype: "int64", shape: [2] } },
  nodes: [
    { op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["a"] },
    { op: "Identity", name: "same", inputs: ["a"], outputs: ["y"] },
  ],
  outputs: { y: null },
});

/** Deno has WebGPU, if a driver is installed. */
const WITHOUT_GPU = Reflect.get(Reflect.get(globalThis, "navigator") ?? {}, "gpu") === undefined;

// prettier-ignore
const ROWS: readonly Row[] = [
  ["shape-mismatch", { ...nd, input: "updates", got: [2, 2], expected: [2, 1] },
    () => run(nd, [f32(4), rows, f32(2, 2)].with(0, f32(4, 1)))],
  ["shape-mismatch", { ...nd, key: "inputs", got: 2, expected: [3, 3] }, () => run(nd, [table, rows] as never)],
  ["shape-mismatch", { ...nd, input: "out", got: [4, 3], expected: [4, 2] },
    () => run(nd, [table, rows, f32(2, 2)], { out: f32(4, 3) })],
  ["shape-mismatch", { op: "GatherElements", input: "indices", axis: 1, got: 3, limit: 2, other: "data" },
    () => gatherElements(table, zeros("int64", [1, 3]), { axis: 0 })],
  ["shape-mismatch", { op: "GatherND", input: "indices", other: "data", got: [3], expected: [4] },
    () => gatherND(table, zeros("int64", [3, 1]), { batchDims: 1 })],
  ["shape-mismatch", { key: "values", got: 3, expected: [2] }, () => tensor("int8", [2], [1, 2, 3] as never)],
  ["shape-mismatch", { key: "values", axis: 1, got: 1, size: 2, expected: [2, 2] },
    () => tensor("int8", [2, 2], [[1, 2], [3]] as never)],
  ["shape-mismatch", { key: "shape", axis: 1, got: -1 }, () => zeros("int8", [2, -1])],
  ["shape-mismatch", { input: "z", allowed: ["x", "i"] }, () => runModel(model, { z: f32(3) })],
  ["shape-mismatch", { input: "i", allowed: ["x", "i"] }, () => runModel(model, { x: f32(3) })],
  ["shape-mismatch", { input: "x", axis: 0, got: 4, expected: 3 },
    () => runModel(model, { x: f32(4), i: i64([2], 0, 0) })],

  ["rank", { op: "GatherND", input: "indices", got: 3, expected: [1, 2] },
    () => gatherND(table, zeros("int64", [1, 3]))],
  ["rank", { op: "GatherND", opset: 13, key: "batch_dims", got: 2, expected: [0, 1] },
    () => run({ op: "GatherND", opset: 13, attributes: { batch_dims: 2 } }, [table, rows])],
  ["rank", { op: "ScatterElements", opset: 18, input: "indices", got: 1, expected: 2, other: "data" },
    () => run({ op: "ScatterElements", opset: 18 }, [table, i64([1], 0), f32(1, 1)])],
  ["rank", { key: "shape", got: 65, limit: 64 }, () => zeros("int8", Array(65).fill(1))],
  ["rank", { input: "x", got: 2, expected: 1 }, () => runModel(model, { x: table, i: i64([2], 0, 0) })],

  ["axis", { op: "Gather", opset: 13, axis: 2, got: 2, expected: [-2, 1] },
    () => run({ op: "Gather", opset: 13, attributes: { axis: 2 } }, [table, rows])],
  ["axis", { op: "TensorScatter", axis: 0, got: 0, expected: [1, 2] },
    () => tensorScatter(f32(1, 2, 3), f32(1, 2, 3), [0], { axis: -0 } as never)],
  ["axis", { op: "TensorScatter", axis: 0, got: 0, expected: [1, 2] },
    () => tensorScatter(f32(1, 2, 3), f32(1, 2, 3), [0], { axis: 0 } as never)],

  ["index-out-of-range", { ...nd, input: "indices", at: [1, 0], axis: 0, got: 4, size: 4, expected: [-4, 3] },
    () => run(nd, [table, i64([2, 1], 3, 4), f32(2, 2)])],
  ["index-out-of-range", { op: "Gather", input: "indices", at: [0], axis: 1, got: -1, size: 2, expected: [0, 1] },
    () => gather(table, [-1], { axis: 1, negative: "error" })],
  ["index-out-of-range", { op: "GatherND", input: "indices", at: [0, 1], axis: 1, got: 2n ** 62n, size: 2, expected: [-2, 1] },
    () => gatherND(table, tensor("int64", [1, 2], [0n, 2n ** 62n]))],
  ["index-out-of-range", { ...nd, input: "output", at: [1, 2], axis: 1, got: 2, size: 2, expected: [0, 1] },
    () => explain(nd, [table, rows, f32(2, 2)]).story?.cell([1, 2])],

  ["duplicate-index", { op: "ScatterND", input: "indices", at: [2], earlier: [0], target: [3] },
    () => scatterND(table, i64([3, 1], 3, 0, -1), f32(3, 2), { duplicates: "error" })],
  ["duplicate-index", { op: "ScatterND", input: "indices", at: [0, 1], earlier: [0, 0], target: [1, 0] },
    () => scatterND(table, i64([1, 2, 2], 1, 0, -3, -2), f32(1, 2), { duplicates: "error" })],

  ["dtype", { ...nd, input: "updates", got: "float64", expected: "float32", other: "data" },
    () => run(nd, [table, rows, zeros("float64", [2, 2])])],
  ["dtype", { ...nd, input: "indices", got: "int32", allowed: ["int64"] },
    () => run(nd, [table, zeros("int32", [2, 1]), f32(2, 2)])],
  ["dtype", { key: "values", at: [1, 0], got: 256, expected: "uint8" }, () => tensor("uint8", [2, 1], [0, 256])],
  ["dtype", { input: "b", other: "a", got: "int8", expected: "float32" }, () => firstDifference(f32(1), zeros("int8", [1]))],
  ["dtype", { ...nd, input: "data", got: "a list" }, () => run(nd, [[1] as never, rows, f32(2, 2)])],
  ["dtype", { op: "Gather", opset: 13, input: "data", got: null }, () => infer({ op: "Gather", opset: 13 }, [null as never, f32(1)])],
  ["dtype", { key: "value", got: "an object" }, () => printScalar("float32", {} as never)],
  ["dtype", { input: "tensor", got: "int4" }, () => writeNpy(zeros("int4", [1]))],
  ["dtype", { input: "x", got: "int8", expected: "float32" },
    () => runModel(model, { x: zeros("int8", [3]), i: i64([2], 0, 0) })],

  ["attribute", { key: "threads", got: 0, expected: [1, 64] }, () => createEngine({ threads: 0 })],
  ["attribute", { key: "kind", got: "gpu", allowed: ["auto", "js", "wasm"] }, () => createEngine({ kind: "gpu" as never })],
  ["attribute", { op: "Gather", opset: 13, key: "axes", allowed: ["axis"], nearest: "axis" },
    () => run({ op: "Gather", opset: 13, attributes: { axes: 0 } }, [table, rows])],
  ["attribute", { op: "Gather", key: "bounds", got: "drop", allowed: ["error", "clip", "fill"] },
    () => gather(table, [0], { bounds: "drop" as never })],
  ["attribute", { op: "Gather", key: "axis", got: 0.5 }, () => gather(table, [0], { axis: 0.5 })],
  ["attribute", { key: "options", got: "a list" }, () => createEngine([] as never)],

  ["reduction", { ...nd, got: "sum", allowed: ["none", "add", "mul", "max", "min"], nearest: "add" },
    () => run({ ...nd, attributes: { reduction: "sum" } }, [table, rows, f32(2, 2)])],
  ["reduction", { ...nd, got: "mul", allowed: ["none", "add", "max", "min"] },
    () => run({ ...nd, attributes: { reduction: "mul" } }, [full("string", [4], ""), rows, full("string", [2], "")])],

  ["overlap", { op: "Gather", input: "out", other: "data" }, () => gather(table, [0, 1, 2, 3], { out: table })],
  ["overlap", { ...nd, input: "out", other: "updates" },
    () => { const updates = f32(4, 2); run(nd, [table, i64([4, 1], 0, 1, 2, 3), updates], { out: updates }); }],

  ["disposed", { op: "Gather", input: "data" }, () => gather(gone, [0])],
  ["disposed", { input: "b" }, () => equals(f32(2), gone)],
  ["disposed", { key: "tensor" }, () => gone.toArray()],
  ["disposed", { key: "tensor" }, () => toRuntime(gone as never)],

  ["unknown-operator", { op: "ScaterND", key: "op", got: "ScaterND", nearest: "ScatterND" },
    () => resolve({ op: "ScaterND", opset: 18 })],
  ["unknown-operator", { key: "domain", got: "com.example", allowed: ["ai.onnx", "openvino"] },
    () => resolve({ op: "ScatterND", opset: 18, domain: "com.example" })],
  ["unknown-operator", { op: "ScatterND", key: "opset", got: 0 }, () => resolve({ op: "ScatterND", opset: 0 })],
  ["unknown-operator", { op: "ScatterND", key: "opset", got: 10, expected: 11 },
    () => resolve({ op: "ScatterND", opset: 10 })],
  ["unknown-operator", { key: "node" }, () => run(new Proxy({}, { get: () => { throw new Error("no"); } }) as never, [])],

  ["unsupported-model", { key: "node", got: "takes", nearest: "take" }, () => nodeCall(model, "takes", {})],
  ["unsupported-model", { node: 'node "same"' }, () => nodeCall(model, "same", { a: f32(2) })],

  ["unsupported-codec", { key: "codecs", got: "zfp", file: "store://" }, () => openArray(new Map([["zarr.json", ZFP]]))],
  ["unsupported-dtype", { key: "descr", got: "|V8" }, () => readNpy(npyFile(npyDictionary("|V8", "()")))],
  ["unsupported-file", { byte: 0, got: "a ZIP archive" }, () => readNpy(Uint8Array.from("PK\x03\x04", (one) => one.charCodeAt(0)))],
  ["malformed-file", { got: 4, expected: 6 }, () => readNpy(Uint8Array.of(0x93, 0x4e, 0x55, 0x4d))],
  ["malformed-file", { byte: 1, got: 0x6e, expected: 0x4e }, () => readNpy(Uint8Array.from("\x93numpy", (one) => one.charCodeAt(0)))],
  ["malformed-file", { key: "size", got: 3, expected: 8 }, () => readNpy(npyFile(npyDictionary("<f4", "(2,)"), [0, 0, 0]))],
  ["malformed-file", { at: [1, 0], got: 2 }, () => readNpy(npyFile(npyDictionary("|b1", "(2, 1)"), [1, 2]))],
  ["malformed-file", { key: "bytes", got: "a.npy" }, () => readNpy("a.npy" as never)],
  ["malformed-file", { file: there, expected: "array" }, () => openArray(there)],

  ["too-large", { key: "shape", got: 2 ** 32, limit: 2 ** 32 - 1 }, () => zeros("float32", [2 ** 16, 2 ** 16])],
  ["too-large", { key: "shape", limit: 100_000 }, () => zeros("int8", [4e9, 0]).toArray()],

  ["runtime", { got: "no memory" },
    () => createExactSession(writeModel(model), { createSession: () => Promise.reject(new Error("no memory")) })],

  ["engine", { op: "Gather", opset: 13, key: "engine", got: 5 },
    () => run({ op: "Gather", opset: 13 }, [table, rows], { engine: 5 as never })],
  ...(WITHOUT_GPU ? [["engine", {}, () => createGpuEngine()] as const] : []),
];

/** The fields of an error that are not those of every `Error`. */
function fieldsOf(error: TensorError): ErrorFields {
  const { name: _, code: _code, ...fields } = error;
  return fields;
}

async function errorOf(call: () => unknown): Promise<TensorError> {
  try {
    await call();
  } catch (error) {
    assert.ok(isTensorError(error), String(error));
    return error;
  }
  return assert.fail("nothing was thrown");
}

/** Checks that an error has the fields that its code always has, and no others than the code may have. */
function checkTable(error: TensorError): void {
  const row: CodeFields = FIELDS_OF_CODES[error.code];
  const { always, either = [], sometimes } = row;
  const names = Object.keys(fieldsOf(error)) as (keyof ErrorFields)[];
  const allowed = new Set([...COMMON_FIELDS, ...always, ...either, ...sometimes]);
  const context = `${error.code} {${names}}: ${error.message}`;
  for (const name of names) assert.ok(allowed.has(name), `${name} is not a field of ${context}`);
  for (const name of always) assert.ok(names.includes(name), `${name} is missing in ${context}`);
  if (either.length > 0)
    assert.ok(
      either.some((name) => names.includes(name)),
      context,
    );
}

for (const [position, [code, fields, call]] of ROWS.entries()) {
  test(`row ${position}: ${code} with ${Object.keys(fields).join(", ") || "no field"}`, async () => {
    const error = await errorOf(call);
    assert.deepEqual([error.code, fieldsOf(error)], [code, fields], error.message);
    checkTable(error);
  });
}

test("every code has a row, and a field is in one list of its code", () => {
  assert.deepEqual(new Set(ROWS.map(([code]) => code)), new Set(Object.keys(ERROR_CODES)));
  assert.deepEqual(Object.keys(FIELDS_OF_CODES), Object.keys(ERROR_CODES));
  for (const [code, row] of Object.entries(FIELDS_OF_CODES)) {
    const lists = [COMMON_FIELDS, row.always, "either" in row ? row.either : [], row.sometimes];
    const names = lists.flat();
    assert.equal(new Set(names).size, names.length, code);
  }
});

test("the code tells the compiler which fields are there", async () => {
  const error = await errorOf(() => gather(table, [7]));
  assert.ok(isTensorError(error, "index-out-of-range"));
  const {
    axis,
    size,
    expected,
  }: { axis: number; size: number; expected: readonly [number, number] } = error;
  assert.deepEqual([axis, size, expected], [0, 4, [-4, 3]]);
});

const CASES: readonly ((shapes: Parameters<typeof gatherNDCase>[2], random: Random) => Case)[] = [
  (shapes) => scatterNDCase("float32", "add", "int64", shapes),
  (shapes) => scatterElementsCase("int8", "none", "int32", shapes),
  (shapes) => gatherNDCase("bool", "int64", shapes),
  (shapes) => gatherElementsCase("string", "int32", shapes),
  (shapes) => gatherCase("float64", "int64", shapes),
  (shapes) => tensorScatterCase("float32", shapes),
];

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)];

/** The input with a fault. */
function spoilt(input: Tensor, random: Random): unknown {
  const { dtype, shape } = input;
  const dim = random(shape.length + 1);
  const index = tensor("int64", [1], [BigInt(random(200) - 100)]);
  const longer = shape.map((size, d) => (d === dim ? size + 1 : size));
  const dtypes = ["float16", "int64", "int32", "uint8", "string", "complex64"] as const;
  return pick<() => unknown>(
    [
      () => zeros(pick(dtypes, random), shape),
      () => zeros(dtype, [...shape, 1]),
      () => zeros(dtype, longer),
      () => gone,
      () => undefined,
      () => "text",
      () => [[1], [2, 3]],
      () => ({ dtype, shape: [-1], data: [] }),
      () => ({ dtype: "float31", shape, data: [] }),
      () => (dtype === "int64" ? gather(index, zeros("int64", shape)) : index),
    ],
    random,
  )();
}

/** Options of a call, one of which is wrong. */
const WRONG: readonly Record<string, unknown>[] = [
  { axis: 99 },
  { axis: "1" },
  { batchDims: 9 },
  { reduction: "sum" },
  { reduction: 5 },
  { bounds: "wrap" },
  { negative: "error" },
  { duplicates: "error" },
  { includeSelf: 1 },
  { out: gone },
  { out: [] },
  { out: zeros("float32", [1, 1, 1]) },
  { outt: null },
];

test("a call that is refused has fields of its code only, whatever is wrong", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(arbitraryShape, fc.nat(), (shapes, seed) => {
      const random = randomFrom(seed);
      const { operator, inputs, attributes } = pick(CASES, random)(shapes, random);
      const wrong = random(3) === 0 ? pick(WRONG, random) : {};
      const at = random(inputs.length + 1);
      const given = inputs.map((input, position) =>
        position === at ? spoilt(input, random) : input,
      );
      try {
        runPlain(defaultExecutor(), operator, given as never, { ...attributes, ...wrong });
      } catch (error) {
        assert.ok(isTensorError(error), String(error));
        checkTable(error);
        seen.add(error.code);
      }
    }),
    { numRuns: 1500 },
  );
  for (const code of [
    "shape-mismatch",
    "rank",
    "index-out-of-range",
    "dtype",
    "attribute",
    "disposed",
  ]) {
    assert.ok(seen.has(code), `${code} was never raised: ${[...seen]}`);
  }
});
