/** The script of a pool's threads, which run the tasks that they receive. */

import { parentPort, workerData } from "node:worker_threads";
import { Runner } from "./runner.ts";
import { sendError } from "./sent-error.ts";
import type { ReplyMessage, TaskMessage, WorkerOptions } from "./worker-messages.ts";

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
