/** Which executor runs: the one that was asked for, or the next best that the platform has. */

import type { Executor } from "./executor.ts";
import { createJs } from "./js.ts";
import { WasmExecutor } from "./wasm/executor.ts";
import type { KernelMemory } from "./wasm/kernel-memory.ts";
import { WasmPlatform } from "./wasm/platform.ts";
import { whyNoWorkers } from "./wasm/spawn.ts";
import { WorkerPool } from "./wasm/worker-pool.ts";

export const ENGINE_KINDS = ["auto", "js", "wasm"] as const;

export type EngineKind = (typeof ENGINE_KINDS)[number];

/** An executor, and why it is another kind or has fewer threads than was asked for; null where it is as asked. */
export interface Choice {
  readonly executor: Executor;
  readonly why: () => string | null;
}

/** WebAssembly as this process has it. */
let platform: WasmPlatform | undefined;

/**
 * `auto` and `wasm` give JavaScript where WebAssembly is missing, forbidden by a policy, or lacks vectors; and one thread
 * where there are no workers or no shared memory. Nothing is compiled and no worker is started yet.
 */
export function chooseExecutor(kind: EngineKind, threads = 1): Choice {
  const js = createJs();
  if (kind === "js") return { executor: js, why: () => null };
  const wasm = (platform ??= new WasmPlatform());
  let found: SharedMemory | undefined;
  const shared = (): SharedMemory => (found ??= findSharedMemory(wasm));
  const whyOne = threads === 1 ? null : (whyNoWorkers() ?? shared().why);
  const memory = threads === 1 || whyOne !== null ? null : shared().memory;
  const pool = memory && new WorkerPool(threads, memory);
  const makeShared = (): KernelMemory | null => shared().memory;
  const executor = new WasmExecutor({ js, platform: wasm, makeShared, pool });
  return { executor, why: () => wasm.whyNone ?? whyOne ?? pool?.whyUnavailable ?? null };
}

/** A memory for the tensors of one engine, or why there is none. */
interface SharedMemory {
  readonly memory: KernelMemory | null;
  readonly why: string | null;
}

function findSharedMemory(platform: WasmPlatform): SharedMemory {
  const why = platform.whyNone;
  if (why !== null) return { memory: null, why };
  try {
    return { memory: platform.sharedMemory(), why: null };
  } catch (error) {
    return { memory: null, why: `there is no shared memory (${String(error)})` };
  }
}
