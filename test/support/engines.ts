/** Every engine that the suite runs on. A new engine is one line here. */

import { createEngine, engineOf, type Engine } from "../../src/create-engine.ts";
import { createJs } from "../../src/engines/js.ts";
import { sharedSpace, WasmExecutor } from "../../src/engines/wasm/executor.ts";
import { Space } from "../../src/engines/wasm/space.ts";
import { settle, WITHOUT_THREADS } from "./platform.ts";

/** WebAssembly for everything, however small, through windows that hold a few elements. */
function tinyWasm(threads = 1): Engine {
  const limits = { window: 64, work: 0, indices: 0, slice: Infinity, share: 1, deal: 1 };
  const own = new Space(false);
  return engineOf(new WasmExecutor(createJs(), own, sharedSpace(), threads, limits));
}

export const ENGINES: Readonly<Record<string, Engine>> = {
  js: createEngine({ kind: "js" }),
  wasm: createEngine({ kind: "wasm" }),
  "wasm for all": tinyWasm(),
  ...(WITHOUT_THREADS === false
    ? {
        "wasm for all, 2 threads": tinyWasm(2),
        "wasm for all, 3 threads": tinyWasm(3),
        "wasm for all, 8 threads": tinyWasm(8),
      }
    : {}),
};

// The first call on tensors of an engine's own memory asks for its threads.
for (const engine of Object.values(ENGINES)) {
  engine.gatherND(engine.alloc("float32", [8]), engine.alloc("int32", [8, 1]));
}
await settle();
