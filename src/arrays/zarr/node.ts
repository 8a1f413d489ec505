/**
 * Node's zlib where it is there, as in Node, Bun and Deno; null in a browser. Nothing is imported, so a bundler for pages
 * has nothing to resolve.
 */

import type * as Zlib from "node:zlib";

export function zlibOfNode(): typeof Zlib | null {
  const process: { getBuiltinModule?(name: string): typeof Zlib | undefined } =
    Reflect.get(globalThis, "process") ?? {};
  return process.getBuiltinModule?.("node:zlib") ?? null;
}
