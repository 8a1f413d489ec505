/** The kinds of executors. They stand apart from the choice, so that declarations of engines name no memory of WebAssembly. */

import type { Executor } from "./executor.ts";

export const ENGINE_KINDS = ["auto", "js", "wasm"] as const;

export type EngineKind = (typeof ENGINE_KINDS)[number];

/** An executor, and why it is another kind or has fewer threads than was asked for; null where it is as asked. */
export interface Choice {
  readonly executor: Executor;
  readonly why: () => string | null;
}
