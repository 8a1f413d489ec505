/** Models whose weights stay in the file: the outline says what the whole model says, and reads next to nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import {
  readModel,
  readOutline,
  writeModel,
  writeTensor,
  type Constant,
  type Graph,
  type Model,
} from "../../src/entries/onnx.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import {
  bytes,
  file,
  float,
  int,
  numbers,
  text,
  varint,
  type Bytes,
} from "../support/onnx-encoder.ts";
import { sourceOf, sparse } from "../support/byte-source.ts";
import {
  attribute,
  ATTRIBUTE,
  functionNode,
  GRAPH,
  head,
  initializer,
  MODEL,
  modelFile,
  node,
  NODE,
  TENSOR,
  sparseInitializer,
} from "../support/onnx-parts.ts";
import { assertRefused } from "../support/refusal.ts";

/** A sequence of values that no two neighbours share. */
const some = (dtype: Tensor["dtype"], count: number): Tensor => {
  const one = zeros(dtype, [count]);
  if (dtype === "string")
    return tensor(
      dtype,
      [count],
      Array.from({ length: count }, (_, i) => `#${i}`),
    );
  const { data } = one;
  if (ArrayBuffer.isView(data)) {
    const view = new Uint8Array(data.buffer);
    for (let i = 0; i < view.length; i++) view[i] = dtype === "bool" ? i % 2 : i % 251;
  }
  return one;
};

const holding = (value: Uint8Array): Bytes =>
  attribute("value", "TENSOR", bytes(ATTRIBUTE.t, value));

const constantNode = (name: string, value: Uint8Array): Bytes =>
  node("Constant", text(NODE.output, name), holding(value));

const ifNode = (name: string, ...body: readonly Bytes[]): Bytes =>
  node(
    "If",
    text(NODE.output, name),
    attribute("then_branch", "GRAPH", bytes(ATTRIBUTE.g, body.flat())),
  );

const weights = (value: Tensor, name: string): Bytes =>
  bytes(GRAPH.initializer, writeTensor(value, name));

const typed = (count: number, packed: boolean): Bytes =>
  initializer(
    head("int64", count),
    numbers(
      TENSOR.int64Data,
      Array.from({ length: count }, (_, i) => i - 5),
      "varint",
      packed,
    ),
    text(TENSOR.name, `typed ${packed} ${count}`),
  );

/** Small and large tensors of every type as constants, as attributes, and in a body; raw, packed and one by one. */
const VARIED = modelFile(
  ...[1, 5000].flatMap((count) => [
    ...DTYPE_NAMES.map((dtype) => weights(some(dtype, count), `${dtype} ${count}`)),
    typed(count, true),
    typed(count, false),
    constantNode(`node ${count}`, writeTensor(some("int32", count))),
    ifNode(`if ${count}`, weights(some("int64", count), `inner ${count}`)),
    sparseInitializer(
      writeTensor(some("float32", count), `thin ${count}`),
      writeTensor(
        tensor(
          "int64",
          [count],
          Array.from({ length: count }, (_, at) => 2 * at),
        ),
      ),
      ...[2, count],
    ),
  ]),
  // Numbers of several bytes, some of which are 0x80 or 0.
  ...[128, 2 ** 14, 2 ** 21 + 1, -1].map((i) =>
    node("Foo", attribute("i", "INT", int(ATTRIBUTE.i, i))),
  ),
  node("Foo", attribute("f", "FLOAT", float(ATTRIBUTE.f, 1.5))),
);

/** Every constant of a graph, those of its attributes and bodies too, with its values. */
function constantsOf({ nodes, constants }: Graph): [string, Tensor][] {
  const read = (one: Constant, name = one.name): [string, Tensor] => [name, one.read()];
  return [
    ...constants.map((one) => read(one)),
    ...nodes.flatMap(({ attributes, outputs }) =>
      Object.values(attributes).flatMap((one) =>
        one.type === "tensor"
          ? [read(one.value, outputs[0])]
          : one.type === "other"
            ? (one.graphs ?? []).flatMap(constantsOf)
            : [],
      ),
    ),
  ];
}

test("constants of an outline are those of the model", () => {
  const [left, right] = [readModel(VARIED), readOutline(sourceOf(VARIED))].map((one) =>
    constantsOf(one.graph),
  );
  assert.equal(left.length, 2 * (DTYPE_NAMES.length + 5));
  assert.deepEqual(
    right.map(([name]) => name),
    left.map(([name]) => name),
  );
  for (const [position, [name, value]] of left.entries()) {
    assert.ok(equals(value, right[position][1]), name);
  }
});

test("everything else of an outline is that of the model", () => {
  /** A model without its functions and symbols. */
  const plain = (model: Model): unknown => JSON.parse(JSON.stringify(model));
  assert.deepEqual(plain(readOutline(sourceOf(VARIED))), plain(readModel(VARIED)));
});

test("a small file is read once", () => {
  const content = modelFile(weights(some("int64", 4), "i"), node("Relu"));
  const source = sourceOf(content);
  readOutline(source).graph.constants[0].read();
  assert.deepEqual(source.reads, [content.length]);
});

test("values are read when they are asked for, and then those alone", () => {
  const large = writeTensor(some("int64", 2 ** 13), "j");
  const source = sourceOf(
    modelFile(
      weights(some("float32", 2 ** 17), "w"),
      weights(some("int64", 4), "i"),
      constantNode("j", large),
    ),
  );
  const model = readOutline(source);
  assert.ok(source.taken() < 2 ** 18, `${source.taken()} bytes`);
  const before = source.taken();
  const [, i] = model.graph.constants;
  const { value } = model.graph.nodes[0].attributes["value"];
  assert.ok(equals(i.read(), some("int64", 4)));
  assert.equal(source.taken(), before);
  assert.ok(typeof value === "object" && "read" in value);
  assert.ok(equals(value.read(), some("int64", 2 ** 13)));
  assert.equal(source.taken(), before + large.length);
});

/** A constant whose record of values, with its tag and length, takes so many bytes. */
const record = (length: number): Uint8Array => writeTensor(some("uint8", length - 3), "w");

test("values of up to 1,024 bytes are in the outline, with their tag and length", () => {
  for (const [length, reads] of [
    [1024, 0],
    [1025, 1],
  ]) {
    const content = modelFile(bytes(GRAPH.initializer, record(length)), node("Relu"));
    const source = sourceOf(content);
    const [w] = readOutline(source).graph.constants;
    const before = source.taken();
    assert.ok(equals(w.read(), some("uint8", length - 3)));
    assert.equal(source.taken() - before, reads * record(length).length);
  }
});

test("values in many records count together", () => {
  // 2 bytes a record: 512 of them are in the outline.
  const unpacked = (count: number): Uint8Array =>
    modelFile(initializer(head("int8", count), Array(count).fill(int(TENSOR.int32Data, 7)).flat()));
  for (const [count, isKept] of [
    [512, true],
    [513, false],
  ] as const) {
    const source = sourceOf(unpacked(count));
    const [w] = readOutline(source).graph.constants;
    const before = source.taken();
    assert.deepEqual(w.read().toArray(), Array(count).fill(7));
    assert.equal(source.taken() === before, isKept);
  }
});

test("an attribute of more than 64 KiB is shown without its value", () => {
  const ints = (count: number): Bytes => bytes(ATTRIBUTE.ints, Array(count).fill(7));
  const shown = (part: Bytes, type: "INTS" | "STRING"): unknown => {
    const { graph } = readOutline(sourceOf(modelFile(node("Foo", attribute("a", type, part)))));
    return graph.nodes[0].attributes["a"];
  };
  // A tag and a length of three bytes belong to the record.
  const kept = 2 ** 16 - 4;
  assert.deepEqual(shown(ints(kept), "INTS"), { type: "ints", value: Array(kept).fill(7) });
  const left = { type: "other", value: "UNDEFINED" };
  assert.deepEqual(shown(ints(kept + 1), "INTS"), left);
  assert.deepEqual(shown(text(ATTRIBUTE.s, "x".repeat(kept + 1)), "STRING"), left);
});

test("what an outline does not need is not read", () => {
  const long = text(GRAPH.docString, "x".repeat(2 ** 20));
  const size = 2 ** 17;
  const [thin, places] = [
    writeTensor(some("float32", size), "thin"),
    writeTensor(some("int64", size)),
  ];
  const sparse = sparseInitializer(thin, places, 2 ** 20);
  const unknown = bytes(99, new Uint8Array(2 ** 20));
  const about = text(MODEL.docString, "x".repeat(2 ** 20));
  const source = sourceOf(file(modelFile(long, sparse, unknown, node("Relu")), about));
  const { nodes, constants } = readOutline(source).graph;
  assert.equal(nodes[0].op, "Relu");
  assert.deepEqual([constants[0].name, constants[0].shape], ["thin", [2 ** 20]]);
  assert.ok(source.taken() < 2 ** 16, `${source.taken()} bytes`);
});

test("a file is read in windows that grow while reading goes on, and begin anew behind a jump", () => {
  const nodes = (count: number): Bytes =>
    Array.from({ length: count }, () => node("Relu", text(NODE.name, "x".repeat(90)))).flat();
  const source = sourceOf(
    modelFile(nodes(1500), weights(some("float32", 2 ** 14), "w"), nodes(300)),
  );
  assert.equal(readOutline(source).graph.nodes.length, 1800);
  // Names over the end of a window are read on their own.
  const windows = source.reads.filter((length) => length > 200);
  const [k4, k8, k16, k32, k64] = [4096, 8192, 16384, 32768, 65536];
  assert.deepEqual(windows.slice(0, 6), [k4, k8, k16, k32, k64, k64]);
  assert.deepEqual(windows.slice(6, 8), [k4, k8]);
});

test("functions are in an outline, without the values of their constants", () => {
  const inner = functionNode("Constant", holding(writeTensor(some("int32", 5000))));
  const source = sourceOf(file(modelFile(), bytes(MODEL.functions, inner)));
  const [{ graph }] = readOutline(source).functions ?? [];
  assert.ok(source.taken() < 2 ** 14);
  const { value } = graph.nodes[0].attributes["value"];
  assert.ok(typeof value === "object" && "read" in value);
  assert.ok(equals(value.read(), some("int32", 5000)));
});

/** The number of an attribute's type that the package keeps but cannot create. */
const SPARSE_TENSOR = 11;

test("an outline is not written as a model that lacks its values", () => {
  const content = modelFile(weights(some("float32", 5000), "w"));
  const again = readModel(writeModel(readOutline(sourceOf(content))));
  assert.ok(equals(again.graph.constants[0].read(), some("float32", 5000)));
  const weight = bytes(GRAPH.initializer, writeTensor(some("float32", 5000), "w"));
  const loop = node("Loop", attribute("body", "GRAPH", bytes(ATTRIBUTE.g, weight)));
  const written = readModel(writeModel(readOutline(sourceOf(modelFile(loop)))));
  const { body } = written.graph.nodes[0].attributes;
  assert.ok(body.type === "other");
  const values = body.graphs?.[0].constants[0].read();
  assert.ok(values !== undefined && equals(values, some("float32", 5000)));
  const odd = readOutline(sourceOf(modelFile(node("Odd", attribute("a", SPARSE_TENSOR)))));
  assertRefused("attribute", { op: "Odd" }, () => writeModel(odd));
});

test("lengths beyond 2^32 are taken, whatever lies behind them", () => {
  const raw = 2 ** 50;
  const length = (field: number, count: number): Bytes => [
    ...varint((field << 3) | 2),
    ...varint(count),
  ];
  const header = [
    ...head("float32", 2 ** 48),
    ...text(TENSOR.name, "w"),
    ...length(TENSOR.rawData, raw),
  ];
  const behind = node("Relu", text(NODE.output, "y"));
  const tag = length(GRAPH.initializer, header.length + raw);
  const inner = tag.length + header.length + raw + behind.length;
  const front = [...length(MODEL.graph, inner), ...tag, ...header];
  const end = front.length + raw;
  const model = readOutline(sparse(end + behind.length, [0, front], [end, behind]));
  assert.deepEqual(
    model.graph.nodes.map(({ op }) => op),
    ["Relu"],
  );
  const [w] = model.graph.constants;
  assert.deepEqual([w.name, w.shape], ["w", [2 ** 48]]);
  assertRefused("too-large", { input: "w" }, () => w.read());
});
