/** Messages between a pool and its threads. */

import type { Roots } from "../job/roots.ts";
import type { StageName } from "../job/job.ts";
import type { SentError } from "./sent-error.ts";

export interface WorkerOptions {
  /** Bytes that the thread may use for its tasks. */
  readonly share: number;
  /** Allowed folders and addresses of jobs and their arrays; null allows all. */
  readonly roots: Roots | null;
}

export interface TaskMessage {
  readonly folder: string;
  readonly stage: StageName;
  readonly task: number;
  /** The id of the job that the task belongs to; undefined for any job in the folder. */
  readonly id: string | undefined;
}

/** A thread has one task at a time, so its reply needs no id. */
export interface ReplyMessage {
  /** Absent if the task is done. */
  readonly error?: SentError;
}
