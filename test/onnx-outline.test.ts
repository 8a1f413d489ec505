/** Models whose weights stay in the file: the outline says what the whole model says, and reads next to nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES } from "../src/tensor/dtype.ts";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import {
  buildModel,
  inspectModel,
  readModel,
  readOutline,
  writeModel,
  writeTensor,
  type ByteSource,
  type Constant,
  type Graph,
  type Model,
} from "../src/onnx/index.ts";
import { equals, tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import {
  bytes,
  file,
  int,
  mutate,
  numbers,
  random,
  text,
  varint,
  type Bytes,
} from "./onnx-encoder.ts";

/** A file in memory that counts what is read of it. */
function sourceOf(content: Uint8Array): ByteSource & { taken(): number } {
  let taken = 0;
  return {
    size: content.length,
    read(offset, length) {
      assert.ok(offset >= 0 && length >= 0 && offset + length <= content.length);
      taken += length;
      return content.slice(offset, offset + length);
    },
    taken: () => taken,
  };
}

const graph = (...parts: Bytes[]): Uint8Array =>
  file(int(1, 9), bytes(7, parts.flat()), bytes(8, int(2, 18)));

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

const constantNode = (name: string, value: Bytes): Bytes => [
  ...text(2, name),
  ...text(4, "Constant"),
  ...bytes(5, [...text(1, "value"), ...bytes(5, value), ...int(20, 4)]),
];

/** Small and large tensors of every type as constants, as attributes, and in a body; raw, packed and one by one. */
const RICH = graph(
  ...[1, 5000].flatMap((count) => [
    ...DTYPE_NAMES.map((dtype) => bytes(5, writeTensor(some(dtype, count), `${dtype} ${count}`))),
    ...[true, false].map((packed) =>
      bytes(5, [
        ...int(1, count),
        ...int(2, 7),
        ...numbers(
          7,
          Array.from({ length: count }, (_, i) => i - 5),
          "varint",
          packed,
        ),
        ...text(8, `typed ${packed} ${count}`),
      ]),
    ),
    bytes(1, constantNode(`node ${count}`, [...writeTensor(some("int32", count))])),
    bytes(1, [
      ...text(2, `if ${count}`),
      ...text(4, "If"),
      ...bytes(5, [
        ...text(1, "then_branch"),
        ...bytes(6, bytes(5, writeTensor(some("int64", count), `inner ${count}`))),
        ...int(20, 5),
      ]),
    ]),
  ]),
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
  const [left, right] = [readModel(RICH), readOutline(sourceOf(RICH))].map((one) =>
    constantsOf(one.graph),
  );
  assert.equal(left.length, 2 * (DTYPE_NAMES.length + 4));
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
  assert.deepEqual(plain(readOutline(sourceOf(RICH))), plain(readModel(RICH)));
});

test("values are read when they are asked for, and then those alone", () => {
  const weights = writeTensor(some("float32", 2 ** 17), "w");
  const small = writeTensor(some("int64", 4), "i");
  const large = writeTensor(some("int64", 2 ** 13), "j");
  const source = sourceOf(
    graph(bytes(5, weights), bytes(5, small), bytes(1, constantNode("j", [...large]))),
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

test("an outline is not written as a model that lacks its values", () => {
  const content = graph(bytes(5, writeTensor(some("float32", 5000), "w")));
  const again = readModel(writeModel(readOutline(sourceOf(content))));
  assert.ok(equals(again.graph.constants[0].read(), some("float32", 5000)));
  const body = [...text(1, "body"), ...bytes(6, []), ...int(20, 5)];
  const model = readOutline(sourceOf(graph(bytes(1, [...text(4, "Loop"), ...bytes(5, body)]))));
  assert.throws(
    () => writeModel(model),
    (error) => isTensorError(error, "attribute"),
  );
});

/** A file of parts that lie at places of their own, with zeros between them. */
const sparse = (
  size: number,
  ...parts: readonly (readonly [number, ArrayLike<number>])[]
): ByteSource => ({
  size,
  read(offset, length) {
    assert.ok(length <= 2 ** 20, `${length} bytes at once`);
    const content = new Uint8Array(length);
    for (const [start, part] of parts) {
      for (let i = 0; i < part.length; i++) {
        const at = start + i - offset;
        if (at >= 0 && at < length) content[at] = part[i];
      }
    }
    return content;
  },
});

test("lengths beyond 2^32 are taken, whatever lies behind them", () => {
  const raw = 2 ** 50;
  const header = file(int(1, 2 ** 48), int(2, 1), text(8, "w"), varint((9 << 3) | 2), varint(raw));
  const behind = bytes(1, [...text(2, "y"), ...text(4, "Relu")]);
  const tensorTag = file(varint((5 << 3) | 2), varint(header.length + raw));
  const inner = tensorTag.length + header.length + raw + behind.length;
  const head = file(varint((7 << 3) | 2), varint(inner), tensorTag, header);
  const end = head.length + raw;
  const model = readOutline(sparse(end + behind.length, [0, head], [end, behind]));
  assert.deepEqual(
    model.graph.nodes.map(({ op }) => op),
    ["Relu"],
  );
  const [w] = model.graph.constants;
  assert.deepEqual([w.name, w.shape], ["w", [2 ** 48]]);
  assert.throws(
    () => w.read(),
    (error) => isTensorError(error, "too-large"),
  );
});

interface Hostile {
  readonly what: string;
  readonly content: Uint8Array | ByteSource;
  readonly code: ErrorCode;
  readonly says: RegExp;
}

const lying = (...tail: number[]): Uint8Array => file(varint((7 << 3) | 2), tail);
const deepBodies = (depth: number): Bytes =>
  depth === 0
    ? text(2, "innermost")
    : bytes(1, [
        ...text(4, "If"),
        ...bytes(5, [...text(1, "b"), ...bytes(6, deepBodies(depth - 1)), ...int(20, 5)]),
      ]);

const endless = Array.from({ length: 20 }, () => 0xff);

// prettier-ignore
const HOSTILE: readonly Hostile[] = [
  { what: "an empty file", content: file(), code: "malformed-file", says: /the model has no graph/ },
  { what: "a length behind the end", content: lying(5, 0, 0), code: "malformed-file", says: /byte 2 begins a part of 5 bytes where 2 are left/ },
  { what: "a part longer than the one around it", content: graph(bytes(5, [...int(2, 1), ...varint((9 << 3) | 2), 9])), code: "malformed-file", says: /a part of 9 bytes where 0 are left/ },
  { what: "a length of 2^53", content: lying(...varint(2 ** 53)), code: "malformed-file", says: /2\^53 or more/ },
  { what: "a length of 2^64 - 1", content: lying(...varint(-1)), code: "malformed-file", says: /2\^53 or more/ },
  { what: "a length that never ends", content: lying(...endless), code: "malformed-file", says: /more than 10 bytes/ },
  { what: "a number that never ends", content: file(varint(1 << 3), endless), code: "malformed-file", says: /more than 10 bytes/ },
  { what: "a number that is cut short", content: file(varint(1 << 3), [0x80]), code: "malformed-file", says: /cut short or damaged/ },
  { what: "a group", content: file([(3 << 3) | 3, (3 << 3) | 4]), code: "malformed-file", says: /wire type 3/ },
  { what: "a node without an operator", content: graph(bytes(1, text(3, "n"))), code: "malformed-file", says: /no op_type/ },
  { what: "a name of 64 KiB", content: graph(bytes(1, [...text(4, "Relu"), ...text(3, "x".repeat(2 ** 16 + 1))])), code: "too-large", says: /name of 65537 bytes/ },
  { what: "a tensor whose range is far more than its shape", content: graph(bytes(5, [...int(1, 1), ...int(2, 1), ...bytes(9, new Uint8Array(2 ** 17))])), code: "malformed-file", says: /float32\[1\], takes 131\d\d\d bytes/ },
  { what: "2^24 records", content: { size: 2 ** 26, read: (_, length) => new Uint8Array(length).fill(8) }, code: "too-large", says: /records/ },
  { what: "64 MiB of names", content: { size: 2 ** 40, read: (offset, length) => manyNodes(offset, length) }, code: "too-large", says: /67108864 bytes beside tensors/ },
  { what: "a source that gives too little", content: { size: 10, read: () => new Uint8Array(3) }, code: "malformed-file", says: /reading 10 bytes from byte 0 of the file gave 3 bytes/ },
  { what: "a source of no size", content: { size: NaN, read: () => new Uint8Array() }, code: "malformed-file", says: /no NaN bytes/ },
];

const NODE = file(bytes(1, [...text(4, "Relu"), ...text(3, "x".repeat(2 ** 15))]));
const NODES = file(...Array.from({ length: 4 }, () => NODE));

/** Nodes with names of 32 KiB in one graph of nearly 2^40 bytes. */
function manyNodes(offset: number, length: number): Uint8Array {
  const head = file(varint((7 << 3) | 2), varint(2 ** 40 - 8));
  const begin = Math.max(0, offset - head.length) % NODE.length;
  const lead = head.subarray(offset);
  return file(lead, NODES.subarray(begin, begin + length - lead.length));
}

for (const { what, content, code, says } of HOSTILE) {
  test(`${what} is ${code}`, () => {
    assert.throws(
      () => {
        const source = content instanceof Uint8Array ? sourceOf(content) : content;
        for (const one of readOutline(source).graph.constants) one.read();
      },
      (error) => isTensorError(error, code) && says.test(error.message),
    );
  });
}

test("bodies are read 16 deep, and more of them are no harm", () => {
  const depthOf = ({ nodes: [node] }: Graph): number => {
    const inner = node?.attributes["b"];
    return inner?.type === "other" && inner.graphs?.length ? 1 + depthOf(inner.graphs[0]) : 0;
  };
  for (const read of [readModel, (content: Uint8Array) => readOutline(sourceOf(content))]) {
    assert.equal(depthOf(read(graph(deepBodies(16))).graph), 16);
    assert.equal(depthOf(read(graph(deepBodies(100))).graph), 16);
  }
});

test("a file cut short anywhere is a model with less in it, or malformed", () => {
  const small = graph(
    bytes(5, writeTensor(some("int64", 3), "i")),
    bytes(1, constantNode("c", [...writeTensor(some("int8", 3))])),
  );
  for (let length = 0; length < small.length; length++) {
    const cut = small.subarray(0, length);
    const [left, right] = [() => readModel(cut), () => readOutline(sourceOf(cut))].map((read) => {
      try {
        return JSON.stringify(read());
      } catch (error) {
        assert.ok(isTensorError(error, "malformed-file"));
        return "malformed";
      }
    });
    assert.equal(right, left, `${length} bytes`);
  }
});

test("of 2000 files changed at random none is taken for more than it is, nor inspected with an error", () => {
  const types = { dtype: "float32", shape: ["N", 2] } as const;
  const original = writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: { data: types, updates: { ...types, shape: [2, 2] } },
      constants: { indices: tensor("int64", [2, 1], [1, -1]), w: some("float32", 300) },
      nodes: [
        {
          op: "Constant",
          inputs: [],
          outputs: ["i"],
          attributes: { value: tensor("int64", [2, 2], [0, 1, 1, 0]) },
        },
        {
          op: "ScatterND",
          name: "s",
          inputs: ["data", "indices", "updates"],
          outputs: ["y"],
          attributes: { reduction: "mul" },
        },
        { op: "GatherElements", inputs: ["y", "i"], outputs: ["z"], attributes: { axis: 1 } },
        {
          op: "ScatterElements",
          inputs: ["y", "i", "updates"],
          outputs: ["v"],
          attributes: { axis: 1 },
        },
        { op: "GatherND", inputs: ["w", "indices"], outputs: ["u"] },
      ],
      outputs: { z: types },
    }),
  );
  const next = random(21);
  let taken = 0;
  for (let i = 0; i < 2000; i++) {
    const mutant = mutate(original, next);
    let model: Model;
    try {
      model = readOutline(sourceOf(mutant));
    } catch (error) {
      if (!isTensorError(error)) throw new Error(`mutant ${i}`, { cause: error });
      continue;
    }
    taken++;
    try {
      inspectModel(model);
    } catch (error) {
      throw new Error(`mutant ${i} (${[...mutant].join()})`, { cause: error });
    }
  }
  assert.ok(taken > 200 && taken < 1900, `${taken} were taken`);
});
