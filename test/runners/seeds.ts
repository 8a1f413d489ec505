/**
 * The suites that draw limits (`withLimits` of `test/support/limits.ts`), with one seed after the other: `npm run test:limits -- 100`
 * for the seeds from 1 to 100, `npm run test:limits -- 50 7` for 50 from 7 on. Each seed also draws other random cases.
 */

import * as fs from "node:fs";
import { runTogether, seconds, testFiles } from "./files.ts";
import { fileURLToPath } from "node:url";
import { close, sumOf } from "./outcome.ts";
import { inParallel } from "./parallel.ts";
import { exitOnSignals } from "./process-group.ts";
import { NODE } from "./runtimes.ts";

const SOURCES = new URL("../../../test/", import.meta.url);
const COMPILED = new URL("../", import.meta.url);

/** Whether a test file draws limits. */
const draws = (name: string): boolean =>
  fs.readFileSync(new URL(`${name}.test.ts`, SOURCES), "utf8").includes("withLimits(");

exitOnSignals();
const [count = 10, first = 1] = process.argv.slice(2).map(Number);
if (!(Number.isInteger(count) && count > 0 && Number.isInteger(first))) {
  throw new Error(
    `npm run test:limits -- COUNT FIRST takes whole numbers, got ${process.argv.slice(2)}`,
  );
}
const files = testFiles(false)
  .filter(draws)
  .map((name) => fileURLToPath(new URL(`${name}.test.js`, COMPILED)));
const start = performance.now();
const results = await inParallel(
  Array.from({ length: count }, (_, at) => first + at),
  (seed) => {
    const env = { ...NODE.env, LIMITS: String(seed), SEED: String(seed) };
    return runTogether({ ...NODE, env }, process.execPath, `LIMITS=${seed}`, files);
  },
);
close(
  `Node ${process.versions.node}, ${count} seeds of ${files.length} files`,
  sumOf(results.map(({ counts }) => counts)),
  seconds((performance.now() - start) / 1000),
);
