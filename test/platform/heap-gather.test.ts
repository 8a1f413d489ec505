/** Gathers of heap tensors on several threads: windows of every size, every width, and what goes wrong in between. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { spawn, type WorkerHandle } from "../../src/core/engines/wasm/spawn.ts";
import { WasmPlatform } from "../../src/core/engines/wasm/platform.ts";
import { WorkerPool } from "../../src/core/engines/wasm/worker-pool.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { WASM, type WasmLimits } from "../../src/core/limits.ts";
import { MEMORY } from "../../src/core/resources.ts";
import type { DType, NumericStorage } from "../../src/core/tensor/dtype.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { started, TINY, tracedEngine, type TracedEngine } from "../support/engines.ts";
import { setLimits } from "../support/limits.ts";
import { WITHOUT_NODE_ITSELF, WITHOUT_THREADS } from "../support/platform.ts";
import { randomFrom, randomIndices, randomTensor } from "../support/random.ts";
import * as reference from "../support/reference.ts";
import { placed } from "../support/ways.ts";

const skip = WITHOUT_THREADS;

interface Inputs {
  readonly data: Tensor;
  readonly indices: Tensor;
  readonly batchDims: number;
  readonly expected: Tensor;
}

/** A gather of `count` random slices of each batch. */
function inputsOf(dtype: DType, shape: readonly number[], count: number, batchDims = 0): Inputs {
  const random = randomFrom(count + 7 * shape.length);
  const data = randomTensor(dtype, shape, random);
  const batches = shape.slice(0, batchDims);
  const indices = randomIndices("int64", [...batches, count, 1], () => shape[batchDims], random);
  const expected = reference.gatherND(data, indices, batchDims);
  return { data, indices, batchDims, expected };
}

const engines = new Map<number, TracedEngine>();
after(() => {
  for (const { engine } of engines.values()) engine.dispose();
});

/**
 * The engine of that many threads, with these limits from now on. There is one for each number of threads, because WebKit has
 * no addresses for the memories of twenty.
 */
async function engineOf(
  threads: number,
  shared: number,
  limits: Partial<WasmLimits> = {},
): Promise<TracedEngine> {
  const traced = engines.get(threads) ?? (await tracedEngine(threads, TINY));
  engines.set(threads, traced);
  Object.assign(traced.executor.limits, WASM, TINY, { shared }, limits);
  if (traced.pool !== null) await started(traced.pool);
  return traced;
}

/** @param by the way that the call must go; any where it is left out */
function checkGather({ engine, paths }: TracedEngine, inputs: Inputs, by?: string): void {
  const { data, indices, batchDims, expected } = inputs;
  paths();
  const out = placed(engine, expected, "odd");
  bytesOf(out.data as NumericStorage).fill(0x5a);
  const result = engine.gatherND(data, indices, { batchDims, out });
  assert.ok(equals(result, expected));
  if (by !== undefined) assert.ok(paths().includes(by as never), `not by ${by}`);
}

/** Slices of 12 bytes, and windows of some bytes: how many slices of a batch are gathered. */
const COUNTS = [1, 2, 15, 16, 17, 31, 32, 33, 64, 100];

for (const threads of [2, 3]) {
  for (const window of [1, 12, 13, 191, 192, 193, 65_536]) {
    test(`windows of ${window} bytes, ${threads} threads`, { skip }, async () => {
      const traced = await engineOf(threads, window);
      for (const count of COUNTS) {
        checkGather(traced, inputsOf("float32", [9, 3], count), "shared windows");
        checkGather(traced, inputsOf("float32", [4, 5, 3], count, 1), "shared windows");
        checkGather(traced, inputsOf("float32", [2, 4, 5, 3], count, 2), "shared windows");
      }
    });
  }
}

// prettier-ignore
const WIDTHS: readonly (readonly [name: string, dtype: DType, shape: readonly number[]])[] = [
  ["3 bytes", "uint8", [50, 3]],
  ["1 byte", "bool", [50]],
  ["2 bytes", "float16", [50]],
  ["10 bytes", "float16", [50, 5]],
  ["8 bytes", "int64", [50]],
  ["16 bytes", "complex128", [50]],
  ["48 bytes", "complex128", [50, 3]],
  ["half bytes", "int4", [50, 3]],
  ["slices that are longer than a window", "float32", [20, 100]],
  ["batches that are longer than a window", "float64", [5, 40]],
];

for (const [name, dtype, shape] of WIDTHS) {
  test(`${name}: the bits are those of the definition`, { skip }, async () => {
    const traced = await engineOf(2, 128);
    for (const count of [1, 7, 40]) {
      checkGather(traced, inputsOf(dtype, shape, count), "shared windows");
      if (shape.length === 1) continue;
      checkGather(traced, inputsOf(dtype, shape, count, 1), "shared windows");
    }
  });
}

test(
  "memory that holds other bytes leaves none of them, and all of it is free again",
  { skip },
  async () => {
    const traced = await engineOf(3, 128);
    traced.engine.alloc("int8", [1]).dispose();
    const before = traced.executor.shared?.taken;
    const { onRelease } = MEMORY;
    MEMORY.onRelease = (bytes) => bytes.fill(0xa5);
    try {
      for (let turn = 0; turn < 20; turn++) {
        checkGather(traced, inputsOf("uint8", [4, 30, 3], 11 + turn, 1), "shared windows");
      }
    } finally {
      MEMORY.onRelease = onRelease;
    }
    assert.equal(traced.executor.shared?.taken, before);
  },
);

test(
  "one side may live in the engine, and with both there nothing is copied",
  { skip },
  async () => {
    const { engine, paths } = await engineOf(2, 128);
    const { data, indices, expected } = inputsOf("float32", [60, 5], 80);
    for (const from of ["heap", "engine"] as const) {
      for (const to of ["heap", "engine"] as const) {
        const source = placed(engine, data, from);
        const out = placed(engine, full("float32", expected.shape, 7), to);
        paths();
        assert.ok(equals(engine.gatherND(source, indices, { out }), expected));
        const by = from === "engine" && to === "engine" ? "positions" : "shared windows";
        assert.equal(paths().at(-1), by, `${from} to ${to}`);
        for (const one of [source, out]) one.dispose();
      }
    }
  },
);

test("a kept plan gathers heap tensors again and again", { skip }, async () => {
  const { engine, paths } = await engineOf(2, 128);
  const { data, indices, expected } = inputsOf("float32", [60, 5], 80);
  const plan = engine.planGatherND(data.shape, indices);
  for (let turn = 0; turn < 4; turn++) {
    paths();
    assert.ok(equals(plan.gather(data as Tensor<"float32">), expected));
    assert.deepEqual(paths(), ["shared windows"]);
  }
});

test(
  "results of no and of one element, text, and small results go other ways",
  { skip },
  async () => {
    const traced = await engineOf(2, 1_048_576, { heap: 8 });
    const { engine, paths } = traced;
    const data = tensor("int32", [3], [4, 5, 6]);
    for (const [rows, expected] of [
      [[], []],
      [[[2]], [6]],
    ] as const) {
      const indices = tensor("int64", [rows.length, 1], rows.flat());
      assert.deepEqual(engine.gatherND(data, indices).toArray(), expected);
    }
    const text = tensor("string", [3], ["a", "b", "c"]);
    assert.deepEqual(engine.gatherND(text, tensor("int64", [2, 1], [2, 0])).toArray(), ["c", "a"]);
    assert.ok(!paths().includes("shared windows"));
    checkGather(traced, inputsOf("int32", [3], 2), "shared windows");
  },
);

test("beside a pending asynchronous call one thread gathers", { skip }, async () => {
  const traced = await engineOf(2, 128);
  const { engine } = traced;
  const inputs = inputsOf("float32", [60, 5], 80);
  const { data, indices, expected } = inputs;
  const pending = [1, 2].map(() => engine.async.gatherND(data, indices));
  checkGather(traced, inputs, "windows");
  for (const result of await Promise.all(pending)) assert.ok(equals(result, expected));
  await started(traced.pool as WorkerPool);
  checkGather(traced, inputs, "shared windows");
});

test(
  "an engine that was disposed of gathers, and on threads when they are there again",
  { skip },
  async () => {
    const traced = await engineOf(2, 128);
    const inputs = inputsOf("float32", [60, 5], 80);
    for (let life = 0; life < 3; life++) {
      checkGather(traced, inputs, "shared windows");
      traced.engine.dispose();
      // Reading the indices starts workers, which may be there when the gather begins.
      checkGather(traced, inputs);
      await started(traced.pool as WorkerPool);
    }
  },
);

test(
  "where the engine's memory is full, one thread gathers through other memory",
  { skip },
  async () => {
    const restore = setLimits({ SCRATCH: { mostPages: 1024 } });
    const traced = await tracedEngine(2, { ...TINY, shared: 4096 }, undefined, new WasmPlatform());
    restore();
    const { engine, executor } = traced;
    const inputs = inputsOf("float32", [600, 500], 3);
    checkGather(traced, inputs, "shared windows");
    const rest = engine.alloc("uint8", [62 * 2 ** 20]);
    const taken = executor.shared?.taken;
    checkGather(traced, inputs, "windows");
    assert.equal(executor.shared?.taken, taken);
    rest.dispose();
    checkGather(traced, inputs, "shared windows");
    engine.dispose();
  },
);

test(
  "a bad index, and an out that overlaps data, leave everything as it was",
  { skip },
  async () => {
    const { engine } = await engineOf(2, 128);
    const { data, indices, expected } = inputsOf("float32", [60, 5], 80);
    const out = full("float32", expected.shape, 7);
    const bad = tensor(
      "int64",
      indices.shape,
      (indices.data as BigInt64Array).slice().fill(60n, 79),
    );
    assert.throws(
      () => engine.gatherND(data, bad, { out }),
      (error) => isTensorError(error, "index-out-of-range") && error.at?.[0] === 79,
    );
    assert.ok(equals(out, full("float32", expected.shape, 7)));
    const memory = new Float32Array(700);
    const whole = tensor("float32", [60, 5], memory.subarray(0, 300));
    const overlapping = tensor("float32", [80, 5], memory.subarray(299, 699));
    assert.throws(() => engine.gatherND(whole, indices, { out: overlapping }), isTensorError);
    assert.ok(memory.every((value) => value === 0));
  },
);

test(
  "a worker that vanishes is an engine error, and the next call is right",
  { skip: WITHOUT_NODE_ITSELF || skip },
  async () => {
    const handles: WorkerHandle[] = [];
    const seen = { ended: 0 };
    const traced = await tracedEngine(2, { ...TINY, shared: 128 }, (memory) => {
      // The pool is not notified, as in a browser.
      return new WorkerPool(2, memory, (parts, onMessage) => {
        const handle = spawn(parts, onMessage, () => void seen.ended++);
        handles.push(handle);
        return handle;
      });
    });
    const inputs = inputsOf("float32", [60, 5], 80);
    checkGather(traced, inputs, "shared windows");
    handles[0].terminate();
    while (seen.ended === 0) await new Promise((resolve) => void setTimeout(resolve, 5));
    const restore = setLimits({ THREADS: { patience: 200 } });
    try {
      assert.throws(
        () => traced.engine.gatherND(inputs.data, inputs.indices),
        (error) => isTensorError(error, "engine"),
      );
    } finally {
      restore();
    }
    checkGather(traced, inputs, "windows");
    await started(traced.pool as WorkerPool);
    checkGather(traced, inputs, "shared windows");
    assert.equal(traced.executor.shared?.taken ?? 0, 0);
    traced.engine.dispose();
  },
);
