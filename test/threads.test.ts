import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../src/create-engine.ts";
import type { Call } from "../src/engines/wasm/calls.ts";
import { WasmPlatform } from "../src/engines/wasm/platform.ts";
import { webAssembly } from "../src/engines/wasm/web-assembly.ts";
import { WorkerPool } from "../src/engines/wasm/worker-pool.ts";
import { isTensorError } from "../src/errors.ts";
import { started, tracedEngine } from "./support/engines.ts";
import { WITHOUT_THREADS } from "./support/platform.ts";

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
    const pool = new WorkerPool(2, memory, 300);
    const [data, out, offsets] = [64, 64, 64].map((bytes) => memory.allocate(bytes));
    const { buffer } = memory;
    new Float32Array(buffer, data, 1)[0] = 7;
    const good: Call = { kernel: kernels.gather(4), args: [data, out, offsets, 1, 1, 1, 1] };
    await started(pool);
    assert.ok(pool.run([[], [good]]));
    // 16 bytes of which 8 lie beyond 4 GiB: the kernel traps.
    new Uint32Array(buffer, offsets, 1)[0] = 2 ** 28 - 1;
    const wide: Call = { kernel: kernels.gather(16), args: [8, out, offsets, 1, 1, 1, 1] };
    const since = Date.now();
    assert.throws(
      () => pool.run([[], [wide]]),
      (error) => isTensorError(error, "engine"),
    );
    await assert.rejects(pool.runAsync([[wide], []]), (error) => isTensorError(error, "engine"));
    assert.ok(Date.now() - since < 5000);
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
    const patience = 500;
    const pool = new WorkerPool(2, memory, patience);
    const length = 2 ** 23;
    const [from, to] = [0, 0].map(() => memory.allocate(length));
    const args = [to, from, length];
    const since = performance.now();
    for (let i = 0; i < 10; i++) kernels.all[kernels.copyBytes](to, from, length);
    const milliseconds = (performance.now() - since) / 10;
    const slow: Call = {
      kernel: kernels.copyBytes,
      args,
      repeat: Math.ceil((3 * patience) / milliseconds),
      steps: [0, 0, 0],
    };
    await started(pool);
    assert.ok(pool.run([[], [slow]]));
    await pool.runAsync([[slow], []]);
    pool.stop();
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
