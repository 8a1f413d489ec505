/** What lives how long: memory that is disposed of, scratch memory of calls, workers that vanish, engines that are dropped. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import type { KernelMemory } from "../../src/core/engines/wasm/kernel-memory.ts";
import { WasmPlatform } from "../../src/core/engines/wasm/platform.ts";
import { spawn, type WorkerHandle } from "../../src/core/engines/wasm/spawn.ts";
import { WorkerPool } from "../../src/core/engines/wasm/worker-pool.ts";
import { isTensorError } from "../../src/core/errors.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { started, tracedEngine } from "../support/engines.ts";
import { setLimits } from "../support/limits.ts";
import { settle, WITHOUT_NODE_ITSELF, WITHOUT_THREADS } from "../support/platform.ts";
import { assertRejectedCode } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

const COUNT = 3000;
/** So few are much work. */
const traced = await tracedEngine(2, { submit: 1, share: 1 });
const { engine, executor } = traced;
after(() => engine.dispose());

function resident(one: Tensor): Tensor {
  const there: Tensor = engine.alloc<DType, readonly number[]>(one.dtype, one.shape);
  copy(one.data, there.data);
  return there;
}

const ORDER = tensor(
  "int32",
  [COUNT, 1],
  Int32Array.from({ length: COUNT }, (_, p) => p),
);
const FIVES = full("float32", [COUNT], 5);
const ADD = { reduction: "add" } as const;
const heapInputs = () => ({
  data: full("float32", [COUNT], 1),
  indices: tensor("int32", [COUNT, 1], ORDER.data.slice()),
  updates: full("float32", [COUNT], 5),
  out: zeros("float32", [COUNT]),
});
const transfer = ({ data }: Tensor): void => {
  const { buffer } = data as Float32Array;
  structuredClone(buffer, { transfer: [buffer as ArrayBuffer] });
};
const taken = (): number => executor.shared?.taken ?? 0;
/** Whether it is what the sum of 1 and 5 is. */
const isSum = (one: Tensor): boolean => (one.data as Float32Array).every((value) => value === 6);

test("a second dispose does not free the memory of whoever got it next", () => {
  const first = engine.alloc("float32", [100]);
  first.dispose();
  const second = engine.alloc("float32", [100]);
  second.data.fill(7);
  first.dispose();
  const third = engine.alloc("float32", [100]);
  third.data.fill(8);
  assert.ok(second.data.every((value) => value === 7));
  second.dispose();
  third.dispose();
});

test("memory that is disposed of while a call is pending is released after the call", async () => {
  const [data, indices, updates] = [full("float32", [COUNT], 1), ORDER, FIVES].map(resident);
  const promise = engine.async.scatterND(data, indices, updates, ADD);
  for (const one of [data, indices, updates]) one.dispose();
  const others = [1, 2, 3].map(() => engine.alloc("float32", [COUNT]));
  for (const one of others) one.data.fill(99);
  const result = await promise;
  assert.ok(isSum(result));
  for (const one of [...others, result]) one.dispose();
});

test("results that are disposed of while a call reads them keep their values until it ends", async () => {
  const one = engine.gatherND(full("float32", [COUNT], 1), ORDER);
  const promise = engine.async.scatterND(one, ORDER, FIVES, ADD);
  one.dispose();
  engine.gatherND(full("float32", [COUNT], 9), ORDER).dispose();
  assert.ok(isSum(await promise));
});

test("an asynchronous scatter without out leaves data of the engine as it was", async () => {
  const data = resident(full("float32", [COUNT], 1));
  const result = await engine.async.scatterND(data, ORDER, FIVES, ADD);
  assert.ok(isSum(result));
  assert.ok(equals(data, full("float32", [COUNT], 1)));
  data.dispose();
});

test(
  "300 calls, two always in flight, take no more memory than two",
  { skip: WITHOUT_THREADS },
  async () => {
    // What is in the block is not counted.
    const restore = setLimits({ SCRATCH: { block: 64 } });
    const data = resident(full("float32", [COUNT], 1));
    (await engine.async.scatterND(data, ORDER, FIVES, ADD)).dispose();
    const before = taken();
    let most = 0;
    const make = (): Promise<Tensor> => engine.async.scatterND(data, ORDER, FIVES, ADD);
    let pending = [make(), make()];
    for (let call = 0; call < 300; call++) {
      const [first, second] = pending;
      (await first).dispose();
      pending = [second, make()];
      most = Math.max(most, taken());
    }
    for (const one of pending) (await one).dispose();
    // Of one call: the copies of the indices' offsets, of the updates and of the result.
    assert.ok(most > before && most - before < 5 * 4 * COUNT, `${most - before} bytes`);
    assert.equal(taken(), before);
    data.dispose();
    restore();
  },
);

test("calls that wait give their scratch memory back, failed ones too", () => {
  const [data, indices, updates] = [full("float32", [COUNT], 1), ORDER, FIVES].map(resident);
  engine.scatterND(data, indices, updates, ADD).dispose();
  const before = taken();
  engine.scatterND(data, indices, updates, ADD).dispose();
  assert.equal(taken(), before);
  (indices.data as Int32Array)[COUNT - 1] = -2 * COUNT;
  assert.throws(
    () => engine.scatterND(data, indices, updates, ADD),
    (error) => isTensorError(error, "index-out-of-range"),
  );
  assert.equal(taken(), before);
  for (const one of [data, indices, updates]) one.dispose();
});

test("engine.dispose lets pending calls end first, and the engine can be used after it", async () => {
  const calls = [1, 2, 3].map(() =>
    engine.async.scatterND(full("float32", [COUNT], 1), ORDER, FIVES, ADD),
  );
  await settle();
  engine.dispose();
  for (const one of await Promise.all(calls)) assert.ok(isSum(one));
  const again = await engine.async.scatterND(full("float32", [COUNT], 1), ORDER, FIVES, ADD);
  assert.ok(isSum(again));
});

test(
  "memory that is transferred while a call is pending is an error of that call alone",
  { skip: WITHOUT_THREADS },
  async () => {
    for (const part of ["data", "indices", "updates", "out"] as const) {
      const inputs = heapInputs();
      const first = engine.async.scatterND(full("float32", [COUNT], 1), ORDER, FIVES, ADD);
      const second = engine.async.scatterND(inputs.data, inputs.indices, inputs.updates, {
        ...ADD,
        out: inputs.out,
      });
      transfer(inputs[part]);
      const third = engine.async.scatterND(full("float32", [COUNT], 1), ORDER, FIVES, ADD);
      await assertRejectedCode("disposed", { input: part }, () => second);
      assert.ok(isSum(await first) && isSum(await third));
    }
  },
);

test(
  "memory that is transferred while workers use it is an error",
  { skip: WITHOUT_THREADS },
  async () => {
    for (const part of ["data", "indices", "updates", "out"] as const) {
      const { data, indices, updates, out } = heapInputs();
      const promise = engine.async.scatterND(data, indices, updates, { ...ADD, out });
      transfer({ data, indices, updates, out }[part]);
      await assertRejectedCode("disposed", { input: part }, () => promise);
    }
    const inPlace = full("float32", [COUNT], 1);
    const promise = engine.async.scatterND(inPlace, ORDER, FIVES, { ...ADD, out: inPlace });
    transfer(inPlace);
    await assert.rejects(promise, (error) => isTensorError(error, "disposed"));
  },
);

test(
  "an engine with threads works through many lives of its workers",
  { skip: WITHOUT_THREADS },
  async () => {
    const many = await tracedEngine(3, { submit: 1 });
    assert.ok(many.pool);
    for (let life = 0; life < 5; life++) {
      const result = await many.engine.async.scatterND(
        full("float32", [COUNT], 1),
        ORDER,
        FIVES,
        ADD,
      );
      assert.ok(isSum(result));
      many.engine.dispose();
      await started(many.pool);
      many.engine.dispose();
    }
  },
);

/** A pool whose workers can be made to vanish; where they do so silently, the pool is not notified, as in a browser. */
function vanishingPool(isSilent: boolean): { pool: WorkerPool; vanish(): Promise<void> } {
  const handles: WorkerHandle[] = [];
  const memory = new WasmPlatform().sharedMemory();
  const seen = { ended: 0 };
  const pool = new WorkerPool(2, memory, (parts, onMessage, onEnd) => {
    const handle = spawn(parts, onMessage, () => {
      seen.ended++;
      if (!isSilent) onEnd();
    });
    handles.push(handle);
    return handle;
  });
  const vanish = async (): Promise<void> => {
    const all = seen.ended + handles.length;
    for (const handle of handles.splice(0)) handle.terminate();
    while (seen.ended < all) await settle();
  };
  return { pool, vanish };
}

const isEngineError = (error: unknown): boolean => isTensorError(error, "engine");
test(
  "workers that vanish while they are idle are replaced",
  { skip: WITHOUT_THREADS },
  async () => {
    const { pool, vanish } = vanishingPool(false);
    for (let life = 0; life < 3; life++) {
      await pool.runAsync([[], []]);
      await vanish();
    }
    await started(pool);
    await vanish();
    assert.equal(pool.isReady, false);
    await started(pool);
    assert.ok(pool.run([[], []]));
    pool.stop();
  },
);

test(
  "workers that vanish without a word are an error within the pool's patience",
  { skip: WITHOUT_NODE_ITSELF || WITHOUT_THREADS },
  async () => {
    const { pool, vanish } = vanishingPool(true);
    await pool.runAsync([[], []]);
    await vanish();
    // Little patience where workers are gone, so that a busy machine is no reason to fail.
    let restore = setLimits({ THREADS: { patience: 200 } });
    await assert.rejects(pool.runAsync([[], []]), isEngineError);
    restore();
    await pool.runAsync([[], []]);
    await started(pool);
    await vanish();
    restore = setLimits({ THREADS: { patience: 200 } });
    assert.throws(() => pool.run([[], []]), isEngineError);
    restore();
    await started(pool);
    assert.ok(pool.run([[], []]));
    pool.stop();
  },
);

test(
  "workers are not ready for a call that waits while they have a round of one that does not",
  { skip: WITHOUT_THREADS },
  async () => {
    const pool = new WorkerPool(2, new WasmPlatform().sharedMemory());
    await pool.runAsync([[], []]);
    assert.equal(pool.isReady, true);
    const pending = pool.runAsync([[], []]);
    assert.equal(pool.isReady, false);
    await pending;
    assert.equal(pool.isReady, true);
    pool.stop();
  },
);

const NEVER: typeof spawn = () => ({ terminate() {}, keepAlive() {} });

/** Ways in which workers fail to start, and whether the pool certainly knows afterwards why it has none. */
const STARTS: readonly (readonly [says: string, spawn: typeof spawn, isCertain: boolean])[] = [
  [
    "that are refused",
    () => {
      throw new Error("refused");
    },
    true,
  ],
  ["that never start", NEVER, true],
  [
    "of which one never starts",
    (parts, ...on) => (parts.index === 0 ? NEVER : spawn)(parts, ...on),
    // On a busy machine the other one may not have started either.
    false,
  ],
];

for (const [says, spawnWorker, isCertain] of STARTS) {
  test(`workers ${says} leave the work to the caller`, { skip: WITHOUT_THREADS }, async () => {
    const restore = setLimits({ THREADS: { start: 200 } });
    const memory = new WasmPlatform().sharedMemory();
    const pool = new WorkerPool(2, memory, spawnWorker);
    assert.equal(pool.whyUnavailable, null);
    await copyByHalves(pool, memory);
    const why = pool.whyUnavailable;
    assert.ok(why !== null || !isCertain);
    if (isCertain) reportSentence("workers", String(why));
    restore();
    pool.stop();
  });
}

test(
  "workers that start long after others, and after the patience of a round, do their part",
  { skip: WITHOUT_THREADS },
  async () => {
    const restore = setLimits({ THREADS: { patience: 50 } });
    const memory = new WasmPlatform().sharedMemory();
    const pool = new WorkerPool(2, memory, (parts, onMessage, onEnd) => {
      if (parts.index === 0) return spawn(parts, onMessage, onEnd);
      let handle: WorkerHandle | undefined;
      setTimeout(() => {
        // The round itself has the patience of the package.
        restore();
        handle = spawn(parts, onMessage, onEnd);
      }, 300);
      return { terminate: () => handle?.terminate(), keepAlive: (keep) => handle?.keepAlive(keep) };
    });
    await copyByHalves(pool, memory);
    // Workers that the caller had stood in for would be gone.
    assert.equal(pool.isReady, true);
    assert.equal(pool.whyUnavailable, null);
    pool.stop();
  },
);

/** Copies 64 bytes, half of them on each of two workers, and checks the copy. */
async function copyByHalves(pool: WorkerPool, memory: KernelMemory): Promise<void> {
  const kernel = memory.kernels().find("copy_bytes");
  const [from, to] = [memory.allocate(64), memory.allocate(64)];
  memory.bytesAt(from, 64).fill(3);
  memory.bytesAt(to, 64).fill(0);
  await pool.runAsync([0, 32].map((at) => [{ kernel, args: [to + at, from + at, 32] }]));
  assert.ok(memory.bytesAt(to, 64).every((byte) => byte === 3));
}

const ENTRY = new URL("../../src/entries/index.js", import.meta.url).href;

/** Uses engines with a worker each, drops them, and counts the threads of the process before and after. */
const DROP = `
  const { readFileSync } = await import("node:fs");
  const { createEngine } = await import(${JSON.stringify(ENTRY)});
  const threads = () => Number(/^Threads:\\s+(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const use = async () => {
    const engine = createEngine({ kind: "wasm", threads: 2 });
    const data = engine.alloc("float32", [20_000]);
    await engine.async.gather(data, engine.alloc("int32", [20_000]));
  };
  const before = threads();
  for (let engine = 0; engine < 6; engine++) await use();
  const most = threads() - before;
  for (let turn = 0; turn < 50 && threads() > before; turn++) {
    gc();
    await pause(100);
  }
  console.log(most, threads() - before);`;

const ON_LINUX =
  WITHOUT_NODE_ITSELF || (process.platform !== "linux" && "it counts threads as Linux does");

test("engines that are dropped end their threads", { skip: ON_LINUX }, () => {
  const args = ["--expose-gc", "--input-type=module", "--eval", DROP];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: 60_000,
  });
  const [most, left] = stdout.split(" ").map(Number);
  assert.ok(most >= 2, `${most} threads; ${stderr}`);
  assert.equal(left, 0);
});
