/**
 * All engines that the suite runs on. A new engine is one line here. Starting many threads takes most of the time of
 * their tests, so only `test/nightly/many-threads.test.ts` has engines with more than a few threads.
 */

import { after } from "node:test";
import { createEngine, engineOf, type Engine } from "../../src/core/create-engine.ts";
import { Executor } from "../../src/core/engines/executor.ts";
import { WasmEngine, type Path } from "../../src/core/engines/wasm/engine.ts";
import type { KernelMemory } from "../../src/core/engines/wasm/kernel-memory.ts";
import { WasmPlatform } from "../../src/core/engines/wasm/platform.ts";
import { Reserve } from "../../src/core/engines/wasm/reserve.ts";
import { Threads } from "../../src/core/engines/wasm/threads.ts";
import { WorkerPool } from "../../src/core/engines/wasm/worker-pool.ts";
import { WASM, type WasmLimits } from "../../src/core/limits.ts";
import { settle, WITHOUT_THREADS } from "./platform.ts";

/** WebAssembly for every call, however small, with windows of a few elements. */
export const TINY: WasmLimits = {
  window: 64,
  halves: 64,
  work: 0,
  submit: 0,
  call: 0,
  indices: 0,
  slice: Infinity,
  element: Infinity,
  regions: 1,
  share: 1,
  heap: 1,
  shared: 64,
  partition: 1,
  kept: 1,
  whole: 0,
  row: 1,
};

const platform = new WasmPlatform();

/** An engine that records the path of each call, with its workers started. */
export interface TracedEngine {
  readonly engine: Engine;
  readonly executor: WasmEngine;
  readonly pool: WorkerPool | null;
  /** The paths of the calls since the last query, in order. */
  paths(): Path[];
}

export async function tracedEngine(
  threads: number,
  limits: Partial<WasmLimits> = WASM,
  poolOf = (memory: KernelMemory): WorkerPool => new WorkerPool(threads, memory),
  on = platform,
): Promise<TracedEngine> {
  const memory = typeof SharedArrayBuffer === "function" ? on.sharedMemory() : null;
  const pool = threads > 1 && memory !== null ? poolOf(memory) : null;
  const seen: Path[] = [];
  const wasm = new WasmEngine({
    platform: () => on,
    makeShared: () => memory,
    threading: pool && memory && new Threads(pool, memory),
    // The record itself is passed, so that limits drawn later apply to the engine.
    limits: limits === WASM ? WASM : { ...WASM, ...limits },
    trace: (path) => seen.push(path),
  });
  if (pool !== null) await started(pool);
  const executor = new Executor(wasm, pool === null ? undefined : new Reserve());
  return {
    engine: engineOf({ executor, why: () => null }),
    executor: wasm,
    pool,
    paths: () => seen.splice(0),
  };
}

/** Starts the workers of a pool and waits until they are ready, if the caller may wait at all. */
export async function started(pool: WorkerPool): Promise<void> {
  if (WITHOUT_THREADS !== false) return;
  pool.start();
  while (!pool.isReady) await settle();
}

const tinyWasm = async (threads = 1): Promise<Engine> => (await tracedEngine(threads, TINY)).engine;

/** True if the tests run on engines with many threads instead of all others. */
export const MANY_THREADS =
  typeof process !== "undefined" && process.env["MANY_THREADS"] !== undefined;

const few = async (): Promise<Record<string, Engine>> => ({
  js: createEngine({ kind: "js" }),
  wasm: createEngine({ kind: "wasm" }),
  "wasm for all": await tinyWasm(),
  ...(WITHOUT_THREADS === false && { "wasm for all, 3 threads": await tinyWasm(3) }),
});

const many = async (): Promise<Record<string, Engine>> => ({
  "wasm for all, 2 threads": await tinyWasm(2),
  "wasm for all, 8 threads": await tinyWasm(8),
});

export const ENGINES: Readonly<Record<string, Engine>> = await (MANY_THREADS ? many() : few());
after(() => {
  for (const engine of Object.values(ENGINES)) engine.dispose();
});
