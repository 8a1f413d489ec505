/**
 * Features that a test needs and this platform lacks, for the test's option `skip`; false in Node, which has all of
 * them.
 */

import { mayWait, whyNoWorkers } from "../../src/core/engines/wasm/spawn.ts";

export const WITHOUT_NODE = typeof process === "undefined" && "it asks Node";

/** Bun, Deno and browsers cannot end a waiting worker at once, and their processes take other options. */
export const WITHOUT_NODE_ITSELF =
  (typeof process === "undefined" || "bun" in process.versions || "Deno" in globalThis) &&
  "it asks Node itself";

/** Bun's fetch repeats a request if the connection breaks, and returns nothing of an interrupted body. */
export const WITH_FETCH_OF_BUN =
  typeof process !== "undefined" &&
  "bun" in process.versions &&
  "Bun's fetch sends requests again by itself";

/** Deno's fetch leaves a body compressed if the request asked for an uncompressed one. */
export const WITH_FETCH_OF_DENO =
  "Deno" in globalThis && "Deno's fetch leaves bodies compressed that were not asked for";

/** Deno finds packages in its own cache instead of a folder that a test makes. */
export const WITHOUT_FOLDERS_OF_PACKAGES =
  "Deno" in globalThis && "Deno does not load packages from a folder that a test makes";

/** Deno's WebGPU, which is wgpu, ends submitted and awaited work when a device is destroyed. */
export const WITH_WGPU = "Deno" in globalThis;

/** True in Bun and browsers. Bun counts the memory of typed arrays as objects, and releases it later. */
export const WITHOUT_V8 =
  (typeof process === "undefined" || "bun" in process.versions) &&
  "it asks V8 for the size of its heap";

/** V8 refuses strings of 2^29 characters and Firefox of 2^30, before memory runs out. JavaScriptCore makes them. */
export const WITH_LONG_STRINGS =
  makesStringOf(30) && "strings of 2^30 characters can be made here, so that none is too long";

export const WITHOUT_THREADS =
  !(whyNoWorkers() === null && mayWait()) && "there are no workers that may be waited for";

/** Lets requested workers start: in browsers they start only while their creator is not waiting. */
export const settle = (): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, WITHOUT_NODE === false ? 0 : 5));

/**
 * True if a string of 2^bits characters can be made. The test costs no memory, because engines store concatenations as
 * trees.
 */
function makesStringOf(bits: number): boolean {
  try {
    let text = "x";
    for (let i = 0; i < bits; i++) text += text;
    return text.length === 2 ** bits;
  } catch {
    return false;
  }
}
