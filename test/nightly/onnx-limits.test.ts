/** ONNX files of great size: what no model has is refused before it costs memory or time, and what models have is read. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { lightModel } from "../../src/models/onnx/light-model.ts";
import { readModel, readOutline, readTensor, type ByteSource } from "../../src/entries/onnx.ts";
import { bytes, file, int, text, varint, type Bytes } from "../support/onnx-encoder.ts";
import {
  ATTRIBUTE,
  entry,
  FUNCTION,
  GRAPH,
  head,
  MODEL,
  node,
  NODE,
  TENSOR,
} from "../support/onnx-parts.ts";
import { WITHOUT_NODE } from "../support/platform.ts";
import { assertCode } from "../support/refusal.ts";

/** `count` times the same record. */
function dense(count: number, record: Bytes): Uint8Array {
  const inner = new Uint8Array(count * record.length);
  inner.set(record);
  // Each time as much again as is there.
  for (let at = record.length; at < inner.length; at *= 2) inner.copyWithin(at, 0, at);
  return inner;
}

type Parts = readonly ArrayLike<number>[];

/** {@link bytes} of many megabytes, in parts, so that they are copied once. */
const large = (field: number, ...payload: Parts): Parts => {
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  return [varint((field << 3) | 2), varint(length), ...payload];
};
const modelOf = (...graph: Parts): Uint8Array => file(...large(MODEL.graph, ...graph));
/** A model of one node with one attribute. */
const modelWith = (type: number, ...value: Parts): Uint8Array => {
  const one = [text(ATTRIBUTE.name, "a"), ...value, int(ATTRIBUTE.type, type)];
  return modelOf(...large(GRAPH.node, text(NODE.opType, "Foo"), ...large(NODE.attribute, ...one)));
};
/** An empty message, byte string or text. */
const empty = (field: number): Bytes => bytes(field, []);

// prettier-ignore
const DENSE: readonly (readonly [what: string, model: () => Uint8Array])[] = [
  ["nodes", () => modelOf(dense(4e5, empty(GRAPH.node)))],
  ["constants", () => modelOf(dense(4e5, empty(GRAPH.initializer)))],
  ["inputs", () => modelOf(dense(4e5, empty(GRAPH.input)))],
  ["sparse constants", () => modelOf(dense(4e5, empty(GRAPH.sparseInitializer)))],
  ["values", () => modelOf(dense(4e5, empty(GRAPH.valueInfo)))],
  ["unknown fields", () => modelOf(dense(4e5, empty(GRAPH.quantization)))],
  ["unknown numbers", () => modelOf(dense(4e5, int(99, 0)))],
  ["functions", () => file(modelOf(), dense(3e5, empty(MODEL.functions)))],
  ["nodes of functions", () => file(modelOf(), ...large(MODEL.functions, dense(4e5, empty(FUNCTION.node))))],
  ["strings", () => modelWith(8, dense(4e5, empty(ATTRIBUTE.strings)))],
  ["tensors", () => modelWith(9, dense(4e5, empty(ATTRIBUTE.tensors)))],
  ["bodies", () => modelWith(10, dense(4e5, empty(ATTRIBUTE.graphs)))],
  ["nodes of a body", () => modelWith(5, ...large(ATTRIBUTE.g, dense(4e5, empty(GRAPH.node))))],
  ["names of inputs", () => modelOf(...large(GRAPH.node, dense(2 ** 24 + 1, empty(NODE.input))))],
  ["ints", () => modelWith(7, dense(2 ** 24 + 1, int(ATTRIBUTE.ints, 1)))],
  ["packed ints", () => modelWith(7, ...large(ATTRIBUTE.ints, dense(2 ** 24 + 1, [1])))],
  ["packed floats", () => modelWith(6, ...large(ATTRIBUTE.floats, dense(2 ** 24 + 1, [0, 0, 0, 0])))],
];

for (const [what, model] of DENSE) {
  test(`a file of nothing but ${what} is not blown up`, { skip: WITHOUT_NODE }, () => {
    const content = model();
    assertCode("too-large", {}, () => readModel(content));
  });
}

test("lists as long as real models have them are read", () => {
  const ints = dense(200_000, [1]);
  const floats = dense(200_000, [0, 0, 128, 63]);
  for (const [type, value, first] of [
    [7, large(ATTRIBUTE.ints, ints), 1],
    [6, large(ATTRIBUTE.floats, floats), 1],
    [7, [dense(200_000, int(ATTRIBUTE.ints, 1))], 1],
  ] as const) {
    const { value: list } = readModel(modelWith(type, ...value)).graph.nodes[0].attributes["a"];
    assert.ok(Array.isArray(list) && list.length === 200_000 && list.every((one) => one === first));
  }
});

test("a small file may have 65,536 parts, and one in 8 bytes beyond", () => {
  /** A graph with so many values, each with a name of 5 bytes: 9 bytes and 1 part. */
  const named = (count: number): Uint8Array =>
    modelOf(dense(count, bytes(GRAPH.valueInfo, text(1, "value"))));
  assert.equal(readModel(named(60_000)).graph.values?.length, 60_000);
  assert.equal(readModel(named(300_000)).graph.values?.length, 300_000);
  // n empty values are n + 1 parts with their graph, in 2n + 4 bytes: 65,536 + 21,845 are the most.
  const unnamed = (count: number): Uint8Array => modelOf(dense(count, empty(GRAPH.valueInfo)));
  assert.equal(readModel(unnamed(87_380)).graph.values?.length, 87_380);
  assertCode("too-large", {}, () => readModel(unnamed(87_381)));
});

test("a large file may have 2^21 parts", () => {
  /** A graph with so many numbers of an unknown field, of 8 bytes each. */
  const unknown = (count: number): Uint8Array => modelOf(dense(count, int(99, 2 ** 36)));
  assert.equal(readModel(unknown(2 ** 21 - 1)).graph.nodes.length, 0);
  assertCode("too-large", {}, () => readModel(unknown(2 ** 21)));
});

test("a tensor of nothing but dimensions is refused at the 65th", () => {
  const tensorOf = (count: number): Uint8Array => dense(count, int(TENSOR.dims, 0));
  assertCode("unsupported-file", { limit: 64 }, () => readTensor(tensorOf(4e5)));
  // With 64, only its data type is missing.
  assertCode("malformed-file", {}, () => readTensor(tensorOf(64)));
});

test("values are counted before any of them is made", { skip: WITHOUT_NODE }, () => {
  // A million unpacked ones, of four fields.
  const before = process.memoryUsage().arrayBuffers;
  const { int32Data, stringData, int64Data, uint64Data } = TENSOR;
  for (const record of [
    int(int32Data, 0),
    empty(stringData),
    int(int64Data, 0),
    int(uint64Data, 0),
  ]) {
    const values = dense(1e6, record);
    assertCode("malformed-file", {}, () => readTensor(file(head("int64", 2), values)));
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 26);
});

test("a tensor of a million entries of external data is refused at the second of one name", () => {
  const entries = dense(1e5, bytes(TENSOR.externalData, entry("k", "v")));
  assertCode("malformed-file", {}, () => readTensor(file(head("int8", 1), entries)));
});

const RELU = file(node("Relu", text(NODE.name, "x".repeat(2 ** 15))));
const RELUS = file(RELU, RELU, RELU, RELU);

/** Nodes with names of 32 KiB in one graph of nearly 2^40 bytes. */
function manyNodes(offset: number, length: number): Uint8Array {
  const front = file(varint((MODEL.graph << 3) | 2), varint(2 ** 40 - 8));
  const begin = Math.max(0, offset - front.length) % RELU.length;
  const lead = front.subarray(offset);
  return file(lead, RELUS.subarray(begin, begin + length - lead.length));
}

const OUTLINES: readonly (readonly [what: string, source: ByteSource])[] = [
  ["2^24 records", { size: 2 ** 26, read: (_, length) => new Uint8Array(length).fill(8) }],
  ["64 MiB of names", { size: 2 ** 40, read: manyNodes }],
];

for (const [what, source] of OUTLINES) {
  test(`an outline of ${what} is refused`, () => {
    assertCode("too-large", {}, () => readOutline(source));
  });
}

const TINY = int(99, 0);
/** Records of 3 bytes each, which take gigabytes if each of them becomes an object that is kept. */
const FLOODS: readonly (readonly [what: string, model: () => Uint8Array])[] = [
  ["a graph", () => modelOf(dense(24e6, TINY))],
  ["a node", () => modelOf(...large(GRAPH.node, dense(24e6, TINY)))],
  ["a tensor", () => modelOf(...large(GRAPH.initializer, dense(24e6, TINY)))],
];

for (const [what, model] of FLOODS) {
  test(
    `${what} of 24 million records stays as it is, in little memory`,
    { skip: WITHOUT_NODE },
    () => {
      const content = model();
      const before = process.memoryUsage().heapUsed;
      const read = (offset: number, length: number): Uint8Array => {
        assert.ok(process.memoryUsage().heapUsed - before < 2 ** 27);
        return content.subarray(offset, offset + length);
      };
      const light = lightModel("m.onnx", { size: content.length, read });
      assert.ok(light !== null && Buffer.compare(light, content) === 0);
    },
  );
}
