/**
 * Node's modules where they are there, as in Node, Bun and Deno; null in a browser. Nothing is imported, so a bundler for
 * pages has nothing to resolve.
 */

import type * as FileSystem from "node:fs/promises";
import type * as Fs from "node:fs";
import type * as Path from "node:path";
import type * as Zlib from "node:zlib";

interface Modules {
  readonly "node:fs": typeof Fs;
  readonly "node:fs/promises": typeof FileSystem;
  readonly "node:path": typeof Path;
  readonly "node:zlib": typeof Zlib;
}

export function nodeModule<N extends keyof Modules>(name: N): Modules[N] | null {
  const process: { getBuiltinModule?(name: string): Modules[N] | undefined } =
    Reflect.get(globalThis, "process") ?? {};
  return process.getBuiltinModule?.(name) ?? null;
}
