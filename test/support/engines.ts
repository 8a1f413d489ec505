/** Every engine that the suite runs on. A new engine is one line here. */

import { createEngine, engineOf, type Engine } from "../../src/create-engine.ts";
import { createJs } from "../../src/engines/js.ts";
import { WasmExecutor } from "../../src/engines/wasm/executor.ts";
import { Heap } from "../../src/engines/wasm/heap.ts";
import { instantiate } from "../../src/engines/wasm/kernels.ts";
import { WITHOUT_THREADS } from "./platform.ts";

/** WebAssembly for everything, however small, through windows that hold a few elements. */
function tinyWasm(isShared: boolean, threads = 1): Engine {
  const heap = new Heap(isShared);
  const limits = { window: 64, work: 0, indices: 0, row: 0, slice: Infinity, share: 1 };
  return engineOf(new WasmExecutor(createJs(), heap, instantiate(heap), limits, threads));
}

export const ENGINES: Readonly<Record<string, Engine>> = {
  js: createEngine({ kind: "js" }),
  wasm: createEngine({ kind: "wasm" }),
  "wasm for all, shared memory": tinyWasm(true),
  "wasm for all, memory of its own": tinyWasm(false),
  ...(WITHOUT_THREADS === false
    ? {
        "wasm for all, 2 threads": tinyWasm(true, 2),
        "wasm for all, 3 threads": tinyWasm(true, 3),
        "wasm for all, 8 threads": tinyWasm(true, 8),
      }
    : {}),
};
