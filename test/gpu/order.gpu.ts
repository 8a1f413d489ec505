/**
 * Calls take effect in the order in which they were made, among themselves and among what their user submits to the same
 * queue: reads, disposals, copies, and kernels of the user's own between two calls. Nothing here waits but at the end.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuBufferLike } from "../../src/gpu/kernels/webgpu.ts";
import { REDUCTIONS } from "../../src/core/tensor/dtype.ts";
import { tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { randomFrom, randomIndices, randomTensor } from "../support/random.ts";
import { assertRefused } from "../support/refusal.ts";
import { bufferOf, bytesOfTensor, device, engine, guarded, readBuffers, tensorOf } from "./gpu.ts";
import { assertSame, i32, js } from "./ways.ts";

const COUNT = 400;

for (const dtype of ["float32", "int8"] as const) {
  test(`${COUNT} calls of ${dtype} without waiting, with reads and disposals between them`, async () => {
    const random = randomFrom(11);
    const shape = [13, 3];
    let expected = randomTensor("int32", shape, random);
    expected = tensor(
      dtype,
      shape,
      Array.from(expected.data as Int32Array, (value) => value % 100),
    );
    const state = guarded(expected);
    const plan = engine.planScatterND(shape, [[0], [12], [0], [5]]);
    const reads: Promise<void>[] = [];
    for (let n = 0; n < COUNT; n++) {
      const reduction = REDUCTIONS[random(REDUCTIONS.length)];
      const indices = randomIndices("int32", [4, 1], () => 13, random);
      const values = Array.from({ length: 12 }, () => random(5));
      const updates = tensor(dtype, [4, 3], values);
      const used = n % 5 === 0 ? plan : null;
      const places = used === null ? indices : i32([4, 1], 0, 12, 0, 5);
      expected = js.scatterND(expected, places, updates, { reduction });
      const short = [indices, updates].map((one) => engine.upload(one));
      const out = { reduction, out: state.tensor };
      if (used !== null) used.scatter(state.tensor, short[1], out);
      else engine.scatterND(state.tensor, n % 2 === 0 ? indices : short[0], short[1], out);
      for (const one of short) one.dispose();
      if (n % 7 !== 0) continue;
      // A copy of the state as it is now, which is made, read and thrown away before the next call.
      const [now, what] = [expected, `after call ${n}`];
      const copy = engine.scatterND(state.tensor, zeros("int32", [0, 1]), zeros(dtype, [0, 3]));
      reads.push(
        copy.read().then((result) => assertSame(result, now, what)),
        state.tensor.read().then((result) => assertSame(result, now, what)),
      );
      copy.dispose();
    }
    await Promise.all(reads);
    assertSame(await state.tensor.read(), expected, "at the end");
    await engine.done();
    assert.ok(reads.length > 100);
  });
}

/** Doubles every element, on the queue that the engine has, without the engine. */
function double(buffer: GpuBufferLike, count: number): void {
  const code = `
    @group(0) @binding(0) var<storage, read_write> words: array<i32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < ${count}u) { words[id.x] = 2 * words[id.x]; }
    }`;
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module, entryPoint: "main" },
  });
  const layout = pipeline.getBindGroupLayout(0);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] }),
  );
  pass.dispatchWorkgroups(Math.ceil(count / 64));
  pass.end();
  device.queue.submit([encoder.finish()]);
}

test("a kernel of the user's own between calls", async () => {
  const size = 100;
  const data = guarded(
    tensor(
      "int32",
      [size],
      Array.from({ length: size }, (_, i) => i),
    ),
  );
  const numbers = Array.from({ length: size }, (_, i) => i);
  for (let n = 0; n < 8; n++) {
    const place = (n * 37) % size;
    engine.scatterND(data.tensor, [[place], [place]], [3, 4], {
      reduction: "add",
      out: data.tensor,
    });
    numbers[place] += 7;
    double(data.buffer, size);
    for (let i = 0; i < size; i++) numbers[i] = Math.imul(2, numbers[i]);
  }
  const result = engine.gather(data.tensor, i32([3], 0, 37, 99));
  double(data.buffer, size);
  const once = await result.read();
  assert.deepEqual(once.toArray(), [numbers[0], numbers[37], numbers[99]]);
  const twice = await data.tensor.read();
  assert.deepEqual(
    twice.toArray(),
    numbers.map((number) => 2 * number),
  );
});

test("from one kernel to another by way of a scatter, without the host", async () => {
  const [values, indices] = [bufferOf(new Uint8Array(4 * 64)), bufferOf(new Uint8Array(4 * 64))];
  // Writes indices and updates where they are: place i gets (i * 5) % 64, and 1000 + i.
  const code = `
    @group(0) @binding(0) var<storage, read_write> values: array<i32>;
    @group(0) @binding(1) var<storage, read_write> indices: array<i32>;
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
      values[i] = i32(1000u + i);
      indices[i] = i32((i * 5u) % 64u);
    }`;
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module, entryPoint: "main" },
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [values, indices].map((buffer, binding) => ({ binding, resource: { buffer } })),
    }),
  );
  pass.dispatchWorkgroups(1);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const data = guarded(zeros("int32", [64]));
  engine.scatterND(
    data.tensor,
    engine.fromBuffer(indices, "int32", [64, 1]),
    engine.fromBuffer(values, "int32", [64]),
    { out: data.tensor },
  );
  double(data.buffer, 64);
  const [bytes] = await readBuffers([data.buffer]);
  const expected = Array.from({ length: 64 }, () => 0);
  for (let i = 0; i < 64; i++) expected[(i * 5) % 64] = 2 * (1000 + i);
  const result = tensorOf("int32", [64], bytes.slice(0, 256));
  assert.deepEqual(result.toArray(), expected);
});

test("what is written to a buffer after a call comes after it", async () => {
  const start = i32([4], 1, 2, 3, 4);
  const data = guarded(start);
  const updates = guarded(i32([1], 9));
  const indices = guarded(i32([1, 1], 2));
  const result = engine.scatterND(data.tensor, indices.tensor, updates.tensor, {
    reduction: "add",
  });
  for (const { buffer } of [data, updates, indices])
    device.queue.writeBuffer(buffer, 0, new ArrayBuffer(4));
  const again = engine.scatterND(data.tensor, indices.tensor, updates.tensor);
  assert.deepEqual((await result.read()).toArray(), [1, 2, 12, 4]);
  assert.deepEqual((await again.read()).toArray(), [0, 2, 3, 4]);
});

test("reads at the same time give the same", async () => {
  const data = randomTensor("float16", [333], randomFrom(2));
  const resident = engine.upload(data);
  const all = await Promise.all(Array.from({ length: 20 }, () => resident.read()));
  for (const one of all) assertSame(one, data, "a read");
  assert.equal(new Set(all.map((one) => one.data)).size, 20);
});

test("a read before a call does not see it", async () => {
  const start = i32([3], 1, 2, 3);
  const data = engine.upload(start);
  const before = data.read();
  engine.scatterND(data, [[1]], [7], { out: data });
  const behind = data.read();
  assertSame(await before, start, "before");
  assert.deepEqual((await behind).toArray(), [1, 7, 3]);
});

test("a tensor that was disposed of right after its read was asked for", async () => {
  const start = i32([3], 1, 2, 3);
  const data = engine.upload(start);
  const read = data.read();
  data.dispose();
  assertSame(await read, start, "the read");
});

test("tensors and plans that are disposed of while updates are read", async () => {
  const start = i32([3], 1, 2, 3);
  const plan = engine.planScatterND([3], [[0]]);
  /** Updates of another library, whose elements take something with them. */
  const updates = (gone: { dispose(): void }) => ({
    type: "int32" as const,
    dims: [1],
    get data() {
      gone.dispose();
      return Int32Array.of(7);
    },
  });
  const [indices, ...datas] = [i32([1, 1], 0), start, start, start].map((one) =>
    engine.upload(one),
  );
  for (const [input, call] of [
    ["data", () => engine.scatterND(datas[0], [[0]], updates(datas[0]))],
    ["data", () => plan.scatter(datas[1], updates(datas[1]))],
    ["indices", () => engine.scatterND(datas[2], indices, updates(indices))],
    [undefined, () => plan.scatter(datas[2], updates(plan))],
  ] as const) {
    assertRefused("disposed", { input }, call);
  }
  await engine.done();
  assertSame(await datas[2].read(), start, "what is there");
});

test("results of calls on tensors that were disposed of at once", async () => {
  const results: GpuTensor[] = [];
  for (let n = 0; n < 50; n++) {
    const data = engine.upload(i32([3], n, n, n));
    const updates = engine.upload(i32([1], 100));
    results.push(engine.scatterND(data, [[n % 3]], updates, { reduction: "add" }));
    data.dispose();
    updates.dispose();
  }
  for (const [n, result] of results.entries()) {
    const expected = [n, n, n];
    expected[n % 3] += 100;
    assert.deepEqual((await result.read()).toArray(), expected);
  }
});

test("a plan that was disposed of after its last call", async () => {
  const plan = engine.planGather(
    [100],
    Array.from({ length: 70 }, (_, i) => (i * 3) % 100),
  );
  const data = tensor(
    "int32",
    [100],
    Array.from({ length: 100 }, (_, i) => i),
  );
  const result = plan.gather(engine.upload(data));
  plan.dispose();
  // Takes what the plan has freed.
  const other = engine
    .planGather(
      [100],
      Array.from({ length: 70 }, () => 99),
    )
    .gather(engine.upload(data));
  assert.deepEqual(
    (await result.read()).toArray(),
    Array.from({ length: 70 }, (_, i) => (i * 3) % 100),
  );
  assert.deepEqual(
    (await other.read()).toArray(),
    Array.from({ length: 70 }, () => 99),
  );
});

test("done waits for nothing where there was nothing", async () => {
  await engine.done();
  await Promise.all([engine.done(), engine.done()]);
});

test("tensors of every size begin with zeros", async () => {
  for (const [dtype, size] of [
    ["int8", 5],
    ["float16", 3],
    ["int64", 70_001],
    ["uint8", 0],
  ] as const) {
    // Memory that was used before.
    const used = engine.upload(new Tensor("uint8", [9], 9, new Uint8Array(9).fill(255)));
    used.dispose();
    const fresh = engine.alloc(dtype, [size]);
    assert.deepEqual(
      [...bytesOfTensor(await fresh.read())].filter((byte) => byte !== 0),
      [],
    );
    assert.ok(fresh.buffer.size >= bytesOfTensor(zeros(dtype, [size])).length);
  }
});
