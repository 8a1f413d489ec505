/** A process that works on jobs: `node job-worker.js URL FOLDER-OF-PACKAGES`. SIGTERM stops it. */

import { createWorker } from "../../src/distributed/bullmq.ts";

const [connection = "", from = ""] = process.argv.slice(2);
const worker = await createWorker({
  connection,
  from,
  threads: 1,
  memory: 2 ** 28,
  onDone: ({ stage, tasks }) => console.log(`${stage} ${tasks}`),
  onNote: (sentence) => console.log(`note: ${sentence}`),
});
process.once("SIGTERM", () => void worker.close());
