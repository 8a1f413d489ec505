/** Which executor runs: the one that was asked for, or the next best that the platform has. */

import type { Executor } from "./executor.ts";
import { createJs } from "./js.ts";
import { WasmExecutor } from "./wasm/executor.ts";
import { Heap } from "./wasm/heap.ts";
import { instantiate } from "./wasm/kernels.ts";
import { hasThreads } from "./wasm/team.ts";

export const ENGINE_KINDS = ["auto", "js", "wasm"] as const;

export type EngineKind = (typeof ENGINE_KINDS)[number];

/**
 * `auto` and `wasm` give JavaScript where WebAssembly is missing, forbidden by a policy, or lacks vectors; and one thread
 * where there are no workers, no shared memory, or the caller may not wait, as in a page.
 */
export function createExecutor(kind: EngineKind, threads = 1): Executor {
  const js = createJs();
  if (kind === "js") return js;
  try {
    const heap = new Heap();
    const size = heap.isShared && hasThreads() ? threads : 1;
    return new WasmExecutor(js, heap, instantiate(heap), undefined, size);
  } catch {
    return js;
  }
}
