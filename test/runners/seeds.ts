/**
 * Runs the files that draw random cases with new seeds: `npm run test:seeds -- --seconds 60`. Names choose files or
 * folders, and `--seed 7` sets the first seed. `SEED=… LIMITS=… npm test -- NAME` repeats a failure.
 */

import * as fs from "node:fs";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { isNamed, runTogether, testFiles } from "./files.ts";
import { inParallel } from "./parallel.ts";
import { close, secondsSince, sumOf, type Counts } from "./outcome.ts";
import { exitOnSignals } from "../../scripts/process-group.js";
import { NODE } from "./runtimes.ts";

const SOURCES = new URL("../../../test/", import.meta.url);
const COMPILED = new URL("../", import.meta.url);

/** Imports and calls of files that draw random cases. */
const DRAWING = /fast-check|support\/random|withLimits\(|randomFrom\(|seedOf\(/;

const draws = (name: string): boolean =>
  DRAWING.test(fs.readFileSync(new URL(`${name}.test.ts`, SOURCES), "utf8"));

exitOnSignals();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } },
});
const start = performance.now();
const time = Number(values.seconds);
const first = Number(values.seed ?? Date.now() % 2 ** 32);
if (!(time > 0 && Number.isInteger(first))) {
  throw new Error(`--seconds must be positive and --seed whole, got ${process.argv.slice(2)}`);
}
const named = (name: string): boolean =>
  positionals.length === 0
    ? !name.startsWith("nightly/")
    : positionals.some((word) => isNamed(name, word));
const files = [...testFiles(false), ...testFiles(true)].filter(
  (name) => named(name) && draws(name),
);
if (files.length === 0) throw new Error(`no file that draws cases: ${positionals}`);
console.log(`seeds from ${first} on, in ${files.length} files`);

const left = (): number => time - (performance.now() - start) / 1000;
const failures: string[] = [];
const counted: Counts[] = [];
/** Files that ran to their end. */
let ended = 0;

async function run(seed: number, name: string): Promise<void> {
  const env = { ...NODE.env, LIMITS: String(seed), SEED: String(seed) };
  const file = fileURLToPath(new URL(`${name}.test.js`, COMPILED));
  const runtime = { ...NODE, name: `SEED=${seed}`, env };
  const { counts, output, isStopped } = await runTogether(runtime, process.execPath, name, [file], {
    isQuiet: true,
    limit: left(),
  });
  // A file that is stopped at the end is not counted, unless a test has failed.
  if (isStopped && !/^✖ /m.test(output)) return;
  ended++;
  counted.push(counts);
  if (counts.failed > 0) failures.push(`SEED=${seed} LIMITS=${seed} npm test -- ${name}`);
}

/** Each run of a file has its own seed. The step is a prime, so every file runs before any runs again. */
function* jobs(): Generator<readonly [seed: number, name: string]> {
  for (let seed = first; left() > 0; seed++) {
    yield [seed % 2 ** 32, files[(seed * 7919) % files.length]];
  }
}

await inParallel(jobs(), ([seed, name]) => run(seed, name));
if (failures.length > 0)
  console.log(["Failures, each with its repetition:", ...failures].join("\n"));
close(
  `Node ${process.versions.node}, ${ended} seeds of ${files.length} files`,
  sumOf(counted),
  secondsSince(start),
);
