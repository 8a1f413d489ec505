/** Runs test files in a workspace: once without a mutant, to see what they reach, and then to see what they notice. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./process.js";

const PRELOADED = fileURLToPath(new URL("reached.cjs", import.meta.url));

/** A clean run of one file may take this long, in milliseconds. */
const CLEAN_LIMIT = 300_000;

/** A hang counts as noticed; a file may be slower than in its clean run, because the machine may be busy. */
const limitOf = (cleanTime) => 15_000 + 5 * cleanTime;

/** The names of the test files of a workspace, without their folder and ending. */
export function testFiles(folder) {
  return fs
    .readdirSync(path.join(folder, "build/test"))
    .filter((name) => name.endsWith(".test.js"))
    .map((name) => name.slice(0, -".test.js".length));
}

/**
 * Runs one test file.
 * @returns `failure`: the name of a test that fails, or what else went wrong; null when all pass
 */
async function runFile(workspace, name, { limit, env = {}, endsAtFailure = false }) {
  const scratch = path.join(workspace.folder, "..", `${path.basename(workspace.folder)}-tmp`);
  fs.mkdirSync(scratch, { recursive: true });
  let failure = null;
  const onLine = (line) => {
    const [, failed] = /^\s*not ok \d+ - (?!.*# (?:TODO|SKIP))(.*)$/.exec(line) ?? [];
    failure ??= failed ?? null;
    return endsAtFailure && failure !== null;
  };
  // A mutant may allocate without end.
  const flags = ["--max-old-space-size=2048", "--test-reporter=tap"];
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const { status, isOverdue, time } = await run(
    process.execPath,
    [...flags, `build/test/${name}.test.js`],
    { cwd: workspace.folder, env: { ...inherited, TMPDIR: scratch, ...env }, limit, onLine },
  );
  fs.rmSync(scratch, { recursive: true, force: true });
  if (isOverdue) failure = "it never ends";
  else if (status !== 0) failure ??= "its process fails";
  return { failure, time };
}

/** Runs one test file without a mutant, in code whose sites are marked, and says which of them it reaches. */
export async function observe(workspace, name) {
  const file = path.join(workspace.folder, "..", `${name}.reached`);
  fs.writeFileSync(file, "");
  const options = `${process.env.NODE_OPTIONS ?? ""} --require=${PRELOADED}`;
  const env = { NODE_OPTIONS: options, MUTATE_REACHED: file };
  const { failure, time } = await runFile(workspace, name, { limit: CLEAN_LIMIT, env });
  const reached = new Set(fs.readFileSync(file, "utf8").split("\n"));
  return { name, time, failure, reached };
}

/** What fails in a test file without a mutant and without marks. */
export async function check(workspace, name) {
  return (await runFile(workspace, name, { limit: CLEAN_LIMIT })).failure;
}

/**
 * Runs test files one after the other, until one notices the mutant that is in place.
 * @returns which one did, and by what; null when none did
 */
export async function notice(workspace, observations) {
  for (const { name, time } of observations) {
    const options = { limit: limitOf(time), endsAtFailure: true };
    const { failure } = await runFile(workspace, name, options);
    if (failure !== null) return { name, failure };
  }
  return null;
}
