/** Chooses an executor: the requested kind, or the next best kind that the platform supports. */

import { Executor } from "./executor.ts";
import type { MemorySource } from "./pool.ts";
import { WasmEngine, type Threading } from "./wasm/engine.ts";
import type { KernelMemory } from "./wasm/kernel-memory.ts";
import { WasmPlatform } from "./wasm/platform.ts";

export const ENGINE_KINDS = ["auto", "js", "wasm"] as const;

export type EngineKind = (typeof ENGINE_KINDS)[number];

/** An executor, and the reason why its kind or thread count differs from the request; null if it does not differ. */
export interface Choice {
  readonly executor: Executor;
  readonly why: () => string | null;
}

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

let platform: WasmPlatform | undefined;

/** Returns the WebAssembly support of this process, which is created when it is first needed. */
const platformOf = (): WasmPlatform => (platform ??= new WasmPlatform());

/**
 * Chooses the executor for an engine. `auto` and `wasm` fall back to JavaScript if WebAssembly is missing, forbidden by
 * a policy or without vectors, and to one thread if workers or shared memory are missing. Choosing an executor compiles
 * nothing and starts no workers.
 */
export function chooseExecutor(kind: EngineKind, threads: WantedThreads | null = null): Choice {
  if (kind === "js") return { executor: new Executor(), why: () => null };
  let found: SharedMemory | undefined;
  const shared = (): SharedMemory => (found ??= findSharedMemory(platformOf()));
  const whyOne = threads && (threads.whyNone() ?? shared().why);
  const memory = threads && whyOne === null ? shared().memory : null;
  const threading = threads && memory && threads.make(memory);
  const makeShared = (): KernelMemory | null => shared().memory;
  const engine = new WasmEngine({ platform: platformOf, makeShared, threading });
  const executor = new Executor(engine, threads?.reserve);
  const why = (): string | null =>
    platformOf().whyNone ?? whyOne ?? threading?.pool.whyUnavailable ?? null;
  return { executor, why };
}

let byDefault: Executor | undefined;

/** Returns the executor of the package's plain functions, which is created when it is first needed. */
export const defaultExecutor = (): Executor => (byDefault ??= chooseExecutor("auto").executor);

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
