/**
 * Files that were changed at random, and files made to hurt: nothing but TensorError may come out. Great sizes are in
 * `test/nightly/onnx-limits.test.ts`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import { isTensorError } from "../../src/core/errors.ts";
import {
  buildModel,
  readModel,
  readTensor,
  runModel,
  writeModel,
  writeTensor,
} from "../../src/entries/onnx.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { RICH_MODEL } from "../fixtures/onnx-rich.ts";
import { bytes, file, mutate, numbers, text } from "../support/onnx-encoder.ts";
import {
  attribute,
  ATTRIBUTE,
  external,
  GRAPH,
  head,
  modelFile,
  NODE,
  TENSOR,
} from "../support/onnx-parts.ts";
import { fieldOf } from "../../src/models/onnx/tensor-proto.ts";
import { assertRefused, isTaken } from "../support/refusal.ts";
import { caseCount } from "../support/cases.ts";
import { randomFrom, SEED } from "../support/random.ts";

const MUTATIONS = caseCount(2000, 4);

const TENSORS: readonly Uint8Array[] = [
  ...DTYPE_NAMES.map((dtype) => writeTensor(zeros(dtype, [2, 3]), "name")),
  ...DTYPE_NAMES.filter((dtype) => fieldOf(dtype) === "int32Data").map((dtype) =>
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
  const next = randomFrom(20);
  const count = { taken: 0, refused: 0 };
  for (let i = 0; i < MUTATIONS; i++) {
    const mutant = mutate(originals[i % originals.length], next);
    try {
      action(mutant);
      count.taken++;
    } catch (error) {
      if (!isTensorError(error)) {
        throw new Error(`mutant ${i} of SEED=${SEED} (${[...mutant].join()})`, { cause: error });
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
    taken > MUTATIONS / 40 && refused > MUTATIONS / 6,
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
    taken > MUTATIONS / 40 && refused > MUTATIONS / 8,
    `${taken} taken, ${refused} refused`,
  );
  assert.ok(runs > 0 && runs < taken, `${runs} run`);
});

test(`${MUTATIONS} mutants of a model with everything in it`, () => {
  const { taken, refused } = fuzz([RICH_MODEL], (mutant) => {
    const written = writeModel(readModel(mutant));
    // What is written once is written the same for ever.
    assert.deepEqual(writeModel(readModel(written)), written);
  });
  assert.ok(
    taken > MUTATIONS / 40 && refused > MUTATIONS / 8,
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
  // A number, without which this would be text, and an unknown field that opens a million groups.
  const groups = new Uint8Array(2 ** 20).fill((12 << 3) | 3);
  groups.set([1 << 3, 0]);
  assertRefused("malformed-file", {}, () => readModel(groups));
  assertRefused("malformed-file", {}, () => readTensor(groups));
});
