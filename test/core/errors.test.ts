/** Errors of operators, attributes, options, inputs and data types; the class of errors. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ERROR_CODES,
  isTensorError,
  messageOf,
  TensorError,
  type ErrorCode,
} from "../../src/core/errors.ts";
import { nearestName, printValue } from "../../src/core/foreign.ts";
import { receiveError, sendError } from "../../src/arrays/chunked/run/sent-error.ts";
import { scatterND, run } from "../../src/core/functions.ts";
import { resolve } from "../../src/core/operators/registry.ts";
import { infer } from "../../src/core/call/check.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import {
  cache,
  elements,
  f32,
  gather,
  i32,
  i64,
  nd,
  ok,
  openvino,
  testErrors,
  type ErrorRow,
  update,
  withAxis,
  withMemoryGone,
} from "../support/error-rows.ts";
import { assertRefused } from "../support/refusal.ts";

// prettier-ignore
const ROWS: readonly ErrorRow[] = [
  // Operators, domains, versions.
  { name: "an operator there is not", node: { op: "Conv", opset: 18 }, inputs: ok, code: "unknown-operator" },
  { name: "a near miss", node: { op: "ScatterNd", opset: 18 }, inputs: ok, code: "unknown-operator" },
  { name: "an operator of the other domain", node: { op: "ScatterNDUpdate", opset: 15 }, inputs: ok,
    code: "unknown-operator" },
  { name: "a near miss of an operator that both domains have", node: { domain: "openvino", op: "GatherNd", opset: 8 },
    inputs: ok, code: "unknown-operator" },
  { name: "a domain there is not", node: { domain: "com.microsoft", op: "ScatterND", opset: 18 }, inputs: ok,
    code: "unknown-operator", fields: { op: undefined } },
  { name: "an opset before the first version", node: nd(10), inputs: ok, code: "unknown-operator",
    fields: { op: "ScatterND", got: 10 } },
  { name: "an opset that is no integer", node: nd(1.5), inputs: ok, code: "unknown-operator" },
  { name: "openvino before opset 3", node: update(2), inputs: ok, code: "unknown-operator", fields: { got: 2 } },
  // Attributes and reductions.
  { name: "an attribute that came later", node: nd(13, { reduction: "add" }), inputs: ok, code: "attribute",
    fields: { op: "ScatterND", opset: 13 } },
  { name: "even with its default", node: nd(11, { reduction: "none" }), inputs: ok, code: "attribute" },
  { name: "an attribute that never was", node: elements(18, { axes: 1 }), inputs: ok, code: "attribute" },
  { name: "an attribute like no other", node: elements(18, { ends: 1 }), inputs: ok, code: "attribute" },
  { name: "batch_dims before 12", node: gather(11, { batch_dims: 0 }), inputs: () => [f32(2), i64([1, 1], 0)],
    code: "attribute" },
  { name: "batch_dims below zero", node: gather(13, { batch_dims: -1 }), inputs: () => [f32(2), i64([1, 1], 0)],
    code: "attribute", fields: { got: -1 } },
  { name: "an axis that is no integer", node: elements(18, { axis: 0.5 }), inputs: ok, code: "attribute" },
  { name: "an axis as text", node: elements(18, { axis: "0" }), inputs: ok, code: "attribute" },
  { name: "a reduction as number", node: nd(18, { reduction: 1 }), inputs: ok, code: "attribute" },
  { name: "a reduction there is not", node: nd(18, { reduction: "mean" }), inputs: ok, code: "reduction" },
  { name: "a reduction in other letters", node: nd(18, { reduction: "Add" }), inputs: ok, code: "reduction" },
  { name: "a reduction newer than the version", node: nd(16, { reduction: "max" }), inputs: ok, code: "reduction",
    fields: { op: "ScatterND", opset: 16 } },
  { name: "OpenVINO's word in ONNX", node: nd(18, { reduction: "sum" }), inputs: ok, code: "reduction" },
  { name: "ONNX's word in OpenVINO", node: update(15, { reduction: "add" }), inputs: ok, code: "reduction" },
  { name: "sub in ONNX", node: elements(18, { reduction: "sub" }), inputs: ok, code: "reduction" },
  { name: "attributes before types", node: nd(18, { reduction: "mean" }), inputs: () => [1, 2, 3], code: "reduction" },
  { name: "an option that is none", node: nd(18), inputs: ok, options: () => ({ output: 1 }) as object,
    code: "attribute" },
  { name: "duplicates of another word", node: nd(18), inputs: ok, options: () => ({ duplicates: "first" as "last" }),
    code: "attribute" },
  { name: "duplicates of a gather", node: gather(13), inputs: () => [f32(2), i64([1, 1], 0)],
    options: () => ({ duplicates: "error" }), code: "attribute" },
  // Inputs and data types.
  { name: "an input too few", node: nd(18), inputs: () => ok().slice(0, 2), code: "shape-mismatch",
    fields: { got: 2 } },
  { name: "an input too many", node: gather(13), inputs: ok, code: "shape-mismatch", fields: { got: 3 } },
  { name: "a list where run is strict", node: nd(18), inputs: () => [f32(8), [[0]], f32(1)], code: "dtype",
    fields: { input: "indices" } },
  { name: "bfloat16 before 13", node: nd(11),
    inputs: () => [zeros("bfloat16", [2]), i64([1, 1], 0), zeros("bfloat16", [1])], code: "dtype",
    fields: { input: "data" } },
  { name: "int32 indices in ScatterND", node: nd(18), inputs: () => [f32(8), i32([2, 1], 0, 1), f32(2)],
    code: "dtype", fields: { input: "indices" } },
  { name: "int32 indices in GatherND", node: gather(13), inputs: () => [f32(8), i32([2, 1], 0, 1)], code: "dtype",
    fields: { input: "indices" } },
  { name: "float indices", node: elements(18), inputs: () => [f32(8), f32(2), f32(2)], code: "dtype",
    fields: { input: "indices" } },
  { name: "updates of another type", node: nd(18), inputs: () => [f32(8), i64([2, 1], 0, 1), zeros("float64", [2])],
    code: "dtype", fields: { input: "updates" } },
  { name: "strings in OpenVINO", node: update(15),
    inputs: () => [zeros("string", [2]), i64([1, 1], 0), zeros("string", [1])], code: "dtype",
    fields: { input: "data" } },
  { name: "complex in OpenVINO", node: update(15),
    inputs: () => [zeros("complex64", [2]), i64([1, 1], 0), zeros("complex64", [1])], code: "dtype",
    fields: { input: "data" } },
  { name: "strings multiplied", node: nd(18, { reduction: "mul" }),
    inputs: () => [zeros("string", [2]), i64([1, 1], 0), zeros("string", [1])], code: "reduction" },
  { name: "no attribute where one must be given", node: openvino("GatherElements", 6),
    inputs: () => [f32(2), i64([1], 0)], code: "attribute" },
  { name: "a truth value as a number", node: openvino("ScatterElementsUpdate", 12, { use_init_val: 0 }),
    inputs: withAxis, code: "attribute" },
  { name: "a mode there is not", node: { op: "TensorScatter", opset: 24, attributes: { mode: "ring" } },
    inputs: cache, code: "attribute" },
  { name: "reduction in ScatterElementsUpdate-3", node: openvino("ScatterElementsUpdate", 3, { reduction: "sum" }),
    inputs: withAxis, code: "attribute" },
  { name: "sub in ScatterElementsUpdate", node: openvino("ScatterElementsUpdate", 12, { reduction: "sub" }),
    inputs: withAxis, code: "reduction" },
  { name: "a mean of booleans", node: openvino("ScatterElementsUpdate", 12, { reduction: "mean" }),
    inputs: () => [zeros("bool", [2]), i32([1], 0), zeros("bool", [1]), i64([], 0)], code: "reduction" },
  { name: "too few inputs", node: openvino("ScatterUpdate", 3), inputs: ok, code: "shape-mismatch",
    fields: { got: 3 } },
  { name: "too few inputs of 2 or 3", node: { op: "TensorScatter", opset: 24 }, inputs: () => [f32(1, 2, 3)],
    code: "shape-mismatch", fields: { got: 1 } },
  { name: "an input that may not be left out", node: openvino("ScatterUpdate", 3),
    inputs: () => [f32(2), undefined, f32(1), i64([], 0)], code: "shape-mismatch", fields: { input: "indices" } },
  { name: "indices of another type", node: openvino("GatherElements", 6, { axis: 0 }),
    inputs: () => [f32(2), zeros("uint8", [1])], code: "dtype", fields: { input: "indices" } },
  { name: "an axis of floats", node: openvino("ScatterUpdate", 3), inputs: () => [f32(2), i64([1], 0), f32(1), f32()],
    code: "dtype", fields: { input: "axis" } },
  { name: "small floats before version 24", node: nd(18),
    inputs: () => [zeros("float8e5m2", [2]), i64([1, 1], 0), zeros("float8e5m2", [1])], code: "dtype",
    fields: { input: "data" } },
  { name: "integers of 2 bits, which came after version 24", node: { op: "TensorScatter", opset: 28 },
    inputs: () => [zeros("uint2", [1, 2, 1]), zeros("uint2", [1, 1, 1])], code: "dtype",
    fields: { input: "past_cache" } },
  { name: "int2, which OpenVINO lacks", node: openvino("Gather", 8),
    inputs: () => [zeros("int2", [2]), i64([1], 0), i64([], 0)], code: "dtype", fields: { input: "data" } },
  { name: "text in OpenVINO, where only Gather takes it", node: openvino("GatherElements", 6, { axis: 0 }),
    inputs: () => [zeros("string", [2]), i64([1], 0)], code: "dtype", fields: { input: "data" } },
  // Memory that is gone.
  { name: "detached data", node: nd(18),
    inputs: () => { const [data, indices, updates] = ok(); return [withMemoryGone(data), indices, updates]; },
    code: "disposed", fields: { input: "data" } },
  { name: "detached indices", node: nd(18),
    inputs: () => { const [data, indices, updates] = ok(); return [data, withMemoryGone(indices), updates]; },
    code: "disposed", fields: { input: "indices" } },
  { name: "detached out", node: nd(18), inputs: ok, options: () => ({ out: withMemoryGone(f32(8)) }), code: "disposed",
    fields: { input: "out" } },
];

testErrors(ROWS);

test("the rows of the registry cannot be changed", () => {
  const row = resolve(nd(18));
  assert.throws(() => Object.assign(row, { sinceVersion: 99 }), TypeError);
  assert.throws(() => Object.assign(row.inputs, { length: 0 }), TypeError);
});

/** Arguments that the compiler would not let through. */
const loose = { run, infer, resolve, scatterND, equals } as Record<
  string,
  (...args: unknown[]) => unknown
>;
const odd: readonly (readonly [string, unknown[], ErrorCode])[] = [
  ["run", [null, []], "unknown-operator"],
  ["run", [{ op: null, opset: 18 }, []], "unknown-operator"],
  ["run", [{ op: "ScatterND", opset: "18" }, []], "unknown-operator"],
  ["run", [nd(18)], "shape-mismatch"],
  ["run", [nd(18), ok(), null], "attribute"],
  ["run", [{ op: "ScatterND", opset: 18, attributes: null }, ok()], "attribute"],
  ["run", [nd(18), ok(), { out: null }], "dtype"],
  ["infer", [nd(18), [null, null, null]], "dtype"],
  ["infer", [nd(18), null], "shape-mismatch"],
  ["infer", [nd(18), [{ dtype: "float32", shape: Array(65).fill(null) }, {}, {}]], "rank"],
  ["resolve", [{}], "unknown-operator"],
  ["resolve", [{ domain: 5n, op: "ScatterND", opset: 18 }], "unknown-operator"],
  ["scatterND", [f32(2), [[0]], [1], null], "attribute"],
  ["scatterND", [f32(2), [[0]], undefined], "dtype"],
  ["scatterND", [[1, 2], [[0]], [1]], "dtype"],
  ["scatterND", [f32(2), [[NaN]], [1]], "dtype"],
  ["scatterND", [f32(2), [[2 ** 40]], [1]], "index-out-of-range"],
  ["scatterND", [f32(2), [[2n ** 64n]], [1]], "dtype"],
  ["scatterND", [f32(2), [[0]], [Object.create(null)]], "dtype"],
  ["scatterND", [f32(2), [[0]], [1], { reductions: "add" }], "attribute"],
  ["equals", [f32(2), { dtype: "float32" }], "dtype"],
  ["run", [nd(18), ok(), { engine: {} }], "engine"],
  ["run", [nd(18), ok(), { engine: null }], "engine"],
  ["run", [nd(18), ok(), 5], "attribute"],
];
for (const [name, args, code] of odd) {
  test(`${name} of odd arguments: ${code}`, () => {
    assert.throws(
      () => loose[name](...args),
      (error) => isTensorError(error, code) || assert.fail(String(error)),
    );
  });
}

test("infer is as strict as run", () => {
  assert.throws(
    () =>
      infer(nd(18), [
        { dtype: "float32", shape: [-1] },
        { dtype: "int64", shape: null },
        { dtype: "float32", shape: null },
      ]),
    (error) => isTensorError(error, "shape-mismatch"),
  );
  assert.throws(
    () =>
      infer(nd(18), [
        { dtype: "float" as "float32", shape: null },
        { dtype: "int64", shape: null },
        { dtype: "float32", shape: null },
      ]),
    (error) => isTensorError(error, "dtype"),
  );
});

test("an error of a caller's own code is the cause of a TensorError", () => {
  const cause = new RangeError("mine");
  const list = Object.defineProperty([0], 0, {
    get: () => {
      throw cause;
    },
  });
  assert.throws(
    () => tensor("int8", [1], list),
    (error) => isTensorError(error, "dtype") && error.cause === cause,
  );
});

test("isTensorError takes anything", () => {
  const error = new TensorError("dtype", "x", { input: "data" });
  assert.ok(isTensorError(error) && isTensorError(error, "rank", "dtype"));
  assert.ok(!isTensorError(error, "rank"));
  const { proxy, revoke } = Proxy.revocable(error, {});
  assert.ok(isTensorError(proxy));
  revoke();
  const named = Object.assign(new Error("x"), { name: "TensorError" });
  const odd = [
    proxy,
    named,
    { ...named, code: Symbol("dtype") },
    Object.assign(named, { code: "toString" }),
  ];
  for (const one of [...odd, new Error("x"), null, { name: "TensorError", code: "dtype" }]) {
    assert.ok(!isTensorError(one));
  }
});

test("an error has the fields that it was given, none of which replaces its name, code or message", () => {
  const fields = { op: "Gather", opset: 13, input: "data", at: [1], axis: undefined };
  const others = { name: "no", code: "rank", message: "no", stack: "no" };
  const error = new TensorError("dtype", "x", { ...fields, ...others });
  assert.deepEqual(
    { ...error },
    { name: "TensorError", code: "dtype", op: "Gather", opset: 13, input: "data", at: [1] },
  );
  assert.equal(error.message, "Gather-13: x");
  assert.notEqual(error.stack, "no");
});

test("an error of another name is no TensorError, whatever its code", () => {
  assert.ok(!isTensorError(Object.assign(new Error("x"), { code: "dtype" }), "dtype"));
  assert.ok(!isTensorError(Object.assign(new Error("x"), { code: "dtype" })));
});

test("what was thrown says its message, or itself where it is no error", () => {
  assert.equal(messageOf(new TypeError("a message")), "a message");
  assert.equal(messageOf("a text"), "a text");
  assert.equal(messageOf(5), "5");
  assert.equal(messageOf(undefined), "undefined");
});

test("what a thread throws is sent as plain data, and thrown again", () => {
  const full = Object.assign(new Error("no space"), { code: "ENOSPC", path: "a", other: 1 });
  const fields = { op: "Gather", opset: 13, input: "data", got: 5n, allowed: ["int32"] };
  const error = new TensorError("dtype", "x", fields);
  for (const [thrown, expected] of [
    [full, { message: "no space", code: "ENOSPC", path: "a" }],
    ["a text", { message: "a text" }],
    [error, { message: "Gather-13: x", name: "TensorError", code: "dtype", ...fields }],
  ] as const) {
    const received = receiveError(structuredClone(sendError(thrown)));
    assert.deepEqual({ ...received, message: received.message }, expected);
  }
});

test("the codes cannot be changed", () => {
  assert.ok(!Reflect.set(ERROR_CODES, "dtype", "x"));
});

test("a value in a message is named by what it is", () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [null, "null"],
    [undefined, "undefined"],
    [1n, "1"],
    ["a", '"a"'],
    ["x".repeat(200), `"${"x".repeat(200)}"`],
    ["x".repeat(201), `"${"x".repeat(200)}"...`],
    [[1], "a list"],
    [new Uint8Array(1), "a Uint8Array"],
    [new Int32Array(1), "an Int32Array"],
    [new DataView(new ArrayBuffer(1)), "a DataView"],
    [Promise.resolve(), "a Promise (await it)"],
    [new Proxy([], {}), "a list"],
    [Proxy.revocable({}, {}).proxy, "an object"],
    [{ [Symbol.toStringTag]: "; drop" }, "an object"],
    [{}, "an object"],
    [() => 1, "a function"],
    [Symbol("x"), "a symbol"],
  ];
  for (const [value, text] of rows) assert.equal(printValue(value), text);
});

test("a message quotes the beginning of long text", () => {
  const { message } = assertRefused("dtype", {}, () =>
    Reflect.apply(zeros, undefined, ["x".repeat(1e6), [1]]),
  );
  assert.ok(message.length < 1000, message);
});

test("a name is offered if at most two letters and at most a third of the letters differ", () => {
  const names = ["ScatterElements", "Gather", "d.npy"];
  assert.equal(nearestName("ScttrElements", names), "ScatterElements");
  assert.equal(nearestName("SctrElements", names), null);
  assert.equal(nearestName("gathr", names), "Gather");
  assert.equal(nearestName("gtr", names), null);
  assert.equal(nearestName("x".repeat(10_000), names), null);
});
