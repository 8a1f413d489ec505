/**
 * Provides Node's built-in modules in Node, Bun and Deno, or null in a browser. The file imports nothing, so a bundler
 * for web pages has nothing to resolve.
 */

import type * as Fs from "node:fs";
import type * as FsPromises from "node:fs/promises";
import type * as Path from "node:path";
import type * as WorkerThreads from "node:worker_threads";
import type * as Zlib from "node:zlib";
import { TensorError } from "../../core/errors.ts";

interface Modules {
  readonly "node:fs": typeof Fs;
  readonly "node:fs/promises": typeof FsPromises;
  readonly "node:path": typeof Path;
  readonly "node:worker_threads": typeof WorkerThreads;
  readonly "node:zlib": typeof Zlib;
}

export function moduleOfNode<Name extends keyof Modules>(name: Name): Modules[Name] | null {
  const process: { getBuiltinModule?(name: Name): Modules[Name] | undefined } =
    Reflect.get(globalThis, "process") ?? {};
  return process.getBuiltinModule?.(name) ?? null;
}

/** Throws an `attribute` error for a path in an environment without files, such as a browser. */
export function checkFiles(location: string): void {
  if (moduleOfNode("node:fs") !== null) return;
  const sentence = `${location} is a path, which a page cannot read; give a URL of https:// or s3://`;
  throw new TensorError("attribute", sentence, { key: "location", file: location });
}
