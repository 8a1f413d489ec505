/**
 * Sizes at which a call no longer fits into one dispatch: more than 65,535 workgroups of 128, and a cell that millions of
 * updates meet, one after the other, although a driver ends what runs for 2 seconds. And whether a result is the same in
 * each of 100 runs.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType, Reduction } from "../../src/core/tensor/dtype.ts";
import { allocate } from "../../src/core/tensor/dtype.ts";
import { Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { engine } from "./gpu.ts";
import { assertSame, js } from "./ways.ts";

/** More than 65,535 workgroups of 128 invocations, whatever one of them does at once. */
const MANY = 65_536 * 128 + 77;

/** Values with which no sum, difference or product outgrows its type, or comes to rest at 0, for a long while. */
function modest(dtype: DType, size: number): Tensor {
  const data = allocate(dtype, size);
  const random = randomFrom(size);
  for (let i = 0; i < size; i++) {
    // Of floats every second is the inverse of the one before it, and half are negative.
    const before = i % 2 === 1 ? Number(data[i - 1]) : 0;
    const sign = random(2);
    if (dtype === "float32") {
      const value = before === 0 ? 0.75 + random(1000) / 1999 : 1 / before;
      data[i] = (sign === 0 ? value : -value) as never;
    } else if (dtype === "float16")
      data[i] = (0x3c00 + random(0x200) - 0x100 + 0x8000 * sign) as never;
    else if (dtype === "bfloat16")
      data[i] = (0x3f80 + random(0x20) - 0x10 + 0x8000 * sign) as never;
    else data[i] = (dtype === "int64" ? BigInt(random(7)) * 2n - 5n : random(7)) as never;
  }
  return new Tensor(dtype, [size], size, data);
}

function spread(count: number, below: number): Tensor {
  const data = new Int32Array(count);
  for (let i = 0; i < count; i++) data[i] = Math.imul(i, 2_654_435_763) >>> 1;
  for (let i = 0; i < count; i++) data[i] %= below;
  return new Tensor("int32", [count, 1], count, data);
}

async function compare(result: GpuTensor, expected: Tensor, used: readonly GpuTensor[]) {
  assertSame(await result.read(), expected, "large");
  for (const one of new Set([result, ...used])) one.dispose();
}

// Other types cross the same limits where those are shrunken: `limits.gpu.ts`.
test(`a gather of ${MANY} elements of int8`, async () => {
  const data = randomTensor("int8", [1009], randomFrom(5));
  const indices = spread(MANY, 1009);
  const used = [engine.upload(data), engine.upload(indices)];
  await compare(engine.gatherND(used[0], used[1]), js.gatherND(data, indices), used);
});

test(`a scatter of ${MANY} elements of float32`, async () => {
  const data = zeros("float32", [MANY]);
  const updates = modest("float32", MANY);
  const indices = spread(MANY, MANY);
  const used = [data, indices, updates].map((one) => engine.upload(one));
  await compare(
    engine.scatterND(used[0], used[1], used[2]),
    js.scatterND(data, indices, updates),
    used,
  );
});

test(`sums of ${MANY} integers`, async () => {
  const data = zeros("int32", [4099]);
  const updates = modest("int32", MANY);
  const indices = spread(MANY, 4099);
  const used = [data, indices, updates].map((one) => engine.upload(one));
  const result = engine.scatterND(used[0], used[1], used[2], { reduction: "add" });
  await compare(result, js.scatterND(data, indices, updates, { reduction: "add" }), used);
});

test(`a slice of ${MANY} elements is moved whole`, async () => {
  const data = randomTensor("uint8", [3, MANY], randomFrom(6));
  const indices = new Tensor("int32", [2], 2, Int32Array.of(2, 0));
  const used = [engine.upload(data)];
  await compare(engine.gather(used[0], indices), js.gather(data, indices), used);
});

test(`sums of a slice of ${MANY} elements, which are made in order`, async () => {
  const [data, updates] = [modest("float32", MANY), modest("float32", MANY + 1)].map(
    ({ data }) => new Tensor("float32", [1, MANY], MANY, data.slice(0, MANY) as Float32Array),
  );
  const indices = new Tensor("int32", [1, 1], 1, new Int32Array(1));
  const used = [data, indices, updates].map((one) => engine.upload(one));
  const result = engine.scatterND(used[0], used[1], used[2], { reduction: "add" });
  await compare(result, js.scatterND(data, indices, updates, { reduction: "add" }), used);
});

/** How many times a cell is met. Drivers that compute on the processor take seconds for the longest. */
const MET: readonly (readonly [DType, Reduction, times: number])[] = [
  ["float32", "add", 2_000_000],
  ["float32", "mul", 300_000],
  ["float32", "max", 300_000],
  ["float32", "none", 300_000],
  ["int32", "add", 2_000_000],
  ["int8", "add", 2_000_000],
  ["uint8", "max", 300_000],
  ["float16", "add", 300_000],
  ["bfloat16", "sub", 300_000],
  ["int64", "mul", 300_000],
  ["float32", "mean", 300_000],
];

for (const [dtype, reduction, times] of MET) {
  test(`one cell, ${times} times: ${reduction} of ${dtype}`, async () => {
    const data = modest(dtype, 3);
    const indices = new Tensor("int32", [times, 1], times, new Int32Array(times).fill(1));
    const updates = modest(dtype, times);
    const used = [data, indices, updates].map((one) => engine.upload(one));
    const result = engine.scatterND(used[0], used[1], used[2], { reduction });
    await compare(result, js.scatterND(data, indices, updates, { reduction }), used);
  });
}

const RUNS = 100;

for (const dtype of ["float32", "float16", "int8"] as const) {
  test(`${RUNS} runs of heavy repeats give one result: ${dtype}`, async () => {
    const [data, updates] = [modest(dtype, 7), modest(dtype, 5000)];
    const indices = spread(5000, 7);
    const used = [data, indices, updates].map((one) => engine.upload(one));
    for (const reduction of ["none", "add", "mul", "mean"] as const) {
      const expected = js.scatterND(data, indices, updates, { reduction });
      const results = Array.from({ length: RUNS }, () =>
        engine.scatterND(used[0], used[1], used[2], { reduction }),
      );
      const read = await Promise.all(results.map((result) => result.read()));
      assert.equal(read.length, RUNS);
      for (const [i, one] of read.entries()) assertSame(one, expected, `${reduction}, run ${i}`);
      for (const result of results) result.dispose();
    }
    for (const one of used) one.dispose();
  });
}
