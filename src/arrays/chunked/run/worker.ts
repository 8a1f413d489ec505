/** The script of a pool's threads, which run the tasks that they receive. */

import { parentPort, workerData } from "node:worker_threads";
import type { Roots } from "../job/roots.ts";
import type { StageName } from "../job/spec.ts";
import { Runner } from "./tasks.ts";
import { sendError, type SentError } from "./sent-error.ts";

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

if (parentPort !== null) work(parentPort, workerData as WorkerOptions);

function work(port: NonNullable<typeof parentPort>, { share, roots }: WorkerOptions): void {
  const runner = new Runner(share, roots);
  port.on("message", ({ folder, stage, task, id }: TaskMessage) => {
    const reply = runner.run(folder, stage, task, id).then(
      (): ReplyMessage => ({}),
      (error: unknown): ReplyMessage => ({ error: sendError(error) }),
    );
    void reply.then((sent) => port.postMessage(sent));
  });
}
