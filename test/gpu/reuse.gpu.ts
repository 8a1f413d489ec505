/** Buffers of results that were disposed of: later results take them, and see nothing of what they held. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { full, tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import type { GpuEngine } from "../../src/gpu/calls/types.ts";
import type { GpuDeviceLike } from "../../src/gpu/kernels/webgpu.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";
import { openDevice, openEngine } from "./gpu.ts";
import { assertSame, js } from "./ways.ts";

/** A device that counts the buffers of tensors. */
async function countingDevice(): Promise<{ device: GpuDeviceLike; made: () => number }> {
  const device = await openDevice();
  const create = device.createBuffer.bind(device);
  let made = 0;
  device.createBuffer = (descriptor) => {
    if (descriptor.label?.startsWith("a tensor of") === true) made++;
    return create(descriptor);
  };
  return { device, made: () => made };
}

/** Elements of every bit pattern, so that one which stays behind is seen; no multiple of four bytes in the narrow types. */
const SIZE = 37;

/** Calls whose results have as many bytes each. */
const CALLS = {
  gather: (engine: GpuEngine, data: Tensor, rows: Tensor) =>
    engine.gather(engine.upload(data), engine.upload(rows), { bounds: "fill" }),
  winners: (engine: GpuEngine, data: Tensor, rows: Tensor, updates: Tensor) =>
    engine.scatterElements(engine.upload(data), engine.upload(rows), engine.upload(updates), {
      bounds: "drop",
    }),
  sums: (engine: GpuEngine, data: Tensor, rows: Tensor, updates: Tensor) =>
    engine.scatterElements(engine.upload(data), rows, engine.upload(updates), {
      ...{ bounds: "drop", reduction: "add" },
    }),
} as const;

for (const dtype of ["float32", "int8", "float16", "int64"] as const satisfies readonly DType[]) {
  test(`results of ${dtype} in memory of earlier ones`, async () => {
    const device = await openDevice();
    const engine = await openEngine({ device });
    const random = randomFrom(4);
    for (let turn = 0; turn < 12; turn++) {
      const [data, updates] = [0, 1].map(() => randomTensor(dtype, [SIZE], random));
      // Some rows are left out, and some repeat.
      const values = Array.from({ length: SIZE }, () => random(SIZE + 9));
      const rows = tensor("int32", [SIZE], values);
      const expected = {
        gather: js.gather(data, rows, { bounds: "fill" }),
        winners: js.scatterElements(data, rows, updates, { bounds: "drop" }),
        sums: js.scatterElements(data, rows, updates, { bounds: "drop", reduction: "add" }),
      };
      const results = Object.entries(CALLS).map(([name, call]) => {
        const result = call(engine, data, rows, updates);
        const read = result.read();
        // Nobody waits: the next call takes the buffer while this one is pending.
        result.dispose();
        return { name: name as keyof typeof CALLS, read };
      });
      for (const { name, read } of results) {
        // oxlint-disable-next-line no-await-in-loop -- turn by turn
        assertSame(await read, expected[name], `${dtype}, ${name}, turn ${turn}`);
      }
    }
    await engine.done();
    device.destroy();
  });
}

test("a loop that disposes of its results makes one buffer", async () => {
  const { device, made } = await countingDevice();
  const engine = await openEngine({ device });
  const data = engine.upload(tensor("float32", [3], [1, 2, 3]));
  const before = made();
  for (let n = 0; n < 20; n++) {
    const result = engine.scatterND(data, [[1], [1]], [n, 1], { reduction: "add" });
    const read = result.read();
    result.dispose();
    // oxlint-disable-next-line no-await-in-loop -- one result at a time
    assert.deepEqual((await read).toArray(), [1, 3 + n, 3]);
  }
  assert.equal(made() - before, 1);
  device.destroy();
});

test("a buffer that somebody may have is destroyed, not used again", async () => {
  const { device, made } = await countingDevice();
  const engine = await openEngine({ device });
  const data = engine.upload(tensor("float32", [3], [1, 2, 3]));
  const before = made();
  const buffers = [0, 1, 2].map(() => {
    const result = engine.scatterND(data, [[1]], [9]);
    const { buffer } = result;
    result.dispose();
    return buffer;
  });
  assert.equal(new Set(buffers).size, 3);
  assert.equal(made() - before, 3);
  // Whoever uses it all the same is told.
  const late = engine.scatterND(engine.fromBuffer(buffers[0], "float32", [3]), [[1]], [9]);
  await assertRejected("engine", {}, () => late.read());
  await assertRejected("engine", {}, () => engine.done());
  device.destroy();
});

test("a bad call in memory of earlier ones leaves nothing of them in its buffer", async () => {
  const device = await openDevice();
  const engine = await openEngine({ device });
  const bad = engine.upload(tensor("int32", [3, 1], [0, 7, 1]));
  // So many that they enter a table of winners.
  const many = 1000;
  const badOfMany = engine.upload(
    tensor(
      "int32",
      [many, 1],
      Array.from({ length: many }, (_, i) => (i === 500 ? 7 : i % 3)),
    ),
  );
  const ofMany = (dtype: "float32" | "int8"): Tensor => full(dtype, [many], 9);
  for (const dtype of ["float32", "int8"] as const) {
    const data = engine.upload(tensor(dtype, [3], [1, 2, 3]));
    const marks = tensor(dtype, [3], [77, 78, 79]);
    const updates = engine.upload(marks);
    const leave = (): void => engine.scatterND(data, [[0], [1], [2]], marks).dispose();
    leave();
    const gathered = engine.gatherND(data, bad);
    leave();
    const scattered = engine.scatterND(data, bad, updates);
    leave();
    const pulled = engine.scatterND(data, badOfMany, ofMany(dtype));
    const past = [gathered, scattered, pulled].map(({ buffer }) =>
      engine.fromBuffer(buffer, dtype, [3]),
    );
    const reads = past.map((one) => one.read());
    await assertRejected("index-out-of-range", { at: [1, 0], got: 7 }, () => engine.done());
    const read = await Promise.all(reads);
    assert.deepEqual(
      read.map((one) => one.toArray()),
      [
        [0, 0, 0],
        [1, 2, 3],
        [1, 2, 3],
      ],
    );
  }
  device.destroy();
});
