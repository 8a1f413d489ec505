/** As `ndscatter job task FOLDER STAGE FIRST-LAST` does it: runs a range of tasks of a job. */

import * as fs from "node:fs";
import { startPool, type StageName } from "../../src/chunked/index.ts";

const [folder = "", stage = "", range = ""] = process.argv.slice(4);
const [first = 0, last = 0] = range.split("-").map(Number);
const pool = startPool({ threads: 1, memory: 2 ** 28 });
fs.appendFileSync(`${folder}.nodes`, `${process.env.SLURMD_NODENAME} ${stage} ${range}\n`);
try {
  for (let task = first; task <= last; task++) await pool.run(folder, stage as StageName, task);
} finally {
  await pool.end();
}
