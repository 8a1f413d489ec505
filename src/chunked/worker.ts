/** A thread of a pool: runs the tasks that it is sent, one after the other. */

import { parentPort, workerData } from "node:worker_threads";
import { leastOf } from "./budget.ts";
import type { JobContext } from "./context.ts";
import { openContext } from "./job.ts";
import { runTask } from "./tasks.ts";
import { sendError } from "./sent-error.ts";
import type { ReplyMessage, TaskMessage, WorkerOptions } from "./worker-messages.ts";
import { Workspace } from "./workspace.ts";

/** Jobs whose arrays stay open. */
const MOST_JOBS = 4;

if (parentPort !== null) work(parentPort, workerData as WorkerOptions);

function work(port: NonNullable<typeof parentPort>, { share }: WorkerOptions): void {
  const workspace = new Workspace();
  const jobs = new Map<string, Promise<JobContext>>();
  const open = (folder: string): Promise<JobContext> => {
    const known = jobs.get(folder);
    if (known !== undefined) return known;
    for (const old of [...jobs.keys()].slice(0, jobs.size + 1 - MOST_JOBS)) jobs.delete(old);
    const job = openContext(folder);
    jobs.set(folder, job);
    job.catch(() => jobs.delete(folder));
    return job;
  };
  const run = async ({ id, folder, stage, task }: TaskMessage): Promise<void> => {
    const reply: { -readonly [K in keyof ReplyMessage]: ReplyMessage[K] } = { id };
    try {
      const job = await open(folder);
      const { chunks, elementBytes } = job;
      const chunkBytes = chunks.chunkShape.reduce((size, dim) => size * dim, elementBytes);
      const allowance = share - leastOf(chunkBytes, !job.data.isPlain);
      await runTask(job, stage, task, { workspace, allowance: Math.max(allowance, 2 ** 20) });
    } catch (error) {
      reply.error = sendError(error);
    }
    port.postMessage(reply);
  };
  let last = Promise.resolve();
  port.on("message", (message: TaskMessage) => {
    last = last.then(() => run(message));
  });
}
