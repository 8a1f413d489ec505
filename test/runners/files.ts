/** Runs test files, several in a process, on all cores. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { LONG } from "./long-files.ts";
import { close, seconds, secondsSince, skippedLines, sumOf, type Counts } from "./outcome.ts";
import { inParallel } from "./parallel.ts";
import { runTimed } from "../../scripts/process-group.js";
import type { Runtime } from "./runtimes.ts";

/** The compiled tests, and their sources: the compiled file of a removed test may remain. */
const TESTS = new URL("../", import.meta.url);
const SOURCES = new URL("../../test/", TESTS);
const SUFFIX = ".test.js";
const SOURCE_SUFFIX = ".test.ts";
const NIGHTLY = "nightly/";

/** More failures of one process may have one cause: a failing hook makes the tests of other files fail, too. */
const MANY = 20;

/** Seconds after which a process is stopped and has failed. */
const LIMIT = 900;
/** The same for a nightly file: one of them runs all random cases. */
const NIGHTLY_LIMIT = 2700;

export interface Result {
  readonly counts: Counts;
  readonly output: string;
  /** Seconds of processor time. */
  readonly processor: number;
  /** True if the process was stopped at its time limit. */
  readonly isStopped: boolean;
  /** True if the process failed without a failed test. */
  readonly isLost: boolean;
}

/** Returns the test files by folder and name, such as `core/dtype`; the slow ones are in `nightly/`. */
export const testFiles = (areSlow: boolean): string[] =>
  fs
    .readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(path.sep, "/"))
    .filter((file) => file.endsWith(SOURCE_SUFFIX))
    .map((file) => file.slice(0, -SOURCE_SUFFIX.length))
    .filter((name) => name.startsWith(NIGHTLY) === areSlow)
    .toSorted();

/** Returns true for a file of the sample, which every commit runs in every runtime, because it depends on the runtime. */
export const isOfSample = (name: string): boolean => name.startsWith("platform/");

/** Splits the words of a command line into `--all` and names. */
export function wordsOf(argv: readonly string[]): { all: boolean; named: string[] } {
  const words = argv.slice(2);
  return { all: words.includes("--all"), named: words.filter((word) => word !== "--all") };
}

/** Returns true if a word on the command line names a test file: by folder and name, by name, or by folder. */
export const isNamed = (name: string, word: string): boolean =>
  name === word || name.endsWith(`/${word}`) || name.startsWith(`${word}/`);

/** Runs test files. Prints failures, skipped tests, and the time of each process. */
export async function runFiles(
  runtime: Runtime,
  program: string,
  names: readonly string[],
): Promise<Result[]> {
  const isLeftOut = (name: string): boolean => name in runtime.leftOut;
  for (const name of names.filter(isLeftOut)) {
    console.log(`${runtime.name}: ${name}: skipped: ${runtime.leftOut[name]}`);
  }
  const here = names.filter((name) => !isLeftOut(name));
  const run = async (group: readonly string[]): Promise<Result[]> => {
    const files = group.map((one) => fileURLToPath(new URL(one + SUFFIX, TESTS)));
    const result = await runTogether(runtime, program, group.join(", "), files, {
      isBrief: group.length > 1,
      limit: group.some((one) => one.startsWith(NIGHTLY)) ? NIGHTLY_LIMIT : LIMIT,
    });
    if (group.length === 1 || !isUnclear(result)) return [result];
    console.log(`${runtime.name}: each file runs alone, to find the cause`);
    const alone: Result[] = [];
    // oxlint-disable-next-line no-await-in-loop
    for (const name of group) alone.push(...(await run([name])));
    return sumOf(alone.map(({ counts }) => counts)).failed > 0 ? alone : [result];
  };
  const lanes = Math.min(os.availableParallelism(), here.length);
  const count = lanes * Math.ceil(here.length / (lanes * runtime.together));
  const results = await inParallel(inGroups(here, count), run);
  return results.flat();
}

/** Prints the closing line of a run of files. @param more counts of tests that are not in these files */
export function closeFiles(
  title: string,
  results: readonly Result[],
  more: Counts,
  start: number,
): void {
  const processor = results.reduce((sum, result) => sum + result.processor, 0);
  const time = `${secondsSince(start)}, of processor time ${seconds(processor)}`;
  close(title, sumOf([...results.map(({ counts }) => counts), more]), time);
}

const IN_MEMORY = "/dev/shm";
const LEAST_FREE = 2 ** 30;

/**
 * Returns an environment whose folder for temporary files is in memory, if that has enough space. This saves half of
 * the system time that files take in tests (25 of 163 s of processor time).
 */
export function temporaryFolder(): Readonly<Record<string, string>> {
  try {
    const { bavail, bsize } = fs.statfsSync(IN_MEMORY);
    return bavail * bsize >= LEAST_FREE ? { TMPDIR: IN_MEMORY } : {};
  } catch {
    return {};
  }
}

interface Printing {
  /** True if failures whose cause is unclear are only counted, because the files run again. */
  readonly isBrief?: boolean;
  /** True if only failures are printed. */
  readonly isQuiet?: boolean;
  /** Seconds after which the process has failed. */
  readonly limit?: number;
}

/** Runs files in one process, and prints the result under a name. */
export async function runTogether(
  runtime: Runtime,
  program: string,
  name: string,
  files: readonly string[],
  { isBrief = false, isQuiet = false, limit = LIMIT }: Printing = {},
): Promise<Result> {
  const start = performance.now();
  const result = await runProcess(runtime, program, files, limit);
  const { counts, output, processor, isStopped } = result;
  const time = `${secondsSince(start)}, of processor time ${seconds(processor)}`;
  const tests = [...output.matchAll(runtime.skipped)].map(([, title, reason = ""]) => ({
    name: title,
    reason,
  }));
  const lines = [`${sizeOf(counts)} tests, ${time}`, ...skippedLines(tests)];
  if (!isQuiet) for (const line of lines) console.log(`${runtime.name}: ${name}: ${line}`);
  if (counts.failed > 0 && !(isBrief && isUnclear(result)) && !(isQuiet && isStopped)) {
    const failures = output.match(runtime.failures)?.join("") ?? output;
    // `.ci/run` prints the text between these two lines again at its end.
    console.log(`failure: ${runtime.name}: ${name}\n${failures}\nend of failure`);
  }
  return result;
}

/** True if the output of several files does not show which of them failed. */
const isUnclear = ({ counts, isLost, isStopped }: Result): boolean =>
  counts.failed > MANY || (isLost && !isStopped);

const sizeOf = ({ passed, failed, skipped }: Counts): number => passed + failed + skipped;

/** Returns names in groups of similar processor time: each file, the longest first, goes to the shortest group. */
function inGroups(names: readonly string[], count: number): string[][] {
  const secondsOf = (name: string): number => LONG[name] ?? 0.25;
  const groups = Array.from({ length: count }, () => ({ names: [] as string[], seconds: 0 }));
  for (const name of names.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const shortest = groups.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    shortest.names.push(name);
    shortest.seconds += secondsOf(name);
  }
  // A runtime that is given no file would run every file that it finds.
  return groups.flatMap((group) => (group.names.length === 0 ? [] : [group.names]));
}

/** Runs files in one process. A process that fails without a failed test counts as one failed test. */
async function runProcess(
  runtime: Runtime,
  program: string,
  files: readonly string[],
  limit: number,
): Promise<Result> {
  const env = { ...process.env, ...runtime.env };
  const run = await runTimed([program, ...runtime.test(files)], { env, limit });
  const output = stripVTControlCharacters(run.output);
  const count = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0);
  const { passed, failed, skipped } = runtime.counts;
  const counts = { passed: count(passed), failed: count(failed), skipped: count(skipped) };
  const isGood = run.status === 0 || runtime.passedAnyway?.test(output) === true;
  const isLost = counts.failed === 0 && (!isGood || counts.passed + counts.skipped === 0);
  return {
    counts: isLost ? { ...counts, failed: 1 } : counts,
    output,
    processor: run.processor,
    isStopped: run.isStopped,
    isLost,
  };
}
