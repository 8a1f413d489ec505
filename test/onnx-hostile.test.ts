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
import { bytes, file, int, mutate, numbers, random, text } from "./onnx-encoder.ts";
import { WITHOUT_NODE } from "./support/platform.ts";

const MUTATIONS = 2000;
const SEED = 20;

const TENSORS: readonly Uint8Array[] = [
  ...DTYPE_NAMES.map((dtype) => writeTensor(zeros(dtype, [2, 3]), "name")),
  ...DTYPE_NAMES.filter((dtype) => DTYPES[dtype].onnx.field === "int32Data").map((dtype) =>
    file(int(1, 3), int(2, DTYPES[dtype].onnx.number), numbers(5, [0, 1, 1], "varint", true)),
  ),
  file(int(1, 3), int(2, 7), numbers(7, [-1, 0, 2n ** 40n], "varint", false)),
  file(int(1, 1), int(2, 14), numbers(4, [1, 2], "float", true)),
  file(
    int(1, 2),
    int(2, 1),
    int(14, 1),
    bytes(13, [...text(1, "location"), ...text(2, "w.bin")]),
    bytes(13, [...text(1, "offset"), ...text(2, "16")]),
  ),
];

const types = { dtype: "float32", shape: ["N", 2] } as const;
const MODEL = writeModel(
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: types, updates: { ...types, shape: [1, 2] } },
    constants: { indices: tensor("int64", [1, 1], [1]) },
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
  const { taken, refused } = fuzz([MODEL], (mutant) => {
    const model = readModel(mutant);
    for (const one of model.graph.constants) attempt(() => one.read());
    assert.equal(readModel(writeModel(model)).graph.nodes.length, model.graph.nodes.length);
    if (attempt(() => runModel(model, inputs))) runs++;
  });
  assert.ok(
    taken > MUTATIONS / 20 && refused > MUTATIONS / 4,
    `${taken} taken, ${refused} refused`,
  );
  assert.ok(runs > MUTATIONS / 50 && runs < taken, `${runs} run`);
});

/** Whether `action` goes through; anything but a TensorError is a failure of the test. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (isTensorError(error)) return false;
    throw error;
  }
}

test("every prefix of a model and of a tensor", () => {
  for (const whole of [MODEL, ...TENSORS]) {
    for (let length = 0; length < whole.length; length++) {
      const prefix = whole.subarray(0, length);
      attempt(() => readTensor(prefix, { external: () => new Uint8Array() }));
      attempt(() => readModel(prefix));
    }
  }
});

test("deep nesting is not followed", () => {
  // A graph in an attribute of a node in a graph, and so on; lengths are those of what is left.
  let nested: Uint8Array = file(text(4, "Foo"));
  for (let depth = 0; depth < 500; depth++) {
    nested = file(
      text(4, "If"),
      bytes(5, [...text(1, "then_branch"), ...bytes(6, bytes(1, nested)), ...int(20, 5)]),
    );
  }
  const model = readModel(file(bytes(7, bytes(1, nested)), bytes(8, int(2, 18))));
  assert.equal(model.graph.nodes[0].attributes["then_branch"].type, "other");
  assert.ok(writeModel(model).length > nested.length);
  // An unknown field that opens a million groups.
  const groups = new Uint8Array(2 ** 20).fill((12 << 3) | 3);
  assert.throws(
    () => readModel(groups),
    (error) => isTensorError(error, "malformed-file"),
  );
  assert.throws(
    () => readTensor(groups),
    (error) => isTensorError(error, "malformed-file"),
  );
});

/** Three million times the same tag, with nothing in it. */
function dense(tag: number): Uint8Array {
  const inner = new Uint8Array(6_000_000);
  for (let i = 0; i < inner.length; i += 2) inner[i] = tag;
  return inner;
}

test("a file of nothing but empty parts is not blown up", () => {
  const wrap = (graph: Uint8Array): Uint8Array =>
    file([0x3a], int(0, graph.length).slice(1), graph);
  // Nodes, constants, inputs, metadata and names of nothing.
  for (const tag of [0x0a, 0x2a, 0x5a, 0x7a, 0x6a]) {
    assert.throws(
      () => readModel(wrap(dense(tag))),
      (error) => isTensorError(error, "too-large"),
    );
  }
  assert.throws(
    () => readTensor(dense(0x08)),
    (error) => isTensorError(error, "malformed-file"),
  );
});

test("values are counted before any of them is made", { skip: WITHOUT_NODE }, () => {
  // A million unpacked ones, of four fields.
  const before = process.memoryUsage().arrayBuffers;
  for (const tag of [0x28, 0x32, 0x38, 0x58]) {
    const values = dense(tag).subarray(0, 2_000_000);
    assert.throws(
      () => readTensor(file(int(1, 2), int(2, 7), values)),
      (error) => isTensorError(error, "malformed-file"),
    );
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 26);
});
