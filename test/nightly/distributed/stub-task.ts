/** As `ndscatter job task FOLDER STAGE FIRST-LAST` does it, for jobs of the stub. */

import * as fs from "node:fs";
import * as path from "node:path";
import type { StageName } from "../../../src/arrays/chunked/job/job.ts";
import { STUB_CORE } from "./stub-core.ts";

const [folder = "", stage = "", range = ""] = process.argv.slice(4);
const [first = 0, last = 0] = range.split("-").map(Number);
const pool = STUB_CORE.startPool({ threads: 1, memory: 2 ** 28, roots: null });
const node = process.env.SLURMD_NODENAME ?? "no node";
for (let task = first; task <= last; task++) {
  fs.appendFileSync(path.join(folder, "nodes"), `${node} ${stage} ${task}\n`);
  await pool.run(folder, stage as StageName, task);
}
