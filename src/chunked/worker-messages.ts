/** What a pool and its threads tell each other. */

import type { StageName } from "./job.ts";
import type { SentError } from "./sent-error.ts";

export interface WorkerOptions {
  /** Bytes that the thread may use for its tasks. */
  readonly share: number;
}

export interface TaskMessage {
  readonly id: number;
  readonly folder: string;
  readonly stage: StageName;
  readonly task: number;
}

export interface ReplyMessage {
  readonly id: number;
  /** Absent where the task is done. */
  readonly error?: SentError;
}
