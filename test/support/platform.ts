/** What a test needs and this platform lacks, for the test's option `skip`; false in Node, which has it all. */

import { mayWait, whyNoWorkers } from "../../src/engines/wasm/spawn.ts";

export const WITHOUT_NODE = typeof process === "undefined" && "it asks Node";

export const WITHOUT_THREADS =
  !(whyNoWorkers() === null && mayWait()) && "there are no workers that may be waited for";

/** Lets the workers start that were asked for: in browsers they do only while their maker does not wait. */
export const settle = (): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, WITHOUT_NODE === false ? 0 : 200));
