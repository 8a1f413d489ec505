/** What a test needs and this platform lacks, for the test's option `skip`; false in Node, which has it all. */

import { mayWait, whyNoWorkers } from "../../src/core/engines/wasm/spawn.ts";

export const WITHOUT_NODE = typeof process === "undefined" && "it asks Node";

/** Bun, Deno and browsers: a worker that waits cannot be ended there at once, and processes take other options. */
export const WITHOUT_NODE_ITSELF =
  (typeof process === "undefined" || "bun" in process.versions || "Deno" in globalThis) &&
  "it asks Node itself";

/** Bun's fetch sends a request again by itself where the connection breaks, and gives nothing of a body that breaks off. */
export const WITH_FETCH_OF_BUN =
  typeof process !== "undefined" &&
  "bun" in process.versions &&
  "Bun's fetch sends requests again by itself";

/** Deno's fetch leaves a body compressed if the request has asked for none that is. */
export const WITH_FETCH_OF_DENO =
  "Deno" in globalThis && "Deno's fetch leaves bodies compressed that were not asked for";

/** Deno finds packages in its own cache, and not in a folder that a test makes. */
export const WITHOUT_FOLDERS_OF_PACKAGES =
  "Deno" in globalThis && "Deno does not load packages from a folder that a test makes";

/** Deno's WebGPU, which is wgpu, ends what was submitted and waited for when a device is destroyed. */
export const WITH_WGPU = "Deno" in globalThis;

/** Bun and browsers. Bun counts the memory of typed arrays as that of objects, and gives it back later. */
export const WITHOUT_V8 =
  (typeof process === "undefined" || "bun" in process.versions) &&
  "it asks V8 for the size of its heap";

/** V8 refuses strings of 2^29 characters and Firefox of 2^30, before memory is exhausted. JavaScriptCore makes them. */
export const WITH_LONG_STRINGS =
  makesStringOf(30) && "strings of 2^30 characters can be made here, so that none is too long";

export const WITHOUT_THREADS =
  !(whyNoWorkers() === null && mayWait()) && "there are no workers that may be waited for";

/** Lets the workers start that were asked for: in browsers they do only while their maker does not wait. */
export const settle = (): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, WITHOUT_NODE === false ? 0 : 5));

/** Whether a string of 2^bits characters can be made. It costs no memory, because concatenations are stored as such. */
function makesStringOf(bits: number): boolean {
  try {
    let text = "x";
    for (let i = 0; i < bits; i++) text += text;
    return text.length === 2 ** bits;
  } catch {
    return false;
  }
}
