/** What a test needs and this platform lacks, for the test's option `skip`; false in Node, which has it all. */

import { hasWorkers, mayWait } from "../../src/engines/wasm/team.ts";

export const WITHOUT_NODE = typeof process === "undefined" && "it asks Node";

/** A worker of a browser starts only after its maker has returned to its event loop, and an engine waits at once. */
export const WITHOUT_THREADS =
  (!(hasWorkers() && mayWait()) || WITHOUT_NODE !== false) &&
  "it waits for workers, and they would not start";
