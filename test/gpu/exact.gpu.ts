/** Exact sessions of a runtime whose tensors are on the GPU: its buffers are used as they are, and none is left behind. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { asTensor, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import {
  createExactSession,
  readModel,
  runModel,
  writeModel,
  type ExactGpu,
  type Model,
  type RuntimeSession,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { DeviceTensor } from "../../src/gpu/calls/tensor.ts";
import type { GpuBuffer, GpuBufferLike } from "../../src/gpu/kernels/webgpu.ts";
import { localRuntime } from "../support/local-runtime.ts";
import { F32, f32, i64, onnxModel, typed } from "../support/node-models.ts";
import { repeatsFile } from "../support/place-models.ts";
import { bufferOf, bytesOfTensor, device, openEngine } from "./gpu.ts";
import { assertSame } from "./ways.ts";
import { assertRejected } from "../support/refusal.ts";

/** A tensor of a runtime, on the host or on the GPU, as onnxruntime-web has it. */
class RuntimeValue {
  readonly type: DType;
  readonly dims: readonly number[];
  readonly location: "cpu" | "gpu-buffer";
  readonly #held: unknown;
  #dispose = (): void => {};

  constructor(type: DType, held: unknown, dims: readonly number[], location = "cpu" as const) {
    this.type = type;
    this.#held = held;
    this.dims = dims;
    this.location = location;
  }

  static fromGpuBuffer(
    buffer: GpuBufferLike,
    { dataType, dims, dispose }: { dataType: DType; dims: readonly number[]; dispose: () => void },
  ): RuntimeValue {
    const made = new RuntimeValue(dataType, buffer, dims, "gpu-buffer" as "cpu");
    made.#dispose = dispose;
    return made;
  }

  get data(): never {
    if (this.location === "cpu") return this.#held as never;
    throw new Error("the data is not on the CPU");
  }

  get gpuBuffer(): GpuBuffer {
    return this.#held as GpuBuffer;
  }

  dispose(): void {
    this.#dispose();
  }
}

/** How often values were read from the GPU. */
let reads = 0;
const { read } = DeviceTensor.prototype;
DeviceTensor.prototype.read = function counted(this: DeviceTensor) {
  reads++;
  return read.call(this);
};

/** What a session cost. */
interface Traffic {
  uploads: number;
  reads: number;
  /** Buffers of the runtime that nobody disposed of. */
  open: number;
}

interface GpuSession extends RuntimeSession {
  run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, RuntimeValue>>>;
}

/** A runtime that computes on the host and hands out buffers. */
async function gpuRuntime() {
  const engine = await openEngine({ device });
  const traffic: Traffic = { uploads: 0, reads: 0, open: 0 };
  const tensorOf = async (value: unknown): Promise<Tensor> => {
    const { location, gpuBuffer, type, dims } = value as RuntimeValue;
    if (location !== "gpu-buffer") return asTensor(value, {});
    const [before, made] = [reads, await engine.fromBuffer(gpuBuffer, type, dims).read()];
    // The test and the runtime read for themselves.
    reads = before;
    return made;
  };
  const valueOf = (made: Tensor): RuntimeValue => {
    const buffer = bufferOf(bytesOfTensor(made), 20);
    traffic.open++;
    const dispose = (): void => {
      traffic.open--;
      buffer.destroy();
    };
    const { dtype: dataType, shape: dims } = made;
    return RuntimeValue.fromGpuBuffer(buffer, { dataType, dims, dispose });
  };
  const createSession = async (bytes: Uint8Array): Promise<GpuSession> => {
    const model = readModel(bytes);
    return {
      async run(feeds) {
        const given: [string, Tensor][] = [];
        for (const [name, one] of Object.entries(feeds)) given.push([name, await tensorOf(one)]);
        const outputs = runModel(model, Object.fromEntries(given) as Tensors);
        return Object.fromEntries(
          Object.entries(outputs).map(([name, made]) => [name, valueOf(made)]),
        );
      },
    };
  };
  const gpu = (): ExactGpu => ({
    ...engine,
    upload(...args: readonly unknown[]) {
      traffic.uploads++;
      return Reflect.apply(engine.upload, engine, args);
    },
    // The test needs the engine when the session is gone.
    dispose() {},
  });
  return { createSession, gpu, traffic, tensorOf };
}

/** The outputs of a model on the host and on the GPU are the same, after which no buffer is left. */
async function same(model: Model | Uint8Array, feeds: Tensors): Promise<Traffic> {
  const bytes = model instanceof Uint8Array ? model : writeModel(model);
  const host = await createExactSession(bytes, {
    createSession: localRuntime().createSession,
    nodes: "all",
  });
  const expected = await host.run(feeds);
  const { createSession, gpu, traffic, tensorOf } = await gpuRuntime();
  const session = await createExactSession(bytes, { createSession, gpu, nodes: "all" });
  for (let run = 0; run < 2; run++) {
    reads = 0;
    const outputs = await session.run(feeds);
    traffic.reads += reads;
    for (const [name, value] of Object.entries(outputs)) {
      assertSame(await tensorOf(value), asTensor(expected[name], {}), `${name} in run ${run}`);
      if (value.location === "gpu-buffer") value.dispose();
    }
    assert.equal(traffic.open, 0, "buffers of the runtime that are left");
  }
  await session.release();
  return traffic;
}

/** Adds rows of `u` to rows of `x`, three of them to row 1. Casts to the same type are what the runtime does. */
function sums(dtype: DType): Model {
  const to = DTYPES[dtype].onnx.number;
  const cast = (input: string, output: string) => ({
    ...{ op: "Cast", inputs: [input], outputs: [output] },
    attributes: { to },
  });
  return onnxModel(18, {
    inputs: { x: typed(dtype)(4, 2), u: typed(dtype)(3, 2) },
    constants: { rows: i64([3, 1], 1, -3, 1), back: i64([2], 1, 0) },
    nodes: [
      cast("x", "data"),
      cast("u", "updates"),
      {
        ...{ op: "ScatterND", inputs: ["data", "rows", "updates"], outputs: ["s"] },
        attributes: { reduction: "add" },
      },
      { op: "Gather", inputs: ["s", "back"], outputs: ["y"] },
      cast("y", "z"),
    ],
    outputs: { s: null, y: null, z: null },
  });
}

const FEEDS = (dtype: DType): Tensors => ({
  x: tensor(dtype as "float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
  u: tensor(dtype as "float32", [3, 2], [0.5, 1, 2, 4, 8, 16]),
});

test("values stay on the GPU, and constants are uploaded once", async () => {
  const { uploads, reads } = await same(sums("float32"), FEEDS("float32"));
  assert.deepEqual({ uploads, reads }, { uploads: 2, reads: 0 });
});

test("other shapes are made in the same buffer, and shapes without reading it", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(4, 1), at: typed("int64")(1, 2) },
    constants: {
      ...{ first: i64([1], 0), last: i64([1], 1) },
      ...{ rows: i64([3, 1], 3, 1, 1), u: f32([1, 2], 10, 20) },
    },
    nodes: [
      { op: "Cast", inputs: ["x"], outputs: ["data"], attributes: { to: 1 } },
      { op: "GatherElements", inputs: ["data", "rows"], outputs: ["taken"] },
      { op: "Identity", inputs: ["taken"], outputs: ["same"] },
      { op: "Squeeze", inputs: ["same", "last"], outputs: ["list"] },
      { op: "Unsqueeze", inputs: ["list", "first"], outputs: ["row"] },
      {
        ...{ op: "ScatterElements", inputs: ["row", "at", "u"], outputs: ["y"] },
        attributes: { axis: 1, reduction: "add" },
      },
      { op: "Shape", inputs: ["row"], outputs: ["shape"] },
      { op: "Gather", inputs: ["shape", "last"], outputs: ["length"] },
    ],
    outputs: { y: null, length: null },
  });
  const x = f32([4, 1], 1, 2, 3, 4);
  const { reads: count } = await same(model, { x, at: i64([1, 2], 2, 2) });
  assert.equal(count, 0);
});

test("sums of float64 are made on the host", async () => {
  const { reads } = await same(sums("float64"), FEEDS("float64"));
  assert.ok(reads > 0);
});

for (const c of [true, false]) {
  test(`a branch and a function, with ${c}`, async () => {
    await same(repeatsFile(), {
      c: tensor("bool", [], c),
      x: tensor("float32", [3], [1, 2, 3]),
      u: tensor("float32", [2], [10, 20]),
    });
  });
}

test("an index that is wrong on the GPU is the error of its run and of no other", async () => {
  const model = onnxModel(18, {
    inputs: { x: F32(3), i: F32(1) },
    nodes: [
      { op: "Cast", inputs: ["i"], outputs: ["at"], attributes: { to: 7 } },
      { op: "Cast", inputs: ["x"], outputs: ["data"], attributes: { to: 1 } },
      { op: "Gather", inputs: ["data", "at"], outputs: ["y"] },
    ],
  });
  const { createSession, gpu, traffic, tensorOf } = await gpuRuntime();
  const session = await createExactSession(writeModel(model), {
    ...{ createSession, gpu, nodes: "all" },
  });
  const x = tensor("float32", [3], [1, 2, 3]);
  await assertRejected("index-out-of-range", { op: "Gather", at: [0], got: 3 }, () =>
    session.run({ x, i: f32([1], 3) }),
  );
  assert.equal(traffic.open, 0);
  const { y } = await session.run({ x, i: f32([1], -1) });
  assert.deepEqual((await tensorOf(y)).toArray(), [3]);
});

test("an engine must be one, made by a function", async () => {
  const { createSession } = await gpuRuntime();
  const bytes = writeModel(sums("float32"));
  const make = (gpu: unknown) => createExactSession(bytes, { createSession, gpu: gpu as never });
  await assertRejected("attribute", {}, () => make({}));
  await assertRejected("attribute", {}, () => make(() => ({})));
});
