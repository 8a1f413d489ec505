/**
 * The kinds of executors. This file is separate from choice.ts, so that type declarations of engines do not refer to
 * WebAssembly memory.
 */

import type { Executor } from "./executor.ts";

export const ENGINE_KINDS = ["auto", "js", "wasm"] as const;

export type EngineKind = (typeof ENGINE_KINDS)[number];

/** An executor, and the reason why its kind or thread count differs from the request; null if it does not differ. */
export interface Choice {
  readonly executor: Executor;
  readonly why: () => string | null;
}
