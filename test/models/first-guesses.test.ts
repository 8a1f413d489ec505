/**
 * First guesses of users at the functions of models and files: a path instead of bytes, a promise, a literal, a session,
 * a misspelled name. Each is refused, with the name of the wrong part and the name that was probably meant.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readNpy } from "../../src/entries/npy.ts";
import * as onnx from "../../src/entries/onnx.ts";
import { readIR, writeIR } from "../../src/entries/openvino.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { assertRejected, type Facts } from "../support/refusal.ts";

const literal = {
  opsets: { "ai.onnx": 18 },
  inputs: { data: { dtype: "float32", shape: [3] }, rows: { dtype: "float32", shape: [1] } },
  constants: { ids: tensor("int64", [1, 1], [0]) },
  nodes: [{ op: "ScatterND", name: "put", inputs: ["data", "ids", "rows"], outputs: ["sums"] }],
  outputs: { sums: null },
} as const;
const model = onnx.buildModel(literal);
const bytes = onnx.writeModel(model);
const one = tensor("float32", [1], [5]);
const feeds = { data: tensor("float32", [3], [1, 2, 3]), rows: one };
class Session {
  get inputNames(): readonly string[] {
    return ["data"];
  }
  run(): never {
    throw new Error("not run");
  }
}
const session = new Session();
const createSession = (): Promise<never> => Promise.reject(new Error("no runtime"));
const own = { createSession };

type Loose = (...args: readonly unknown[]) => unknown;
const loose = (call: unknown): Loose => call as Loose;
const [node] = literal.nodes;
const built = (extra: object) => (): unknown => loose(onnx.buildModel)({ ...literal, ...extra });
const nodes = (extra: object) => built({ nodes: [{ ...node, ...extra }] });
const attribute = (value: unknown) => nodes({ attributes: { axis: value } });

/** Every function that takes a model, by name. */
const TAKERS: Readonly<Record<string, Loose>> = {
  inspectModel: loose(onnx.inspectModel),
  writeModel: loose(onnx.writeModel),
  writeIR: loose(writeIR),
  convertModel: (given) => loose(onnx.convertModel)(given, { opset: 18 }),
  runModel: (given) => loose(onnx.runModel)(given, feeds),
  runNode: (given) => loose(onnx.runNode)(given, "put", feeds),
  NodeIndex: (given) => new onnx.NodeIndex(given as never),
  modelNotes: loose(onnx.modelNotes),
  splitModel: (given) => loose(onnx.splitModel)(given, ["sums"]),
  createExactSession: (given) => loose(onnx.createExactSession)(given, own),
};

const OTHERS: Readonly<Record<string, readonly [given: unknown, got: unknown]>> = {
  "a path": ["model.onnx", "model.onnx"],
  "a promise": [Promise.resolve(model), "a Promise (await it)"],
  "a literal": [literal, "an object"],
  "a session": [session, "an object"],
  "a graph": [model.graph, "an object"],
  "a list": [[model], "a list"],
  null: [null, null],
};

for (const [name, take] of Object.entries(TAKERS)) {
  for (const [what, [given, got]] of Object.entries(OTHERS)) {
    test(`${name} refuses ${what}`, async () => {
      await assertRejected("malformed-file", { key: "model", got }, async () => take(given));
    });
  }
}

/** Every function that takes the bytes of a file, by name. */
const READERS: Readonly<Record<string, Loose>> = {
  readModel: loose(onnx.readModel),
  readTensor: loose(onnx.readTensor),
  readNpy: loose(readNpy),
  "readIR, the XML": loose(readIR),
  verifyModel: (given) => loose(onnx.verifyModel)(given, feeds, own),
  fixModel: (given) => loose(onnx.fixModel)(given, feeds, own),
  captureCalls: (given) => onnx.captureCalls(given as never, feeds, own).next(),
};

for (const [name, read] of Object.entries(READERS)) {
  for (const [given, got] of [
    ["model.onnx", "model.onnx"],
    [Promise.resolve(bytes), "a Promise (await it)"],
    [new Blob([]), "a Blob"],
    [[1, 2], "a list"],
    [model, "an object"],
  ]) {
    test(`${name} refuses ${String(got)}`, async () => {
      await assertRejected("malformed-file", { got }, async () => read(given));
    });
  }
}

// prettier-ignore
const ROWS: readonly (readonly [name: string, code: ErrorCode, facts: Facts, call: () => unknown])[] = [
  ["a key of ONNX's files", "attribute", { key: "initializers", nearest: "constants" }, built({ initializers: {} })],
  ["a key without its plural", "attribute", { key: "opset", nearest: "opsets" }, built({ opset: 18 })],
  ["a key of a node", "attribute", { key: "opType", nearest: "op" }, nodes({ opType: "x" })],
  ["a key of a type", "attribute", { key: "dims", nearest: "shape" },
    built({ inputs: { data: { dtype: "float32", dims: [3] } } })],
  ["swapped letters", "attribute", { key: "shpae", nearest: "shape" },
    built({ inputs: { data: { dtype: "float32", shpae: [3] } } })],
  ["a key of an attribute", "attribute", { key: "valeu", nearest: "value" }, attribute({ type: "int", valeu: 1 })],
  ["a type of attributes", "malformed-file", { key: "type", got: "itn" }, attribute({ type: "itn", value: 1 })],
  ["no attribute", "attribute", { key: "axis", got: null }, attribute(null)],
  ["an opset as text", "unknown-operator", { key: "opset", got: "18" }, built({ opsets: { "ai.onnx": "18" } })],
  ["an opset of the future", "unknown-operator", { key: "opset", got: 99 }, built({ opsets: { "ai.onnx": 99 } })],
  ["a type without a shape", "malformed-file", {}, built({ inputs: { data: { dtype: "float32" } } })],
  ["a size instead of a shape", "malformed-file", { got: 3 }, built({ inputs: { data: { dtype: "float32", shape: 3 } } })],
  ["another data type", "dtype", { input: "data", got: "float" }, built({ inputs: { data: { dtype: "float", shape: [3] } } })],
  ["an operator that is no text", "malformed-file", { got: 3 }, nodes({ op: 3 })],
  ["a Map of inputs", "malformed-file", { got: "a Map" }, built({ inputs: new Map() })],
  ["a name that is no text", "malformed-file", { got: 3 }, built({ name: 3 })],
  ["an IR version as text", "malformed-file", { key: "irVersion", got: "8" }, built({ irVersion: "8" })],
  ["a constant without a name", "attribute", { key: "name" }, () => loose(onnx.constant)(one, "a")],
  ["a misspelled feed", "shape-mismatch", { input: "dta", nearest: "data" },
    () => onnx.runModel(model, { dta: feeds.data, rows: one })],
  ["a misspelled input of a node", "shape-mismatch", { input: "rosw", nearest: "rows" },
    () => onnx.runNode(model, "put", { data: feeds.data, rosw: one })],
  ["promised feeds", "malformed-file", { got: "a Promise (await it)" },
    () => loose(onnx.runModel)(model, Promise.resolve(feeds))],
  ["the shape of no input", "shape-mismatch", { input: "dta", nearest: "data" },
    () => onnx.indexedSizes(model, { dta: [3] })],
  ["a misspelled value", "unsupported-model", { key: "values", got: "sum", nearest: "sums" },
    () => onnx.neededFor(model, ["sum"])],
  ["a type that is a word", "malformed-file", { got: "float32" },
    () => loose(onnx.splitModel)(model, ["sums"], { types: { sums: "float32" } })],
  ["options that are a word", "attribute", { got: "\"types\"" }, () => loose(onnx.splitModel)(model, ["sums"], "types")],
  ["nodes of a graph", "malformed-file", { key: "nodes" }, () => loose(onnx.listNodes)(model.graph.nodes)],
  ["a model instead of nodes", "malformed-file", { got: "an object" }, () => loose(onnx.listNodes)(model)],
  ["bytes as a file of ranges", "malformed-file", { got: "an ArrayBuffer" },
    () => loose(onnx.readOutline)(bytes.slice().buffer)],
];

for (const [name, code, facts, call] of ROWS) {
  test(`${name} is refused`, async () => {
    await assertRejected(code, facts, async () => call());
  });
}

test("a built model has the first IR version with its opset, or version 8", () => {
  // ONNX: Versioning, Released Versions.
  for (const [opset, irVersion] of [
    [13, 8],
    [18, 8],
    [19, 9],
    [21, 10],
    [25, 13],
    [28, 14],
  ] as const) {
    assert.equal(
      onnx.buildModel({ ...literal, opsets: { "ai.onnx": opset } }).irVersion,
      irVersion,
    );
  }
  assert.equal(onnx.buildModel({ ...literal, opsets: {}, irVersion: 11 }).irVersion, 11);
});
