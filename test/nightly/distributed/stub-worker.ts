/** A process that works on jobs of the stub: `node stub-worker.js URL FOLDER-OF-PACKAGES THREADS`. SIGTERM stops it. */

import { startWorker } from "../../../src/arrays/distributed/worker.ts";
import { setLimits } from "../../support/limits.ts";
import { STUB_CORE } from "./stub-core.ts";

// A worker that was killed is noticed after 1 to 4 seconds; one without the folder fails three times within a second.
setLimits({ DISTRIBUTED: { lock: 3000, stalled: 750, blind: 100, backoff: 100 } });
const [connection = "", from = "", threads = "1"] = process.argv.slice(2);
const worker = await startWorker(STUB_CORE, {
  connection,
  from,
  threads: Number(threads),
  memory: 2 ** 28,
  onDone: ({ stage, tasks }) => console.log(`${stage} ${tasks}`),
  onNote: (sentence) => console.log(`note: ${sentence}`),
});
console.log("ready");
process.once("SIGTERM", () => {
  void worker.close().then(() => console.log("closed"));
});
