/**
 * ONNX's Cast of floats of at most 8 bits, bit for bit as `test/fixtures/narrow-floats.py` recorded it: every float16,
 * ties and their neighbors, numbers out of range, NaN with both signs, and every bit pattern of the narrow floats.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import {
  allocate,
  DTYPES,
  viewOf,
  type DType,
  type NumericStorage,
} from "../../src/core/tensor/dtype.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import { buildModel, runModel, type ModelNodeSpec } from "../../src/entries/onnx.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";
import { ROOT } from "../support/root.ts";

function cast(input: Tensor, to: DType, attributes: ModelNodeSpec["attributes"] = {}): Tensor {
  const { number } = DTYPES[to].onnx;
  const node = {
    op: "Cast",
    inputs: ["x"],
    outputs: ["y"],
    attributes: { to: number, ...attributes },
  };
  const inputs = { x: { dtype: input.dtype, shape: null } };
  const model = buildModel({
    opsets: { "ai.onnx": 28 },
    inputs,
    outputs: { y: null },
    nodes: [node],
  });
  return runModel(model, { x: input })["y"];
}

/** Returns a tensor of elements, each given by its bits in hexadecimal digits. */
function ofBits(dtype: DType, bits: readonly string[]): Tensor {
  const { bytes } = DTYPES[dtype];
  const stored = bytesOf(allocate(dtype, bits.length) as NumericStorage);
  for (const [p, digits] of bits.entries())
    stored.set(Buffer.from(digits, "hex").reverse(), p * bytes);
  return new Tensor(dtype, [bits.length], bits.length, viewOf(dtype, stored.buffer));
}

/** Returns the bits of each element in hexadecimal digits. */
function bitsOf({ dtype, size, data }: Tensor): string[] {
  const { bytes } = DTYPES[dtype];
  const stored = bytesOf(data as NumericStorage);
  return Array.from({ length: size }, (_, p) =>
    Buffer.from(stored.subarray(p * bytes, (p + 1) * bytes))
      .reverse()
      .toString("hex"),
  );
}

const hex = (bits: number, bytes: number): string => bits.toString(16).padStart(2 * bytes, "0");

type Pair = readonly [bits: string, result: string];

/** Returns the inputs of a line of the file, and their results. */
function pairsOf(from: DType, to: DType, words: readonly string[]): readonly Pair[] {
  const [first] = words;
  if (!first.includes(":")) {
    const digits = 2 * DTYPES[to].bytes;
    return Array.from({ length: first.length / digits }, (_, bits): Pair => [
      hex(bits, 1),
      first.slice(bits * digits, (bits + 1) * digits),
    ]);
  }
  const pairs = words.map((word): Pair => {
    const [bits, result] = word.split(":");
    return [bits, result];
  });
  if (from !== "float16") return pairs;
  const changes = new Map(pairs);
  let result = "";
  return Array.from({ length: 2 ** 16 }, (_, p): Pair => {
    const bits = hex(p, 2);
    result = changes.get(bits) ?? result;
    return [bits, result];
  });
}

const FILE = path.join(ROOT, "test/fixtures/narrow-floats.txt");

for (const line of readFileSync(FILE, "utf8").trimEnd().split("\n")) {
  const [from, to, saturate, mode, ...words] = line.split(" ");
  test(`Cast of ${from} to ${to}, saturate ${saturate}, round_mode ${mode}`, () => {
    const pairs = pairsOf(from as DType, to as DType, words);
    const input = ofBits(
      from as DType,
      pairs.map(([bits]) => bits),
    );
    const made = bitsOf(cast(input, to as DType, { saturate: Number(saturate), round_mode: mode }));
    const wrong = pairs.findIndex(([, result], p) => result !== made[p]);
    if (wrong !== -1) assert.fail(`${pairs[wrong][0]} is ${made[wrong]}, not ${pairs[wrong][1]}`);
  });
}

test("Cast saturates and rounds up by default", () => {
  const input = tensor("float32", [3], [1e9, 2.1, -0]);
  for (const [to, bits] of [
    ["float8e5m2", ["7b", "40", "80"]],
    ["float8e8m0", ["9d", "81", "00"]],
    ["float6e3m2", ["1f", "10", "20"]],
  ] as const) {
    assert.deepEqual(bitsOf(cast(input, to)), bits);
  }
});

test("floats wrap around in integers of 4 and 2 bits, as ONNX's node tests expect", () => {
  // The results of onnx 1.23.2's reference, and for whole numbers of ONNX Runtime 1.32.
  const input = tensor("float32", [8], [-9, -8.9, 7.9, 17, 300, -129, 70000, -1]);
  for (const [to, values] of [
    ["int4", [7, -8, 7, 1, -4, -1, 0, -1]],
    ["uint4", [7, 8, 7, 1, 12, 15, 0, 15]],
    ["int2", [-1, 0, -1, 1, 0, -1, 0, -1]],
    ["uint2", [3, 0, 3, 1, 0, 3, 0, 3]],
  ] as const)
    assert.deepEqual(cast(input, to).toArray(), values);
  for (const value of [2 ** 31, Infinity, NaN])
    assertRefused("dtype", { op: "Cast", input: "input", at: [0] }, () =>
      cast(tensor("float32", [1], [value]), "int4"),
    );
});

// prettier-ignore
const REFUSED: readonly (readonly [what: string, ModelNodeSpec["attributes"], Facts])[] = [
  ["2", { saturate: 2 }, { key: "saturate", got: 2 }],
  ["a float", { saturate: { type: "float", value: 1 } }, { key: "saturate", got: 1 }],
  ["an unknown word", { round_mode: "even" }, { key: "round_mode", got: "even" }],
  ["a number", { round_mode: 1 }, { key: "round_mode", got: 1 }],
];

for (const [what, attributes, facts] of REFUSED) {
  test(`Cast with ${what} for ${String(facts.key)} is refused`, () => {
    assertRefused("attribute", { op: "Cast", opset: 28, ...facts }, () =>
      cast(tensor("float32", [1], [1]), "float8e8m0", attributes),
    );
  });
}
