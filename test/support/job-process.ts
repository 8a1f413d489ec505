/** A process that runs the remaining tasks of a job, for tests that kill it: `job-process.js FOLDER THREADS`. */

import { runJob } from "../../src/entries/chunked.ts";

const [, , folder, threads] = process.argv;
await runJob(folder, { threads: Number(threads), memory: 2 ** 29 });
