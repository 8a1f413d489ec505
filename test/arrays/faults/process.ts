/** A process that makes the calls of cases, with faults or without: it gets orders and sends the outcome of each. */

import { fileURLToPath } from "node:url";
import workerThreads from "node:worker_threads";
import { syncBuiltinESMExports } from "node:module";
import { isTensorError } from "../../../src/core/errors.ts";
import { OPEN } from "../../../src/core/resources.ts";
import { setLimits } from "../../support/limits.ts";
import { makeCall, type Made, type Place } from "./calls.ts";
import { limitsOf } from "./limits.ts";
import { replaceCalls, setFaults, type Faults } from "./inject.ts";
import type { ThreadFaults } from "./thread.ts";

export interface Order {
  readonly made: Made;
  readonly place: Place;
  /** What to do: the call, the rest of the job in the folder, or to remove the job. */
  readonly what: "call" | "resume" | "remove";
  readonly faults: Faults | null;
}

/** The error of a call, as data. */
export interface Failure {
  /** True for an error of the package. */
  readonly isOwn: boolean;
  readonly code: string | null;
  readonly path: string | null;
  readonly message: string;
  readonly stack: string;
}

export interface Reply {
  readonly failure: Failure | null;
  /** The number of files that the call has left open. */
  readonly openFiles: number;
}

const THREAD = fileURLToPath(new URL("./thread.js", import.meta.url));

let thread: ThreadFaults = { faults: null, turn: 0 };

const { Worker } = workerThreads;

/** A thread of a job, which has the faults and the limits of the process. */
class FaultyWorker extends Worker {
  constructor(file: string | URL, options: workerThreads.WorkerOptions) {
    super(file, {
      ...options,
      execArgv: ["--import", THREAD],
      env: { ...process.env, FAULTS: JSON.stringify(thread) },
    });
  }
}

function failureOf(error: unknown): Failure {
  const { code, path, message, stack } = Object(error) as Record<string, unknown>;
  const textOf = (one: unknown): string | null => (typeof one === "string" ? one : null);
  return {
    isOwn: isTensorError(error),
    code: textOf(code),
    path: textOf(path),
    message: textOf(message) ?? String(error),
    stack: textOf(stack) ?? "",
  };
}

async function obey({ made, place, what, faults }: Order): Promise<Reply> {
  thread = { faults, turn: made.number };
  const restore = setLimits(limitsOf(made.number));
  const before = OPEN.files;
  setFaults(faults);
  let failure: Failure | null = null;
  try {
    await makeCall(made, place, what);
  } catch (error) {
    failure = failureOf(error);
  }
  setFaults(null);
  restore();
  return { failure, openFiles: OPEN.files - before };
}

Object.assign(workerThreads, { Worker: FaultyWorker });
replaceCalls();
syncBuiltinESMExports();
process.on("message", (order: Order) => {
  void obey(order).then((reply) => process.send?.(reply));
});
process.on("disconnect", () => process.exit());
