/** Types of the messages between a pool and its threads. */

import type { Roots } from "../job/roots.ts";
import type { StageName } from "../job/job.ts";
import type { SentError } from "./sent-error.ts";

export interface WorkerOptions {
  /** Memory that the thread may use for tasks, in bytes. */
  readonly share: number;
  /** Allowed folders and addresses of jobs and their arrays; null allows all. */
  readonly roots: Roots | null;
}

export interface TaskMessage {
  readonly folder: string;
  readonly stage: StageName;
  readonly task: number;
  /** The id of the task's job; undefined for any job in the folder. */
  readonly id: string | undefined;
}

/** A thread's reply to a task. A thread has one task at a time, so the reply needs no id. */
export interface ReplyMessage {
  /** The task's error; absent if the task is done. */
  readonly error?: SentError;
}
