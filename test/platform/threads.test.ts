import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../../src/core/create-engine.ts";
import { DONE, PROGRESS, roundOf, STARTED, type Call } from "../../src/core/engines/wasm/calls.ts";
import { WasmPlatform } from "../../src/core/engines/wasm/platform.ts";
import { webAssembly } from "../../src/core/engines/wasm/kernels.ts";
import { WorkerPool } from "../../src/core/engines/wasm/worker-pool.ts";
import type { spawn } from "../../src/core/engines/wasm/spawn.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { started, tracedEngine } from "../support/engines.ts";
import { setLimits } from "../support/limits.ts";
import { WITHOUT_THREADS } from "../support/platform.ts";

test(
  "an index that is bad on some thread gives the error of one thread",
  { skip: WITHOUT_THREADS },
  async () => {
    const { engine, paths } = await tracedEngine(3);
    const count = 100_000;
    const indices = engine.alloc("int64", [count, 1]);
    const data = engine.alloc("float32", [10]);
    engine.gatherND(data, indices);
    assert.equal(paths()[0], "indices 3");
    for (const bad of [0, 33_333, 50_000, count - 1]) {
      indices.data.fill(3n);
      indices.data[bad] = 10n;
      indices.data[count - 1] = 11n;
      const got = bad === count - 1 ? 11 : 10;
      assert.throws(
        () => engine.gatherND(data, indices),
        (error) =>
          isTensorError(error, "index-out-of-range") && error.at?.[0] === bad && error.got === got,
      );
    }
    engine.dispose();
  },
);

test(
  "a worker that dies is an engine error soon, and the next call has a new one",
  { skip: WITHOUT_THREADS },
  async () => {
    const memory = new WasmPlatform().sharedMemory();
    const kernels = memory.kernels();
    const pool = new WorkerPool(2, memory);
    const [data, out, offsets] = [64, 64, 64].map((bytes) => memory.allocate(bytes));
    const { buffer } = memory;
    new Float32Array(buffer, data, 1)[0] = 7;
    const good: Call = {
      kernel: kernels.find("gather", 4),
      args: [data, out, offsets, 1, 1, 1, 1],
    };
    await started(pool);
    assert.ok(pool.run([[], [good]]));
    // 16 bytes of which 8 lie beyond 4 GiB: the kernel traps.
    new Uint32Array(buffer, offsets, 1)[0] = 2 ** 28 - 1;
    const wide: Call = { kernel: kernels.find("gather", 16), args: [8, out, offsets, 1, 1, 1, 1] };
    assert.throws(
      () => pool.run([[], [wide]]),
      (error) => isTensorError(error, "engine"),
    );
    await assert.rejects(pool.runAsync([[wide], []]), (error) => isTensorError(error, "engine"));
    new Uint32Array(buffer, offsets, 1)[0] = 0;
    new Float32Array(buffer, out, 1)[0] = 0;
    await started(pool);
    assert.ok(pool.run([[], [good]]));
    assert.equal(new Float32Array(buffer, out, 1)[0], 7);
    pool.stop();
  },
);

test(
  "a round may take longer than the pool's patience, as long as kernels return",
  { skip: WITHOUT_THREADS },
  async () => {
    const memory = new WasmPlatform().sharedMemory();
    const kernels = memory.kernels();
    const restore = setLimits({ THREADS: { patience: 600 } });
    const pool = new WorkerPool(2, memory);
    const length = 2 ** 23;
    const [from, to] = [0, 0].map(() => memory.allocate(length));
    const copyOne = (): unknown => kernels.all[kernels.find("copy_bytes")](to, from, length);
    // The first touches every page, and takes many times as long as the next.
    copyOne();
    const since = performance.now();
    for (let i = 0; i < 10; i++) copyOne();
    const milliseconds = (performance.now() - since) / 10;
    const slow: Call = {
      kernel: kernels.find("copy_bytes"),
      args: [to, from, length],
      repeat: Math.ceil(1200 / milliseconds),
      steps: [0, 0, 0],
    };
    await started(pool);
    assert.ok(pool.run([[], [slow]]));
    restore();
    pool.stop();
  },
);

test(
  "so may an asynchronous round, and workers that start one after the other",
  { skip: WITHOUT_THREADS },
  async () => {
    const restore = setLimits({ THREADS: { patience: 100, start: 100 } });
    // Workers on this thread: what holds it up holds up the pool's patience too.
    const spawnHere: typeof spawn = ({ control, index }, onMessage) => {
      const words = new Int32Array(control);
      const start = 6 * (index + 1);
      let tick = 0;
      const timer = setInterval(() => {
        const hasRound = Atomics.load(words, roundOf(index)) > 0;
        if (tick > start && !hasRound) return;
        tick++;
        if (tick < start) return;
        const isEnd = tick === start + 20;
        Atomics.add(words, tick === start ? STARTED : isEnd ? DONE : PROGRESS, 1);
        if (tick === start || isEnd) onMessage();
        if (isEnd) clearInterval(timer);
      }, 10);
      return { terminate: () => clearInterval(timer), keepAlive() {} };
    };
    const pool = new WorkerPool(2, new WasmPlatform().sharedMemory(), spawnHere);
    await pool.runAsync([[], []]);
    assert.equal(pool.whyUnavailable, null);
    restore();
  },
);

const WITHOUT_SHARED =
  typeof SharedArrayBuffer === "undefined" && "engines have no memory of their own here";

test(
  "an engine without workers makes no memory before it is needed",
  { skip: WITHOUT_SHARED },
  () => {
    const memory = Object.getOwnPropertyDescriptor(webAssembly(), "Memory");
    assert.ok(memory);
    let asked = 0;
    const get = (): unknown => {
      asked++;
      return memory.value;
    };
    Object.defineProperty(webAssembly(), "Memory", { get, configurable: true });
    try {
      for (const kind of ["auto", "wasm", "js"] as const) createEngine({ kind, threads: 1 });
      assert.equal(asked, 0);
      const engine = createEngine({ kind: "wasm" });
      engine.alloc("int8", [1]);
      assert.ok(asked > 0);
    } finally {
      Object.defineProperty(webAssembly(), "Memory", memory);
    }
  },
);

test("threads that there cannot be are an error", () => {
  for (const threads of [0, -1, 1.5, NaN, 65, "2" as never]) {
    assert.throws(
      () => createEngine({ threads }),
      (error) => isTensorError(error, "attribute"),
    );
  }
});
