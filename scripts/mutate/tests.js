/**
 * Runs test files in a workspace: once without a mutant, to record the sites that they reach, and then to find the
 * mutants that they notice.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { run } from "./process.js";

const PRELOADED = fileURLToPath(new URL("reached.cjs", import.meta.url));

/** Loads a test file, fills released memory with a pattern, and checks at the end for open resources. */
const SEVERAL = "build/test/runners/several.js";

/** The command's compiled file; tests start the bundled one in `dist`, in which no mutant is. */
const MAIN = "build/src/cli/main.js";

/** Time limit of a clean run of one file, in milliseconds. */
const CLEAN_LIMIT = 300_000;

/** Returns a time limit. A hang counts as noticed, and a busy machine may make a file slower than in its clean run. */
const limitOf = (cleanTime) => 15_000 + 5 * cleanTime;

const namesIn = (folder, ending) =>
  fs
    .readdirSync(folder, { recursive: true })
    .map((name) => name.replaceAll(path.sep, "/"))
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));

/** Returns the test files of a workspace that `npm test` runs, by folder and name. */
export const testFiles = (folder) =>
  namesIn(path.join(folder, "build/test"), ".test.js").filter(
    (name) => !name.startsWith("nightly/"),
  );

/** Returns the names of test files that test sources of the area `gpu`. */
export function testFilesBesideGpu(folder) {
  const textOf = (name) => fs.readFileSync(path.join(folder, fileOf(name)), "utf8");
  return testFiles(folder).filter((name) => /src\/gpu\//.test(textOf(name)));
}

/** Returns the path of a test file. Tests that need WebGPU have a folder of their own. */
const fileOf = (name) => `build/test/${isOfGpu(name) ? name : `${name}.test`}.js`;
const isOfGpu = (name) => name.endsWith(".gpu");

/**
 * Options of Node for a test file, which fails at a sentence that `test/fixtures/sentences.txt` lacks. The file has only
 * the sentences of `npm test`, so WebGPU tests have other options.
 */
const plain = { args: [], env: { SENTENCES: "strict" } };
let onGpu = plain;

/**
 * Returns the names of the WebGPU test files, which run on the first driver that is installed.
 * @returns a sentence with the reasons if no driver is installed
 */
export async function gpuTestFiles(folder) {
  const module = path.join(folder, "build/test/gpu/drivers.js");
  const { DRIVERS, NODE_ARGS, findDriver } = await import(pathToFileURL(module).href);
  const reasons = [];
  for (const driver of DRIVERS) {
    const found = findDriver(driver);
    if (typeof found !== "string") {
      onGpu = { args: [...NODE_ARGS, "--test-force-exit"], env: found.env };
      const names = namesIn(path.dirname(module), ".gpu.js");
      return names.map((name) => `gpu/${name}.gpu`);
    }
    reasons.push(`${driver.name}: ${found}`);
  }
  return `the area gpu is left out, because its tests cannot run (${reasons.join("; ")})`;
}

/**
 * Runs one test file.
 * @returns `failure`: the name of a failing test, or another reason; null if all pass
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
  const how = isOfGpu(name) ? onGpu : plain;
  const { status, isOverdue, time } = await run(
    process.execPath,
    [...flags, ...how.args, SEVERAL, fileOf(name)],
    {
      cwd: workspace.folder,
      env: {
        ...inherited,
        ...how.env,
        TMPDIR: scratch,
        MUTATE_MAIN: path.resolve(workspace.folder, MAIN),
        ...env,
      },
      limit,
      onLine,
    },
  );
  fs.rmSync(scratch, { recursive: true, force: true });
  if (isOverdue) failure = "it never ends";
  else if (status !== 0) failure ??= "its process fails";
  return { failure, time };
}

/** Runs one test file without a mutant, in code whose sites are marked, and returns the sites that it reaches. */
export async function observe(workspace, name) {
  const file = path.join(workspace.folder, "..", `${path.basename(name)}.reached`);
  fs.writeFileSync(file, "");
  const options = `${process.env.NODE_OPTIONS ?? ""} --require=${PRELOADED}`;
  const env = { NODE_OPTIONS: options, MUTATE_REACHED: file };
  const { failure, time } = await runFile(workspace, name, { limit: CLEAN_LIMIT, env });
  const reached = new Set(fs.readFileSync(file, "utf8").split("\n"));
  return { name, time, failure, reached };
}

/** Returns the failure of a test file without a mutant and without marks, or null if it passes. */
export async function check(workspace, name) {
  return (await runFile(workspace, name, { limit: CLEAN_LIMIT })).failure;
}

/**
 * Runs test files one after the other, until one notices the current mutant.
 * @returns the file and the failing test; null if none failed
 */
export async function notice(workspace, observations) {
  for (const { name, time } of observations) {
    const options = { limit: limitOf(time), endsAtFailure: true };
    const { failure } = await runFile(workspace, name, options);
    if (failure !== null) return { name, failure };
  }
  return null;
}
