/** Runs test files, several in a process, on all cores. */

import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { skippedLines, sumOf, type Counts } from "./outcome.ts";
import { inParallel } from "./parallel.ts";
import { ProcessGroup } from "./process-group.ts";
import type { Runtime } from "./runtimes.ts";

/** The compiled tests, and their sources: a test whose source is gone may still lie compiled. */
const TESTS = new URL("../", import.meta.url);
const SOURCES = new URL("../../test/", TESTS);
const SUFFIX = ".test.js";
const SOURCE_SUFFIX = ".test.ts";
const NIGHTLY = "nightly/";

/** More failures of one process may have one cause: a hook that fails makes all tests fail, of other files too. */
const MANY = 20;

/** A process that has not ended after so many seconds has failed. */
const LIMIT = 900;

/** Runs a command, and prints the processor time that the shell itself and the command with its descendants took. */
const TIMED = 'exec 2>&1; "$@"; status=$?; times; exit $status';
const TIMES = /.*\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s\n$/;

export interface Result {
  readonly counts: Counts;
  readonly output: string;
  /** Seconds of processor time. */
  readonly processor: number;
  /** True if the process did not end in time. */
  readonly isStopped: boolean;
}

/** The test files by room and name, such as `core/dtype`; those in `nightly/` are the slow ones. */
export const testFiles = (areSlow: boolean): string[] =>
  fs
    .readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(path.sep, "/"))
    .filter((file) => file.endsWith(SOURCE_SUFFIX))
    .map((file) => file.slice(0, -SOURCE_SUFFIX.length))
    .filter((name) => name.startsWith(NIGHTLY) === areSlow)
    .toSorted();

/** True for a file that touches a runtime: every commit runs these everywhere. */
export const isOfSample = (name: string): boolean => name.startsWith("platform/");

/** Splits the words of a command line into `--all` and names. */
export function wordsOf(argv: readonly string[]): { all: boolean; named: string[] } {
  const words = argv.slice(2);
  return { all: words.includes("--all"), named: words.filter((word) => word !== "--all") };
}

/** True if a word on the command line names a test file: by room and name, by name alone, or by room. */
export const isNamed = (name: string, word: string): boolean =>
  name === word || name.endsWith(`/${word}`) || name.startsWith(`${word}/`);

/**
 * Runs test files. Prints what failed, what was skipped, and how long each process took.
 * @param together how many files one process runs
 */
export async function runFiles(
  runtime: Runtime,
  program: string,
  names: readonly string[],
  { together }: Pick<Runtime, "together"> = runtime,
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
    });
    if (group.length === 1 || result.counts.failed <= MANY) return [result];
    console.log(`${runtime.name}: ${result.counts.failed} tests fail: each file runs alone`);
    const alone: Result[] = [];
    // oxlint-disable-next-line no-await-in-loop
    for (const name of group) alone.push(...(await run([name])));
    return sumOf(alone.map(({ counts }) => counts)).failed > 0 ? alone : [result];
  };
  const results = await inParallel(inGroups(here, Math.ceil(here.length / together)), run);
  return results.flat();
}

/**
 * The folder for temporary files: in memory where it has room, which halves the time in the system that tests of files
 * take (25 of 163 s of processor time).
 */
export function temporaryFolder(): Readonly<Record<string, string>> {
  try {
    const { bavail, bsize } = fs.statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM ? { TMPDIR: IN_MEMORY } : {};
  } catch {
    return {};
  }
}

const IN_MEMORY = "/dev/shm";
const ROOM = 2 ** 30;

interface Printing {
  /** True if more than {@link MANY} failures are only counted. */
  readonly isBrief?: boolean;
  /** True if only failures are printed. */
  readonly isQuiet?: boolean;
  /** Seconds after which the process has failed. */
  readonly limit?: number;
}

/** Runs files in one process, and prints how that went under a name. */
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
  const wall = (performance.now() - start) / 1000;
  const time = `${seconds(wall)}, of processor time ${seconds(processor)}`;
  const tests = [...output.matchAll(runtime.skipped)].map(([, title, reason = ""]) => ({
    name: title,
    reason,
  }));
  const lines = [`${sizeOf(counts)} tests, ${time}`, ...skippedLines(tests)];
  if (!isQuiet) for (const line of lines) console.log(`${runtime.name}: ${name}: ${line}`);
  if (counts.failed > 0 && !(isBrief && counts.failed > MANY) && !(isQuiet && isStopped)) {
    const failures = output.match(runtime.failures)?.join("") ?? output;
    // `.ci/run` prints again what stands between these two lines.
    console.log(`failure: ${runtime.name}: ${name}\n${failures}\nend of failure`);
  }
  return result;
}

const sizeOf = ({ passed, failed, skipped }: Counts): number => passed + failed + skipped;

/** Names in groups: neighbours, which are often alike, go to different ones. */
const inGroups = (names: readonly string[], count: number): string[][] =>
  Array.from({ length: count }, (_, group) => names.filter((_, at) => at % count === group));

/** Runs files in one process. One that fails without a failed test counts as a failed test. */
async function runProcess(
  runtime: Runtime,
  program: string,
  files: readonly string[],
  limit: number,
): Promise<Result> {
  const env = { ...process.env, ...runtime.env };
  const run = await runTimed([program, ...runtime.test(files)], env, limit);
  const count = (pattern: RegExp): number => Number(pattern.exec(run.output)?.[1] ?? 0);
  const { passed, failed, skipped } = runtime.counts;
  const counts = { passed: count(passed), failed: count(failed), skipped: count(skipped) };
  const isGood = run.isGood || runtime.passedAnyway?.test(run.output) === true;
  const isLost = counts.failed === 0 && (!isGood || counts.passed + counts.skipped === 0);
  return { ...run, counts: isLost ? { ...counts, failed: 1 } : counts };
}

/** Runs a command for `limit` seconds at most, and returns what it printed, without colours. */
export async function runTimed(command: readonly string[], env: NodeJS.ProcessEnv, limit = LIMIT) {
  const group = new ProcessGroup(["sh", "-c", TIMED, "sh", ...command], { env });
  let isStopped = false;
  const alarm = setTimeout(() => {
    isStopped = true;
    group.output += `\nstopped after ${Math.round(limit)} s\n`;
    void group.end();
  }, limit * 1000);
  const { status } = await group.ended;
  clearTimeout(alarm);
  const [times = "", ...parts] = TIMES.exec(group.output) ?? [];
  const [userMinutes = 0, user = 0, systemMinutes = 0, system = 0] = parts.map(Number);
  return {
    output: stripVTControlCharacters(group.output.slice(0, group.output.length - times.length)),
    processor: 60 * (userMinutes + systemMinutes) + user + system,
    isGood: status === 0,
    isStopped,
  };
}

export const seconds = (value: number): string => `${value.toFixed(1)} s`;
