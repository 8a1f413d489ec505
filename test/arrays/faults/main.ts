/**
 * Many jobs with faults: `node build/test/arrays/faults/main.js --count 2000`. Prints the cases that are not right, and a
 * table. `SEED=7 node … --first 12 --count 1` runs one case again; `--rate 30` draws 30 faults per thousand calls.
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { inParallel } from "../../runners/parallel.ts";
import { SEED } from "../../support/random.ts";
import { endTools, isGood, runCase, startTools, type Outcome } from "./run.ts";
import { tableOf } from "./table.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "2000" },
    first: { type: "string", default: "0" },
    rate: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const first = Number(values.first);
const count = Number(values.count);
const rate = values.rate === undefined ? undefined : Number(values.rate);
const home = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();
const root = fs.realpathSync(fs.mkdtempSync(path.join(home, "ndscatter-faults-")));
const tools = await startTools(root);
const outcomes: Outcome[] = [];
const numbers = Array.from({ length: count }, (_, at) => first + at);
await inParallel(numbers, async (number) => {
  const outcome = await runCase(number, tools, rate);
  outcomes.push(outcome);
  if (isGood(outcome.verdict) && !values.verbose) return;
  console.log([outcome.title, ...outcome.faults, ...outcome.notes].join("\n    "));
});
await endTools(tools);
console.log(tableOf(SEED, outcomes));
if (outcomes.every(({ verdict }) => isGood(verdict))) fs.rmSync(root, { recursive: true });
else {
  console.log(`The files of the cases that are not right are in ${root}.`);
  process.exitCode = 1;
}
