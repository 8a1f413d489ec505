/** `compile`: kernels are there before calls need them, and the calls that it asks for change nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import type { GpuEngine, GpuTensor } from "../../src/gpu/calls/types.ts";
import type { GpuDeviceLike } from "../../src/gpu/kernels/webgpu.ts";
import { assertRefused, assertRejected } from "../support/refusal.ts";
import { openDevice, openEngine } from "./gpu.ts";
import { assertSame, js } from "./ways.ts";

const DATA = tensor("float32", [3, 2], [1, 2, 3, 4, 5, 6]);
const INDICES = tensor("int32", [2, 1], [2, 2]);
const UPDATES = tensor("float32", [2, 2], [10, 20, 30, 40]);
const SUM = js.scatterND(DATA, INDICES, UPDATES, { reduction: "add" });
const LAST = js.scatterND(DATA, INDICES, UPDATES);

/** A device that counts the kernels that calls wait for. */
async function countingDevice(): Promise<{ device: GpuDeviceLike; waited: () => number }> {
  const device = await openDevice();
  const create = device.createComputePipeline.bind(device);
  let waited = 0;
  device.createComputePipeline = (descriptor) => {
    waited++;
    return create(descriptor);
  };
  return { device, waited: () => waited };
}

interface Inputs {
  readonly data: GpuTensor<"float32">;
  readonly indices: GpuTensor;
  readonly updates: GpuTensor<"float32">;
}

const inputsOn = (engine: GpuEngine): Inputs => ({
  data: engine.upload(DATA),
  indices: engine.upload(INDICES),
  updates: engine.upload(UPDATES),
});

type Calls = (engine: GpuEngine, inputs: Inputs) => GpuTensor;

const ROWS: readonly (readonly [name: string, calls: Calls, expected: Tensor])[] = [
  [
    "a sum whose order counts",
    (engine, { data, indices, updates }) =>
      engine.scatterND(data, indices, updates, { reduction: "add" }),
    SUM,
  ],
  [
    "a sum in place, of indices and updates of the host",
    (engine, { data }) => engine.scatterND(data, INDICES, UPDATES, { reduction: "add", out: data }),
    SUM,
  ],
  [
    "winners into another tensor",
    (engine, { data, indices, updates }) =>
      engine.scatterND(data, indices, updates, { out: engine.alloc("float32", [3, 2]) }),
    LAST,
  ],
  [
    "a call on the result of another",
    (engine, { data, indices, updates }) =>
      engine.gatherND(engine.scatterND(data, indices, updates, { reduction: "add" }), indices),
    js.gatherND(SUM, INDICES),
  ],
  [
    "a kept plan",
    (engine, { data, updates }) => engine.planScatterND([3, 2], INDICES).scatter(data, updates),
    LAST,
  ],
];

for (const [name, calls, expected] of ROWS) {
  test(`${name} waits for no kernel after it was compiled`, async () => {
    const { device, waited } = await countingDevice();
    const engine = await openEngine({ device });
    const inputs = inputsOn(engine);
    await engine.compile(() => calls(engine, inputs));
    assert.equal(waited(), 0);
    assertSame(await calls(engine, inputs).read(), expected, name);
    assert.equal(waited(), 0);
    await engine.done();
    // Without it the call compiles its kernels itself.
    const other = await openEngine({ device });
    assertSame(await calls(other, inputsOn(other)).read(), expected, `${name}, not compiled`);
    assert.ok(waited() >= 1);
    device.destroy();
  });
}

test("calls that are compiled change nothing, and their results have no elements", async () => {
  const device = await openDevice();
  const engine = await openEngine({ device });
  const { data, indices, updates } = inputsOn(engine);
  const plan = engine.planScatterND([3, 2], INDICES);
  const made: GpuTensor[] = [];
  const compiled = engine.compile(() => {
    made.push(
      engine.scatterND(data, indices, updates),
      engine.scatterND(data, indices, updates, { out: data }),
      plan.scatter(data, updates),
      plan.scatter(data, updates, { out: data, reduction: "add" }),
    );
  });
  // Calls are made again before anything is compiled.
  const [fresh, kept, same] = [made[0], made[2], made[3]];
  const result = engine.scatterND(data, indices, updates);
  await compiled;
  assert.equal(same, data);
  assertSame(await data.read(), DATA, "data");
  for (const one of [fresh, kept]) {
    await assertRejected("engine", {}, () => one.read());
    assertRefused("engine", {}, () => engine.gather(one, [0]));
    // Nothing stands behind it.
    assertRefused("attribute", {}, () => engine.fromBuffer(one.buffer, "float32", [3, 2]));
  }
  assertSame(await result.read(), LAST, "a call while kernels are compiled");
  // The plan makes again what its compiled call seemed to make.
  assertSame(await plan.scatter(data, updates).read(), LAST, "the plan");
  await engine.done();
  device.destroy();
});

test("bad calls and what makes no calls", async () => {
  const device = await openDevice();
  const engine = await openEngine({ device });
  const { data, indices, updates } = inputsOn(engine);
  await assertRejected("index-out-of-range", { at: [0, 0], got: 3 }, () =>
    engine.compile(() => engine.scatterND(data, [[3]], [[1, 2]])),
  );
  await assertRejected("shape-mismatch", { input: "updates", expected: [2, 2] }, () =>
    engine.compile(() => engine.scatterND(data, indices, [1])),
  );
  for (const value of [undefined, 7, async () => {}, () => Promise.reject(new Error("late"))]) {
    await assertRejected("attribute", {}, () => engine.compile(value as () => void));
  }
  await assert.rejects(
    engine.compile(() => {
      throw new RangeError("of the user");
    }),
    RangeError,
  );
  // Whatever went wrong, calls run again.
  const sums = engine.scatterND(data, indices, updates, { reduction: "add" });
  assertSame(await sums.read(), SUM, "a call after bad ones");
  await engine.compile(() => {});
  await engine.done();
  device.destroy();
});

test("a driver that cannot compile, and an engine that is gone", async () => {
  const device = await openDevice();
  const engine = await openEngine({ device });
  const { data, indices } = inputsOn(engine);
  const create = device.createComputePipelineAsync.bind(device);
  device.createComputePipelineAsync = () => Promise.reject(new Error("no registers\nat line 7"));
  const gather = () => void engine.gather(data, indices);
  await assertRejected("engine", {}, () => engine.compile(gather));
  device.createComputePipelineAsync = create;
  await engine.compile(gather);
  const pending = engine.compile(() => void engine.scatterND(data, indices, UPDATES));
  engine.dispose();
  await pending;
  await assertRejected("disposed", {}, () => engine.compile(gather));
  device.destroy();
});
