/** Chooses the executor: the requested one, or the next best that the platform has. */

import { createJs } from "./js.ts";
import type { MemorySource } from "./pool.ts";
import type { Choice, EngineKind } from "./kinds.ts";
import { WasmExecutor } from "./wasm/executor.ts";
import type { KernelMemory } from "./wasm/kernel-memory.ts";
import { WasmPlatform } from "./wasm/platform.ts";
import type { Threading } from "./wasm/session.ts";

/** Creates the threads of an engine: see `threadsOf` in wasm/threads.ts. */
export interface WantedThreads {
  /** The reason that forbids workers, or null if none is known. */
  whyNone(): string | null;
  /** @param memory the shared memory of the engine */
  make(memory: KernelMemory): Threading;
  readonly reserve: MemorySource;
}

/** WebAssembly as this process has it. */
let platform: WasmPlatform | undefined;

/**
 * `auto` and `wasm` give JavaScript where WebAssembly is missing, forbidden by a policy, or lacks vectors; and one
 * thread where workers or shared memory are missing. Nothing is compiled and no worker is started yet.
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

/** A memory for the tensors of one engine, or the reason why it is missing. */
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
    return { memory: null, why: `shared memory is missing (${String(error)})` };
  }
}
