/** Many calls that nobody has asked about yet: each has a place in the status of calls, whatever becomes of the others. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { BUFFER_USAGE } from "../../src/gpu/kernels/webgpu.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import type { GpuEngine, GpuTensor } from "../../src/gpu/calls/types.ts";
import { assertRefused, assertRejected } from "../support/refusal.ts";
import { bufferOf, openDevice, openEngine } from "./gpu.ts";

/** As many calls as have places at the beginning, the first of which is bad. */
const PLACES = 63;

/** An engine whose next call has to make room for its place. */
async function fullEngine() {
  const device = await openDevice();
  const engine = await openEngine({ device });
  const data = engine.upload(tensor("float32", [4], [1, 2, 3, 4]));
  const good = engine.upload(tensor("int32", [1, 1], [2]));
  const bad = engine.upload(tensor("int32", [1, 1], [7]));
  const results = Array.from({ length: PLACES }, (_, i) =>
    engine.scatterND(data, i === 0 ? bad : good, [i]),
  );
  return { device, engine, data, good, results };
}

/** What was pending has its outcome, and later calls take effect. */
async function goesOn(
  engine: GpuEngine,
  data: GpuTensor<"float32">,
  good: GpuTensor,
  results: readonly GpuTensor[],
): Promise<void> {
  engine.scatterND(data, good, [99], { out: data });
  await assertRejected("index-out-of-range", { at: [0, 0], got: 7 }, () => results[0].read());
  assert.deepEqual((await results[PLACES - 1].read()).toArray(), [1, 2, PLACES - 1, 4]);
  assert.deepEqual((await data.read()).toArray(), [1, 2, 99, 4]);
  await assertRejected("index-out-of-range", { at: [0, 0], got: 7 }, () => engine.done());
}

test("the device refuses the call that needs more places", async () => {
  const { device, engine, data, good, results } = await fullEngine();
  const buffer = bufferOf(new Uint8Array(16), 0, device);
  buffer.destroy();
  const refused = engine.scatterND(engine.fromBuffer(buffer, "float32", [4]), good, [1]);
  await goesOn(engine, data, good, results);
  await assertRejected("engine", {}, () => refused.read());
  device.destroy();
});

test("the call that needs more places is too large", async () => {
  const { device, engine, data, good, results } = await fullEngine();
  const { maxStorageBufferBindingSize } = device.limits;
  // The number of updates takes four bytes for each of these elements of one.
  const large = engine.alloc("int8", [maxStorageBufferBindingSize / 4 + 4]);
  const options = { reduction: "mean", out: large } as const;
  assertRefused("too-large", {}, () => engine.scatterND(large, good, [1], options));
  await goesOn(engine, data, good, results);
  device.destroy();
});

test("the engine asks about pending calls once at a time", async () => {
  const device = await openDevice();
  const engine = await openEngine({ device });
  const create = device.createBuffer.bind(device);
  let asked = 0;
  device.createBuffer = (descriptor) => {
    if ((descriptor.usage & BUFFER_USAGE.MAP_READ) !== 0) asked++;
    return create(descriptor);
  };
  const data = engine.upload(tensor("int32", [2], [0, 0]));
  const indices = engine.upload(tensor("int32", [1, 1], [1]));
  for (let n = 0; n < 1000; n++) {
    engine.scatterND(data, indices, [1], { reduction: "add", out: data });
  }
  assert.equal(asked, 1);
  assert.deepEqual((await data.read()).toArray(), [0, 1000]);
  // Those of before are settled by now, and the engine asks again.
  for (let n = 0; n < 300; n++) {
    engine.scatterND(data, indices, [1], { reduction: "add", out: data });
  }
  assert.equal(asked, 4);
  assert.deepEqual((await data.read()).toArray(), [0, 1300]);
  device.destroy();
});

test("a device that does not say whether it refused a call", async () => {
  const device = await openDevice();
  const engine = await openEngine({ device });
  device.popErrorScope = () => Promise.reject(new Error("no scope"));
  const data = engine.upload(tensor("int32", [2], [0, 0]));
  const result = engine.scatterND(data, [[1]], [5]);
  assert.deepEqual((await result.read()).toArray(), [0, 5]);
  await engine.done();
  device.destroy();
});

test("who asked before done has told learns of a bad call too, however late the elements come", async () => {
  const device = await openDevice();
  const engine = await openEngine({ device });
  const out = engine.upload(tensor("int32", [2], [3, 4]));
  const bad = engine.upload(tensor("int32", [1, 1], [7]));
  engine.scatterND(out, bad, [9], { out });
  const create = device.createBuffer.bind(device);
  let told: Promise<unknown> = Promise.resolve();
  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    if (descriptor.label !== "a tensor, for the host") return buffer;
    const map = buffer.mapAsync.bind(buffer);
    buffer.mapAsync = async (mode) => {
      const mapped = map(mode);
      await told;
      return mapped;
    };
    return buffer;
  };
  // Both are asked in one turn, and the elements wait for the turn to end.
  told = Promise.resolve().then(() => done);
  const read = assertRejected("index-out-of-range", { at: [0, 0], got: 7 }, () => out.read());
  const done = assertRejected("index-out-of-range", { at: [0, 0], got: 7 }, () => engine.done());
  await Promise.all([read, done]);
  assert.deepEqual((await out.read()).toArray(), [3, 4]);
  device.destroy();
});
