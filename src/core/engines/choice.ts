/** Chooses an executor: the requested kind, or the next best kind that the platform supports. */

import { createJs } from "./js.ts";
import type { MemorySource } from "./pool.ts";
import type { Choice, EngineKind } from "./kinds.ts";
import { WasmExecutor } from "./wasm/executor.ts";
import type { KernelMemory } from "./wasm/kernel-memory.ts";
import { WasmPlatform } from "./wasm/platform.ts";
import type { Threading } from "./wasm/session.ts";

/** Creates the threads of an engine; `threadsOf` in wasm/threads.ts implements this interface. */
export interface WantedThreads {
  /** Returns the reason why workers are unavailable, or null if no reason is known. */
  whyNone(): string | null;
  /**
   * Creates the threads.
   * @param memory the shared memory of the engine
   */
  make(memory: KernelMemory): Threading;
  readonly reserve: MemorySource;
}

/** WebAssembly support of this process; undefined until it is first needed. */
let platform: WasmPlatform | undefined;

/**
 * Chooses the executor for an engine. `auto` and `wasm` fall back to JavaScript if WebAssembly is missing, forbidden by
 * a policy or without vectors, and to one thread if workers or shared memory are missing. Choosing an executor compiles
 * nothing and starts no workers.
 */
export function chooseExecutor(kind: EngineKind, threads: WantedThreads | null = null): Choice {
  if (kind === "js") return { executor: createJs(), why: () => null };
  const js = createJs(threads?.reserve);
  const wasm = (platform ??= new WasmPlatform());
  let found: SharedMemory | undefined;
  const shared = (): SharedMemory => (found ??= findSharedMemory(wasm));
  const whyOne = threads && (threads.whyNone() ?? shared().why);
  const memory = threads && whyOne === null ? shared().memory : null;
  const threading = threads && memory && threads.make(memory);
  const makeShared = (): KernelMemory | null => shared().memory;
  const executor = new WasmExecutor({ js, platform: wasm, makeShared, threading });
  return { executor, why: () => wasm.whyNone ?? whyOne ?? threading?.pool.whyUnavailable ?? null };
}

/** The memory for one engine's tensors, or the reason why it is unavailable. */
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
    return { memory: null, why: `shared memory is not available (${String(error)})` };
  }
}
