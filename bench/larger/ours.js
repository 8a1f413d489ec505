/** ndscatter in a separate process: `ours.js FOLDER WORK TABLE OUT MEGABYTES`. */

import fs from "node:fs";
import path from "node:path";
import { gatherChunked, scatterChunked } from "../../dist/entries/chunked.js";
import { openArray } from "../../dist/entries/zarr.js";

const [, , folder, work, tableName, outName, megabytes] = process.argv;
const open = (name) => openArray(path.join(folder, name));
const out = path.join(folder, outName);
fs.rmSync(out, { recursive: true, force: true });
const options = {
  out,
  memory: Number(megabytes) * 2 ** 20,
  onProgress({ stage, done, tasks, seconds }) {
    if (done !== tasks || seconds < 0.5) return;
    process.stderr.write(`  ${stage}: ${tasks} tasks in ${seconds.toFixed(1)} s\n`);
  },
};
const [table, ids] = [await open(tableName), await open("ids.npy")];
if (work === "scatter") {
  await scatterChunked(table, ids, await open("rows.npy"), { reduction: "add", ...options });
} else {
  await gatherChunked(table, ids, options);
}
process.stdout.write(`RSS ${Math.round(process.resourceUsage().maxRSS / 1024)}\n`);
