/**
 * Gives a process of Node, which loads this by `--import`, the WebGPU of npm's `webgpu` in the place where pages have it.
 * `WEBGPU_OPTIONS` holds an option of Dawn.
 */

import { pathToFileURL } from "node:url";
import { WEBGPU } from "./package.ts";

interface Dawn {
  create(options: readonly string[]): object;
  readonly globals: object;
}

const { create, globals }: Dawn = await import(pathToFileURL(WEBGPU).href);
const option = process.env["WEBGPU_OPTIONS"];
Object.assign(globalThis, globals);
// Node crashes when what `create` gives is collected as garbage before its devices.
const gpu = create(option === undefined ? [] : [option]);
Object.defineProperty(globalThis, "navigator", { value: Object.freeze({ gpu }) });
