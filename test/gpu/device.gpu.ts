/** Devices: the engine's own and given ones, their limits, and their end. Each test has a device of its own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Gpu } from "../../src/gpu/kernels/gpu.ts";
import { BUFFER_USAGE, type GpuDeviceLike } from "../../src/gpu/kernels/webgpu.ts";
import { OPEN } from "../../src/core/resources.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { GpuEngine, GpuTensor } from "../../src/gpu/calls/types.ts";
import { setLimits } from "../support/limits.ts";
import { WITH_WGPU } from "../support/platform.ts";
import { assertRefused, assertRejected } from "../support/refusal.ts";
import {
  bufferOf,
  device as sharedDevice,
  engine,
  openDevice,
  openEngine,
  readBuffers,
  TENSOR_USAGE,
} from "./gpu.ts";

const DATA = tensor("float32", [4], [1, 2, 3, 4]);

/** A call whose result is known. */
async function works(engine: GpuEngine): Promise<void> {
  const data = engine.upload(DATA);
  const result = engine.scatterND(data, [[2], [2]], [0.5, 8], { reduction: "add" });
  assert.deepEqual((await result.read()).toArray(), [1, 2, 11.5, 4]);
  await engine.done();
}

/** Whether the promise of a loss is settled. */
async function isLost(device: GpuDeviceLike): Promise<boolean> {
  const lost = device.lost.then(() => true);
  return Promise.race([
    lost,
    new Promise<false>((resolve) => setTimeout(() => resolve(false), 300)),
  ]);
}

test("an engine with a device of its own destroys it at its end", async () => {
  const own = await openEngine();
  await works(own);
  const { device } = own;
  own.dispose();
  assert.equal(await isLost(device), true);
  assertRefused("disposed", {}, () => own.alloc("int8", [1]));
});

for (const isOwn of [true, false]) {
  test(`waits that have begun end well when the engine is disposed of, ${isOwn ? "with a device of its own" : "on a given device"}`, async () => {
    const device = isOwn ? undefined : await openDevice();
    const engine = await openEngine({ device });
    const data = engine.upload(DATA);
    const result = engine.scatterND(data, [[2], [2]], [0.5, 8], { reduction: "add" });
    const bad = engine.gather(data, engine.upload(tensor("int32", [1], [9])));
    const waits = [result.read(), bad.read(), engine.done(), data.read()];
    engine.dispose();
    const outcomes = await Promise.allSettled(waits);
    const said = outcomes.map((one) =>
      one.status === "fulfilled" ? one.value?.toArray() : one.reason.code,
    );
    const isBad = "index-out-of-range";
    assert.deepEqual(said, [[1, 2, 11.5, 4], isBad, isBad, [1, 2, 3, 4]]);
    assert.equal(await isLost(engine.device), isOwn);
    // What begins now is refused, however late.
    for (const wait of [() => data.read(), () => engine.done()]) {
      await assertRejected("disposed", {}, wait);
    }
    engine.dispose();
    device?.destroy();
  });
}

test("slots and buffers of calls that nobody waits for are given back with the engine", async () => {
  const device = await openDevice();
  const before = { ...OPEN };
  const own = await openEngine({ device });
  const data = own.upload(DATA);
  const indices = own.upload(tensor("int32", [1], [9]));
  const tensors = [data, indices, ...[1, 2].map(() => own.gather(data, indices))];
  assert.equal(OPEN.slots, before.slots + 2);
  for (const one of tensors) one.dispose();
  own.dispose();
  assert.deepEqual({ ...OPEN }, before);
  device.destroy();
});

test("a device that was given is not destroyed", async () => {
  const device = await openDevice();
  const first = await openEngine({ device });
  assert.equal(first.device, device);
  await works(first);
  const kept = bufferOf(Uint8Array.of(1, 2, 3, 4), 0, device);
  const data = first.upload(DATA);
  first.dispose();
  assert.equal(await isLost(device), false);
  assertRefused("disposed", {}, () => first.gather(data, [0]));
  assertRefused("disposed", {}, () => first.planGather([4], [0]));
  await assertRejected("disposed", {}, () => first.done());
  await assertRejected("disposed", {}, () => data.read());
  assert.deepEqual([...(await readBuffers([kept], device))[0]], [1, 2, 3, 4]);
  const second = await openEngine({ device });
  await works(second);
  device.destroy();
});

test("what is no device", async () => {
  for (const device of [{}, 7, "gpu", null]) {
    await assertRejected("attribute", {}, () => openEngine({ device: device as GpuDeviceLike }));
  }
  await assertRejected("attribute", {}, () => openEngine({ devices: 1 } as object));
});

test("a device that is lost: what waits is rejected, what comes is refused", async () => {
  const device = await openDevice();
  const lost = await openEngine({ device });
  const data = lost.upload(DATA);
  await data.read();
  const plan = lost.planScatterND([4], [[1]]);
  const result = lost.scatterND(data, [[2]], [1], { reduction: "add" });
  const pending = [
    { wait: result.read(), right: [1, 2, 4, 4] },
    { wait: lost.done(), right: undefined },
    { wait: data.read(), right: [1, 2, 3, 4] },
  ];
  device.destroy();
  for (const { wait, right } of pending) {
    const [one] = await Promise.allSettled([wait]);
    // Only wgpu goes on, and then the result must be there.
    if (WITH_WGPU && one.status === "fulfilled") assert.deepEqual(one.value?.toArray(), right);
    // Who waits may be told before the engine knows why.
    else await assertRejected("engine", {}, () => wait);
  }
  await device.lost;
  for (const action of [
    () => lost.upload(DATA),
    () => lost.alloc("int8", [1]),
    () => lost.scatterND(data, [[2]], [1]),
    () => lost.gather(data, [0]),
    () => plan.scatter(data, [1]),
    () => plan.gather(data),
  ]) {
    assertRefused("engine", {}, action);
  }
  await assertRejected("engine", {}, () => data.read());
  await assertRejected("engine", {}, () => lost.done());
  // The end is as quiet as ever.
  for (const one of [data, result, plan, lost]) one.dispose();
  // Devices do not share their fate.
  await works(engine);
});

test("calls between the end of a device and the news of it", async () => {
  const device = await openDevice();
  const lost = await openEngine({ device });
  const data = lost.upload(DATA);
  await data.read();
  device.destroy();
  // Nobody knows yet, so this may be refused or not; whoever waits for it is told.
  const calls = Array.from({ length: 3 }, async () => {
    const result = lost.scatterND(data, [[2]], [1], { reduction: "add" });
    await result.read();
  });
  for (const one of calls) await assertRejected("engine", {}, () => one);
});

test("a buffer that its user destroyed", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  const buffer = bufferOf(new Uint8Array(16), 0, device);
  const data = own.fromBuffer(buffer, "float32", [4]);
  const good = own.upload(DATA);
  buffer.destroy();
  const result = own.scatterND(data, [[1]], [2]);
  await assertRejected("engine", {}, () => result.read());
  await assertRejected("engine", {}, () => own.done());
  const sum = own.scatterND(good, [[1]], [2], { reduction: "add" });
  assert.deepEqual((await sum.read()).toArray(), [1, 4, 3, 4]);
  await own.done();
  device.destroy();
});

/** Calls whose first need of memory for a while can be made to fail, and what they give. */
const NEEDING = {
  "a call": (own: GpuEngine) => {
    const indices = own.upload(tensor("int32", [2, 1], [2, 2]));
    return (data: GpuTensor<"float32">) => own.scatterND(data, indices, [5, 7]);
  },
  "a kept plan": (own: GpuEngine) => {
    const plan = own.planScatterND([4], [[2], [2]]);
    return (data: GpuTensor<"float32">) => plan.scatter(data, [5, 7]);
  },
};

for (const [name, begin] of Object.entries(NEEDING)) {
  test(`${name} for which memory is missing, once`, async () => {
    const device = await openDevice();
    const own = await openEngine({ device });
    const data = own.upload(DATA);
    const call = begin(own);
    const create = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      if (descriptor.label?.includes("scratch") !== true) return create(descriptor);
      device.createBuffer = create;
      // The buffer that is given for a usage that there is not is as good as one without memory.
      return create({ ...descriptor, usage: BUFFER_USAGE.MAP_READ | BUFFER_USAGE.STORAGE });
    };
    const calls = [call(data), call(data)];
    await assertRejected("engine", {}, () => calls[0].read());
    await assertRejected("engine", {}, () => own.done());
    // The second one began before anyone knew: it may have failed too, but is not wrong.
    const second = await calls[1].read().catch(() => null);
    if (second !== null) assert.deepEqual(second.toArray(), [1, 2, 7, 4]);
    await own.done().catch(() => {});
    assert.deepEqual((await call(data).read()).toArray(), [1, 2, 7, 4]);
    await own.done();
    device.destroy();
  });
}

test("out of a call that the device refuses has no contents until it is written again", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  const data = own.upload(DATA);
  const indices = own.upload(tensor("int32", [2, 1], [2, 2]));
  const out = own.upload(tensor("float32", [4], [9, 9, 9, 9]));
  const call = () => own.scatterND(data, indices, [5, 7], { out });
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    if (descriptor.label?.includes("scratch") !== true) return create(descriptor);
    device.createBuffer = create;
    return create({ ...descriptor, usage: BUFFER_USAGE.MAP_READ | BUFFER_USAGE.STORAGE });
  };
  assert.equal(call(), out);
  // The call may have been carried out in part.
  await assertRejected("engine", {}, () => out.read());
  await assertRejected("engine", {}, () => own.done());
  assertRefused("engine", {}, () => own.gather(out, [0]));
  // A call with a bad index writes nothing, so it has none either.
  const bad = own.upload(tensor("int32", [2, 1], [2, 4]));
  own.scatterND(data, bad, [5, 7], { out });
  await assertRejected("index-out-of-range", {}, () => own.done());
  await assertRejected("engine", {}, () => out.read());
  assert.equal(call(), out);
  assert.deepEqual((await out.read()).toArray(), [1, 2, 7, 4]);
  await own.done();
  device.destroy();
});

test("a call that fails while it is recorded gives back its memory, and leaves out as it was", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  const data = own.upload(DATA);
  const indices = own.upload(tensor("int32", [2, 1], [2, 2]));
  const out = own.upload(tensor("float32", [4], [9, 9, 9, 9]));
  const create = device.createBuffer.bind(device);
  let made = 0;
  let most = 0;
  device.createBuffer = (descriptor) => {
    if (descriptor.label?.includes("scratch") !== true) return create(descriptor);
    if (made === most) throw new RangeError("no more buffers");
    made++;
    return create(descriptor);
  };
  const call = () => own.scatterND(data, indices, [5, 7], { out, reduction: "add" });
  // Each call gets one buffer more than the call before, and uses the buffers of that one again.
  const isDone = (): boolean => {
    try {
      return call() === out;
    } catch (error) {
      assert.match(String(error), /no more buffers/);
      return false;
    }
  };
  for (; most < 20 && !isDone(); most++) {
    // oxlint-disable-next-line no-await-in-loop -- call by call
    assert.deepEqual((await out.read()).toArray(), [9, 9, 9, 9], `${most} buffers`);
    // oxlint-disable-next-line no-await-in-loop
    await own.done();
  }
  assert.ok(most >= 2 && most < 20, `${most} buffers`);
  assert.equal(made, most);
  assert.deepEqual((await out.read()).toArray(), [1, 2, 15, 4]);
  assert.deepEqual((await data.read()).toArray(), [1, 2, 3, 4]);
  await own.done();
  device.destroy();
});

test("a tensor for which memory is missing", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  device.pushErrorScope("validation");
  const good = own.upload(DATA);
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) =>
    // A buffer that is no good, as that without memory.
    create({ ...descriptor, usage: BUFFER_USAGE.MAP_READ | BUFFER_USAGE.STORAGE });
  const lacking = [own.upload(DATA), own.alloc("float32", [4])];
  device.createBuffer = create;
  const sum = own.scatterND(good, [[1]], [2], { reduction: "add" });
  const made = own.scatterND(lacking[0], [[1]], [2]);
  for (const one of [...lacking, made]) {
    await assertRejected("engine", {}, () => one.read());
  }
  await assertRejected("engine", {}, () => own.done());
  assertRefused("engine", {}, () => own.gather(lacking[1], [0]));
  assert.deepEqual((await sum.read()).toArray(), [1, 4, 3, 4]);
  await own.done();
  // Nobody else hears of it.
  assert.equal(await device.popErrorScope(), null);
  device.destroy();
});

test("of scratch memory the oldest is given up", () => {
  const gpu = new Gpu(sharedDevice);
  const restore = setLimits({ GPU: { kept: 100, spare: 0 } });
  const buffers = [4, 44, 12, 44].map((bytes) => gpu.takeScratch(bytes));
  const destroyed: number[] = [];
  for (const [i, buffer] of buffers.entries()) {
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      destroyed.push(i);
      destroy();
    };
  }
  gpu.giveScratch([buffers[0]]);
  gpu.giveScratch(buffers.slice(1));
  assert.deepEqual(destroyed, [0]);
  // The smallest that is long enough, unless it is more than four times as long.
  const taken = [12, 8, 12].map((bytes) => gpu.takeScratch(bytes));
  assert.deepEqual(
    taken.map((buffer) => buffers.indexOf(buffer)),
    [2, -1, 1],
  );
  gpu.giveScratch(taken);
  gpu.clear();
  assert.deepEqual(destroyed, [0, 3, 2, 1]);
  restore();
});

test("what the driver cannot do although it is valid", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  const data = own.upload(DATA);
  await data.read();
  const scopes: string[] = [];
  const push = device.pushErrorScope.bind(device);
  const pop = device.popErrorScope.bind(device);
  device.pushErrorScope = (filter) => {
    scopes.push(filter);
    push(filter);
  };
  // A driver that cannot compile a kernel.
  device.popErrorScope = async () => {
    const filter = scopes.pop();
    const error = await pop();
    return filter === "internal" ? { message: "the compiler gave up\nin line 7" } : error;
  };
  const result = own.gather(data, [1]);
  device.pushErrorScope = push;
  device.popErrorScope = pop;
  await assertRejected("engine", {}, () => result.read());
  await assertRejected("engine", {}, () => own.done());
  assert.deepEqual((await own.gather(data, [1]).read()).toArray(), [2]);
  device.destroy();
});

test("tensors larger than what a kernel sees", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  const { maxStorageBufferBindingSize: most } = device.limits;
  for (const action of [
    () => own.alloc("int8", [most + 4]),
    () => own.alloc("float32", [1 + most / 4]),
    // The result, whatever its inputs.
    () =>
      own.gather(own.alloc("int8", [2 ** 16, 1]), own.alloc("int32", [1 + most / 2 ** 16]), {
        axis: 1,
      }),
  ]) {
    assertRefused("too-large", {}, action);
  }
  await works(own);
  device.destroy();
});

test("an engine takes all the memory that a device of its own may have", async () => {
  const own = await openEngine();
  const ordinary = await openDevice();
  const most = await openDevice(({ maxStorageBufferBindingSize }) => ({
    maxStorageBufferBindingSize,
  }));
  assert.equal(
    own.device.limits.maxStorageBufferBindingSize,
    most.limits.maxStorageBufferBindingSize,
  );
  for (const device of [ordinary, most]) device.destroy();
  own.dispose();
});

test("a bad call is no device's error", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  device.pushErrorScope("validation");
  const data = own.upload(DATA);
  const bad = own.gather(data, own.upload(tensor("int32", [1], [9])));
  await assertRejected("index-out-of-range", { at: [0], got: 9 }, () => bad.read());
  for (const dtype of ["int8", "float16", "int64"] as const) {
    for (const shape of [[0], [1], [5, 0, 2], [3, 7]]) {
      const some = own.alloc(dtype, shape);
      await own.scatterElements(some, zeros("int32", shape), some).read();
    }
  }
  assert.equal(await device.popErrorScope(), null);
  device.destroy();
});

test("a small tensor in a buffer larger than what a kernel sees", async () => {
  const device = await openDevice();
  const own = await openEngine({ device });
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  const size = Math.min(maxBufferSize, maxStorageBufferBindingSize + 2 ** 20);
  const buffer = device.createBuffer({ size, usage: TENSOR_USAGE });
  const data = own.fromBuffer(buffer, "float32", [4]);
  own.scatterND(data, [[2], [2]], [0.5, 8], { reduction: "add", out: data });
  assert.deepEqual((await own.gather(data, [3, 2]).read()).toArray(), [0, 8.5]);
  await own.done();
  device.destroy();
});

test("a device that is lost before it has an engine", async () => {
  const device = await openDevice();
  device.destroy();
  await device.lost;
  const late = await openEngine({ device });
  assertRefused("engine", {}, () => late.alloc("int8", [1]));
  await assertRejected("engine", {}, () => late.done());
  late.dispose();
});

test("what only looks like a buffer is refused when it is used", async () => {
  const fake = { size: 16, usage: TENSOR_USAGE, mapAsync() {}, getMappedRange() {}, destroy() {} };
  const data = engine.fromBuffer(fake as never, "float32", [4]);
  assertRefused("engine", {}, () => engine.gather(data, [0]));
  await assertRejected("engine", {}, () => data.read());
  await works(engine);
});
