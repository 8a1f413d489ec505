/** What a pool and its threads tell each other. */

import type { Roots } from "../job/roots.ts";
import type { StageName } from "../job/job.ts";
import type { SentError } from "./sent-error.ts";

export interface WorkerOptions {
  /** Bytes that the thread may use for its tasks. */
  readonly share: number;
  /** Where jobs and their arrays may lie; null where they may lie anywhere. */
  readonly roots: Roots | null;
}

export interface TaskMessage {
  readonly folder: string;
  readonly stage: StageName;
  readonly task: number;
  /** Of the job that the task belongs to; undefined for whichever job is in the folder. */
  readonly id: string | undefined;
}

/** A thread has one task at a time, so its reply needs no name. */
export interface ReplyMessage {
  /** Absent where the task is done. */
  readonly error?: SentError;
}
