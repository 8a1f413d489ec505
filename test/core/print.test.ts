/** How tensors read, in Node's console too. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { printTensor } from "../../src/core/tensor/print.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { Values } from "../../src/core/tensor/arguments.ts";
import { PRINTS } from "../fixtures/prints.ts";
import { WITHOUT_NODE } from "../support/platform.ts";

const count = (length: number): number[] => Array.from({ length }, (_, i) => i);

for (const { numpy, dtype, shape, values, text } of PRINTS) {
  test(`reads like ${numpy}`, () => {
    const built = tensor(dtype, shape, values as Values);
    assert.equal(String(built), text.join("\n"));
  });
}

test("Node's console shows the same", { skip: WITHOUT_NODE }, async () => {
  const { inspect } = await import("node:util");
  for (const { dtype, shape, values, text } of PRINTS) {
    assert.equal(inspect(tensor(dtype, shape, values as Values)), text.join("\n"));
  }
});

test("a tensor whose memory is gone says so", () => {
  const built = tensor("float32", [2, 3], new Float32Array(6));
  structuredClone(built.data, { transfer: [built.data.buffer as ArrayBuffer] });
  assert.equal(String(built), "tensor(<disposed>, shape=(2, 3), dtype=float32)");
  const scalar = tensor("int64", [], 1n);
  structuredClone(scalar.data, { transfer: [scalar.data.buffer as ArrayBuffer] });
  assert.equal(String(scalar), "tensor(<disposed>, shape=(), dtype=int64)");
});

test("a thousand elements are shown", () => {
  assert.equal(String(zeros("int8", [1000])).match(/0(?=[,\]])/g)?.length, 1000);
});

test("only the elements that are shown are read", () => {
  const texts = count(1_000_000).map(String);
  const read = new Set<string>();
  const data = new Proxy(texts, {
    get(target, key) {
      if (key !== "length") read.add(String(key));
      return Reflect.get(target, key);
    },
  });
  const lines = printTensor({ dtype: "string", shape: [1000, 1000], size: 1_000_000, data }).split(
    "\n",
  );
  assert.equal(lines[0], "tensor([['0', '1', '2', ..., '997', '998', '999'],");
  assert.equal(read.size, 36);
});

test("64 axes are not too many", () => {
  const shape = count(64).map(() => 1);
  const text = `tensor(${"[".repeat(64)}7${"]".repeat(64)},\n       dtype=int8)`;
  assert.equal(String(tensor("int8", shape, [7])), text);
});

test("what would be far too long for people is dots", () => {
  const twos = (rank: number): number[] => count(rank).map(() => 2);
  const texts = (length: number): string => String(tensor("string", [], "x".repeat(length)));
  assert.equal(String(zeros("int8", twos(16))).match(/0(?=[,\]])/g)?.length, 2 ** 16);
  const isDots = /^tensor\(\[\.\.\.\],\s+shape=\((\d+, )+\d+\), dtype=int8\)$/;
  assert.match(String(zeros("int8", twos(17))), isDots);
  const most = zeros("int8", [4, 4, 2, 5, 5, 5, 5, 5]);
  assert.equal(String(most).match(/0(?=[,\]])/g)?.length, 1e5);
  // Of 8 places along an axis 6 are shown: 6^6 elements are few enough, 6^7 are not.
  assert.ok(
    String(
      zeros(
        "int8",
        count(6).map(() => 8),
      ),
    ).startsWith("tensor([[[[[[0, 0, 0, ..., 0, 0, 0],"),
  );
  assert.match(
    String(
      zeros(
        "int8",
        count(7).map(() => 8),
      ),
    ),
    isDots,
  );
  assert.equal(texts(1e6).length, 1e6 + "tensor('',\n       dtype=string)".length);
  assert.equal(texts(1e6 + 1), "tensor(..., shape=(), dtype=string)");
});

test("a tensor that was disposed of says so, also where its memory is still there", () => {
  const one = tensor("int8", [2], [1, 2]);
  one.dispose();
  assert.equal(String(one), "tensor(<disposed>, shape=(2,), dtype=int8)");
});
