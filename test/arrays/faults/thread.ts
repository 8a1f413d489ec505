/** Is loaded before the code of a job's thread: injects faults there, and sets the limits of the case. */

import { threadId } from "node:worker_threads";
import { setLimits } from "../../support/limits.ts";
import { limitsOf } from "./limits.ts";
import { replaceCalls, setFaults, type Faults } from "./inject.ts";

/** What a thread gets in the environment variable `FAULTS`. */
export interface ThreadFaults {
  readonly faults: Faults | null;
  readonly turn: number;
}

const { faults, turn } = JSON.parse(process.env["FAULTS"] ?? "null") as ThreadFaults;
setLimits(limitsOf(turn));
replaceCalls();
setFaults(faults && { ...faults, seed: faults.seed + threadId });
