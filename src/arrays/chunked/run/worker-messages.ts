/** Types of the messages between a pool and its threads. */

import type { Roots } from "../job/roots.ts";
import type { StageName } from "../job/job.ts";
import type { SentError } from "./sent-error.ts";

export interface WorkerOptions {
  /** The memory per task, in bytes. */
  readonly share: number;
  /** The folders and addresses that tasks may access; null allows all. */
  readonly roots: Roots | null;
}

export interface TaskMessage {
  readonly folder: string;
  readonly stage: StageName;
  readonly task: number;
  /** The id of the task's job; undefined accepts any job in the folder. */
  readonly id: string | undefined;
}

/** A thread's reply to a task. The reply needs no id, because a thread has only one task at a time. */
export interface ReplyMessage {
  /** The error of the task, or undefined for success. */
  readonly error?: SentError;
}
