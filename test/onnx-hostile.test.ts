/** Files that were changed at random, and files made to hurt: nothing but TensorError may come out. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES, DTYPES } from "../src/tensor/dtype.ts";
import { isTensorError } from "../src/errors.ts";
import {
  buildModel,
  readModel,
  readTensor,
  runModel,
  writeModel,
  writeTensor,
} from "../src/onnx/index.ts";
import { zeros, tensor, type Tensor } from "../src/tensor/tensor.ts";
import { RICH_MODEL } from "./cases/onnx-rich.ts";
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
import {
  attribute,
  ATTRIBUTE,
  entry,
  external,
  FUNCTION,
  GRAPH,
  head,
  MODEL,
  modelFile,
  NODE,
  TENSOR,
} from "./support/onnx-parts.ts";
import { WITHOUT_NODE } from "./support/platform.ts";
import { assertRefused, isTaken } from "./support/refusal.ts";

const MUTATIONS = 2000;
const SEED = 20;

const TENSORS: readonly Uint8Array[] = [
  ...DTYPE_NAMES.map((dtype) => writeTensor(zeros(dtype, [2, 3]), "name")),
  ...DTYPE_NAMES.filter((dtype) => DTYPES[dtype].onnx.field === "int32Data").map((dtype) =>
    file(head(dtype, 3), numbers(TENSOR.int32Data, [0, 1, 1], "varint", true)),
  ),
  file(head("int64", 3), numbers(TENSOR.int64Data, [-1, 0, 2n ** 40n], "varint", false)),
  file(head("complex64", 1), numbers(TENSOR.floatData, [1, 2], "float", true)),
  file(head("float32", 2), external({ location: "w.bin", offset: "16" })),
];

const types = { dtype: "float32", shape: ["N", 2] } as const;
const INDICES = tensor("int64", [2, 2], [0, 1, 1, 0]);
const RUNNABLE = writeModel(
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: types, updates: { ...types, shape: [1, 2] } },
    constants: { indices: tensor("int64", [1, 1], [1]) },
    nodes: [
      { op: "Constant", inputs: [], outputs: ["i"], attributes: { value: INDICES } },
      {
        op: "ScatterND",
        name: "s",
        inputs: ["data", "indices", "updates"],
        outputs: ["y"],
        attributes: { reduction: "mul" },
      },
      { op: "GatherElements", inputs: ["y", "i"], outputs: ["z"], attributes: { axis: 1 } },
      { op: "Identity", inputs: ["z"], outputs: ["out"] },
    ],
    outputs: { out: types },
  }),
);

/** Runs `action` on mutants; how many came through, and how many were refused. */
function fuzz(
  originals: readonly Uint8Array[],
  action: (mutant: Uint8Array) => void,
): { taken: number; refused: number } {
  const next = random(SEED);
  const count = { taken: 0, refused: 0 };
  for (let i = 0; i < MUTATIONS; i++) {
    const mutant = mutate(originals[i % originals.length], next);
    try {
      action(mutant);
      count.taken++;
    } catch (error) {
      if (!isTensorError(error)) {
        throw new Error(`mutant ${i} of seed ${SEED} (${[...mutant].join()})`, { cause: error });
      }
      count.refused++;
    }
  }
  return count;
}

test(`${MUTATIONS} mutated tensors`, () => {
  const external = (_location: string, _offset: number, length: number): Uint8Array =>
    new Uint8Array(Math.min(length, 64));
  const { taken, refused } = fuzz(TENSORS, (mutant) => {
    const read = readTensor(mutant, { external });
    readTensor(writeTensor(read));
    read.toArray();
  });
  assert.ok(
    taken > MUTATIONS / 20 && refused > MUTATIONS / 3,
    `${taken} taken, ${refused} refused`,
  );
});

test(`${MUTATIONS} mutated models`, () => {
  const inputs: Record<string, Tensor> = {
    data: zeros("float32", [2, 2]),
    updates: zeros("float32", [1, 2]),
  };
  let runs = 0;
  const { taken, refused } = fuzz([RUNNABLE], (mutant) => {
    const model = readModel(mutant);
    for (const one of model.graph.constants) isTaken(() => one.read());
    assert.equal(readModel(writeModel(model)).graph.nodes.length, model.graph.nodes.length);
    if (isTaken(() => runModel(model, inputs))) runs++;
  });
  assert.ok(
    taken > MUTATIONS / 20 && refused > MUTATIONS / 4,
    `${taken} taken, ${refused} refused`,
  );
  assert.ok(runs > MUTATIONS / 50 && runs < taken, `${runs} run`);
});

test(`${MUTATIONS} mutants of a model with everything in it`, () => {
  const { taken, refused } = fuzz([RICH_MODEL], (mutant) => {
    const written = writeModel(readModel(mutant));
    // What is written once is written the same for ever.
    assert.deepEqual(writeModel(readModel(written)), written);
  });
  assert.ok(
    taken > MUTATIONS / 20 && refused > MUTATIONS / 4,
    `${taken} taken, ${refused} refused`,
  );
});

test("every prefix of a model and of a tensor", () => {
  for (const whole of [RUNNABLE, RICH_MODEL, ...TENSORS]) {
    for (let length = 0; length < whole.length; length++) {
      const prefix = whole.subarray(0, length);
      isTaken(() => readTensor(prefix, { external: () => new Uint8Array() }));
      isTaken(() => readModel(prefix));
    }
  }
});

test("deep nesting is not followed", () => {
  // A graph in an attribute of a node in a graph, and so on; lengths are those of what is left.
  let nested: Uint8Array = file(text(NODE.opType, "Foo"));
  for (let depth = 0; depth < 500; depth++) {
    const body = bytes(GRAPH.node, nested);
    nested = file(
      text(NODE.opType, "If"),
      attribute("then_branch", "GRAPH", bytes(ATTRIBUTE.g, body)),
    );
  }
  const model = readModel(modelFile(bytes(GRAPH.node, nested)));
  assert.equal(model.graph.nodes[0].attributes["then_branch"].type, "other");
  assert.ok(writeModel(model).length > nested.length);
  // An unknown field that opens a million groups.
  const groups = new Uint8Array(2 ** 20).fill((12 << 3) | 3);
  assertRefused("malformed-file", /wire type 3/, () => readModel(groups));
  assertRefused("malformed-file", /wire type 3/, () => readTensor(groups));
});

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
    assertRefused("too-large", /the model has more than \d+ (parts|numbers and texts)/, () =>
      readModel(content),
    );
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
  assertRefused("too-large", /more than 87381 parts/, () => readModel(unnamed(87_381)));
});

test("a large file may have 2^21 parts", () => {
  /** A graph with so many numbers of an unknown field, of 8 bytes each. */
  const unknown = (count: number): Uint8Array => modelOf(dense(count, int(99, 2 ** 36)));
  assert.equal(readModel(unknown(2 ** 21 - 1)).graph.nodes.length, 0);
  assertRefused("too-large", /more than 2097152 parts/, () => readModel(unknown(2 ** 21)));
});

test("a tensor of nothing but dimensions is no tensor", () => {
  assertRefused("malformed-file", /more than 64 dimensions/, () =>
    readTensor(dense(4e5, int(TENSOR.dims, 0))),
  );
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
    assertRefused("malformed-file", /needs 2 values|not in int64Data/, () =>
      readTensor(file(head("int64", 2), values)),
    );
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 26);
});

test("a tensor of a million entries of external data is refused at the second of one name", () => {
  const entries = dense(1e5, bytes(TENSOR.externalData, entry("k", "v")));
  assertRefused("malformed-file", /two external "k"/, () =>
    readTensor(file(head("int8", 1), entries)),
  );
});
