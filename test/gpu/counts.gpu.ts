/**
 * Commands, dispatches and bytes of calls, which the engine counts. Each row is counted by hand: more than that would be a
 * pass that a device does for nothing.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { WORK } from "../../src/gpu/kernels/recording.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { engine } from "./gpu.ts";
import { assertSame, js } from "./ways.ts";

/** What a call gives the device to do, and its result. */
async function counted(call: () => GpuTensor): Promise<typeof WORK & { readonly result: Tensor }> {
  // What was pending would be an input whose call may have failed.
  await engine.done();
  const before = { ...WORK };
  const made = call();
  const after = { ...WORK };
  const of = (name: keyof typeof WORK): number => after[name] - before[name];
  const result = await made.read();
  return {
    ...{ submits: of("submits"), commands: of("commands"), dispatches: of("dispatches") },
    ...{ passes: of("passes"), bytes: of("bytes"), result },
  };
}

/** Rows of indices that are spread over `below` by a multiplier without common divisors. */
function spread(type: "int32" | "int64", count: number, below: number): Tensor {
  const values = Array.from({ length: count }, (_, i) => (i * 7919) % below);
  return tensor(type, [count, 1], values);
}

const MB = 1e6;

test("a million sums of floats in a million cells: at most 20 dispatches and 100 MB", async () => {
  const [rows, columns, count] = [1024, 1024, 1_000_000];
  const random = randomFrom(3);
  const data = randomTensor("float32", [rows, columns], random);
  const words = new BigInt64Array(2 * count);
  for (let p = 0; p < words.length; p++) words[p] = BigInt(random(1024));
  const indices = new Tensor("int64", [count, 2], 2 * count, words);
  const updates = randomTensor("float32", [count], random);
  const [a, b, c] = [data, indices, updates].map((one) => engine.upload(one));
  const options = { reduction: "add" } as const;
  const { commands, dispatches, submits, bytes, result } = await counted(() =>
    engine.scatterND(a, b, c, options),
  );
  assertSame(result, js.scatterND(data, indices, updates, options), "a million sums");
  // Checks in 3; two passes of the sort in 3 each; the sums; 64 of 66 blocks by 8.
  assert.equal(dispatches, 3 + 6 + 1 + 8);
  assert.ok(dispatches <= 20);
  // The copy of data, and the totals of digits, which begin with 0.
  assert.equal(commands, dispatches + 2);
  assert.equal(submits, 8);
  // Indices 16 and targets 4, data 8.4; the sort 16 and 20, and its sums; sums of floats 20.
  assert.ok(bytes <= 100 * MB && bytes >= 84 * MB, `${bytes} bytes`);
  for (const one of [a, b, c]) one.dispose();
});

/** Heads of a decoder: the cache, and one position of each head of each batch. */
const CACHE = [8, 32, 64, 16];
const HEADS = Array.from({ length: 8 * 32 }, (_, head) => [head >> 5, head & 31, (head * 7) % 64]);

test("an append to a KV cache: at most 4 commands with indices on the GPU, 1 with those of the host", async () => {
  const random = randomFrom(5);
  const data = randomTensor("float32", CACHE, random);
  const updates = randomTensor("float32", [8, 32, 16], random);
  const indices = tensor("int64", [8, 32, 3], HEADS.flat());
  const [cache, values, here] = [data, updates, indices].map((one) => engine.upload(one));
  const expected = js.scatterND(data, indices, updates);
  const starts = tensor("int64", [8], [3, 9, 0, 1, 60, 5, 63, 2]);
  const token = randomTensor("float32", [8, 32, 1, 16], random);
  const appended = js.tensorScatter(expected, token, starts, { axis: 2 });
  const [tokens, positions] = [token, starts].map((one) => engine.upload(one));
  const out = { out: cache };
  const rows: readonly (readonly [string, number, Tensor, () => GpuTensor])[] = [
    [
      "of ScatterND, indices on the GPU",
      3,
      expected,
      () => engine.scatterND(cache, here, values, out),
    ],
    [
      "of ScatterND, indices of the host",
      1,
      expected,
      () => engine.scatterND(cache, indices, values, out),
    ],
    [
      "of TensorScatter, positions on the GPU",
      2,
      appended,
      () => engine.tensorScatter(cache, tokens, positions, { ...out, axis: 2 }),
    ],
    [
      "of TensorScatter, positions of the host",
      1,
      appended,
      () => engine.tensorScatter(cache, tokens, starts, { ...out, axis: 2 }),
    ],
  ];
  for (const [name, most, right, call] of rows) {
    const { commands, dispatches, submits, bytes, result } = await counted(call);
    assertSame(result, right, name);
    assert.deepEqual(
      { commands, dispatches, submits },
      { commands: most, dispatches: most, submits: 1 },
      name,
    );
    // The cache has 1 MB, the values that are appended 16 kB.
    assert.ok(bytes < 0.06 * MB, `${name}: ${bytes} bytes`);
  }
  for (const one of [cache, values, here, tokens, positions]) one.dispose();
});

test("a sequence of many positions is appended without looking for winners", async () => {
  const random = randomFrom(6);
  const data = randomTensor("float32", [8, 32, 64, 4], random);
  const token = randomTensor("float32", [8, 32, 3, 4], random);
  const starts = tensor("int32", [8], [3, 9, 0, 1, 60, 5, 61, 2]);
  const [cache, tokens, positions] = [data, token, starts].map((one) => engine.upload(one));
  for (const mode of ["linear", "circular"] as const) {
    const options = { axis: 2, mode } as const;
    const expected = js.tensorScatter(data, token, starts, options);
    const { commands, result } = await counted(() =>
      engine.tensorScatter(cache, tokens, positions, options),
    );
    assertSame(result, expected, mode);
    // Checks in 3, the copy of data, the tokens.
    assert.equal(commands, 5, mode);
  }
  for (const one of [cache, tokens, positions]) one.dispose();
});

test("rows into another tensor are pulled", async () => {
  const [rows, columns, count] = [1000, 128, 2000];
  const random = randomFrom(7);
  for (const dtype of ["float32", "int8"] as const satisfies readonly DType[]) {
    const data = randomTensor(dtype, [rows, columns], random);
    const updates = randomTensor(dtype, [count, columns], random);
    const indices = spread("int64", count, rows);
    const [a, b, c] = [data, indices, updates].map((one) => engine.upload(one));
    const out = engine.upload(zeros(dtype, [rows, columns]));
    const expected = js.scatterND(data, indices, updates);
    for (const [name, options] of Object.entries({ new: {}, given: { out } })) {
      const { commands, bytes, result } = await counted(() => engine.scatterND(a, b, c, options));
      assertSame(result, expected, `${dtype}, ${name}`);
      // Checks in 3; the table is cleared and filled; the result.
      assert.equal(commands, 6, name);
      const moved = 2 * rows * columns * (dtype === "int8" ? 1 : 4);
      const table = 16 * rows + 4 * count;
      const read = 12 * count;
      assert.equal(bytes - moved - table - read, 64, name);
    }
    for (const one of [a, b, c, out]) one.dispose();
  }
});

test("winners that would take a long table are not pulled", async () => {
  const data = zeros("float32", [100_000]);
  const indices = spread("int32", 300, 100_000);
  const updates = randomTensor("float32", [300], randomFrom(8));
  const [a, b, c] = [data, indices, updates].map((one) => engine.upload(one));
  const { commands, bytes, result } = await counted(() => engine.scatterND(a, b, c));
  assertSame(result, js.scatterND(data, indices, updates), "a long table");
  // Checks in 3; entries cleared, filled and read; the copy; the updates.
  assert.equal(commands, 8);
  assert.ok(bytes < 0.83 * MB, `${bytes} bytes`);
  for (const one of [a, b, c]) one.dispose();
});

test("a sort has no pass for bits that no target has, and knows one cell without any", async () => {
  const random = randomFrom(9);
  const updates = randomTensor("float32", [500], random);
  const options = { reduction: "add" } as const;
  // Checks, the copy, the totals, three dispatches a pass, the sums.
  const commandsOf = (passes: number): number => 3 + 1 + (passes === 0 ? 1 : 1 + 3 * passes) + 1;
  for (const [cells, passes, bounds] of [
    [1, 0, "error"],
    [2, 1, "error"],
    [1024, 1, "error"],
    [1025, 2, "error"],
    [1023, 1, "drop"],
    // A value above the greatest target stands for what is left out.
    [1024, 2, "drop"],
    [1, 1, "drop"],
  ] as const) {
    const data = randomTensor("float32", [cells], random);
    const indices = spread("int32", 500, bounds === "drop" ? cells + 9 : cells);
    const [a, b, c] = [data, indices, updates].map((one) => engine.upload(one));
    const all = { ...options, bounds };
    const { commands, result } = await counted(() => engine.scatterND(a, b, c, all));
    assertSame(result, js.scatterND(data, indices, updates, all), `${cells} cells, ${bounds}`);
    assert.equal(commands, commandsOf(passes), `${cells} cells, ${bounds}`);
    for (const one of [a, b, c]) one.dispose();
  }
});
