/** Which executor runs: the one that was asked for, or the next best that the platform has. */

import type { Executor } from "./executor.ts";
import { createJs } from "./js.ts";
import { sharedSpace, WasmExecutor } from "./wasm/executor.ts";
import { Space } from "./wasm/space.ts";
import { hasWorkers } from "./wasm/team.ts";

export const ENGINE_KINDS = ["auto", "js", "wasm"] as const;

export type EngineKind = (typeof ENGINE_KINDS)[number];

/**
 * `auto` and `wasm` give JavaScript where WebAssembly is missing, forbidden by a policy, or lacks vectors; and one thread
 * where there are no workers or no shared memory, or, but for asynchronous calls, the caller may not wait, as in a page.
 */
export function createExecutor(kind: EngineKind, threads = 1): Executor {
  const js = createJs();
  if (kind === "js") return js;
  try {
    const own = new Space(false);
    const alone = new WasmExecutor(js, own);
    if (threads === 1 || !hasWorkers()) return alone;
    try {
      return new WasmExecutor(js, own, sharedSpace(), threads);
    } catch {
      return alone;
    }
  } catch {
    return js;
  }
}
