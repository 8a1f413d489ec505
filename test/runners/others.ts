/**
 * Runs the sample (`test/platform`), and a program that uses the packed package, in Node 24, Bun and Deno, or in the
 * runtimes that are named: `npm run test:runtimes`. With `--all` it runs all tests, also in Node 22. Each runtime is
 * installed into a temporary folder; a runtime that cannot be installed is skipped.
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { ROOT } from "../support/root.ts";
import { closeFiles, isOfSample, runFiles, testFiles, wordsOf } from "./files.ts";
import { install } from "./install.ts";
import { closeUnavailable, type Counts } from "./outcome.ts";
import { exitOnSignals, runTimed } from "../../scripts/process-group.js";
import { PACKAGED, type PackagedRuntime } from "./runtimes.ts";
import { announceSeed } from "./seed.ts";

/** What `test/fixtures/consumer.js` prints. */
const PRINTED = '[[0,2,12.5,4],true,"index-out-of-range",0]\n';

/** Packs the package, and installs it with the program in a folder, which is empty. @returns the path of the program */
function installTarball(folder: string): string {
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const tarball = npm(["pack", "--silent", "--pack-destination", folder], ROOT).trim();
  fs.writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  npm(["install", "--prefer-offline", "--no-audit", "--no-fund", `./${tarball}`], folder);
  const program = path.join(folder, "use.js");
  fs.copyFileSync(path.join(ROOT, "test/fixtures/consumer.js"), program);
  return program;
}

/** Runs the program that uses the packed package, which is one test. */
async function runTarball(runtime: PackagedRuntime, program: string, use: string): Promise<Counts> {
  const env = { ...process.env, ...runtime.env };
  const { output } = await runTimed([program, ...runtime.run(use)], { env, limit: 600 });
  const passed = output === PRINTED ? 1 : 0;
  if (passed === 0) console.log(`${runtime.name}: the packed package fails:\n${output}`);
  return { passed, failed: 1 - passed, skipped: 0 };
}

async function runAll(
  runtime: PackagedRuntime,
  installed: Promise<string | null>,
  use: string,
): Promise<void> {
  const program = await installed;
  const start = performance.now();
  if (program === null) {
    closeUnavailable(runtime.name, `npm cannot install ${runtime.package}`);
    return;
  }
  const { output } = await runTimed([program, "--version"], { env: process.env, limit: 60 });
  const version = /\d+(\.\d+)+/.exec(output)?.[0] ?? "";
  const results = await runFiles(runtime, program, names);
  const tarball = await runTarball(runtime, program, use);
  closeFiles(`${runtime.name.replace(/ \d+$/, "")} ${version}`, results, tarball, start);
}

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-runtimes-"));
process.on("exit", () => fs.rmSync(home, { recursive: true, force: true }));
exitOnSignals();
announceSeed("npm run test:runtimes");
const { all, named } = wordsOf(process.argv);
// Documents are tested once, in the Node that is here.
const isOfDocuments = (name: string): boolean => name.startsWith("documents/");
const names = testFiles(false).filter((name) => (all ? !isOfDocuments(name) : isOfSample(name)));
const chosen = PACKAGED.filter(({ name, isOld }) =>
  named.length === 0 ? all || !isOld : named.includes(name),
);
if (chosen.length < named.length) throw new Error(`no runtime of this name: ${named.join(", ")}`);
const consumer = path.join(home, "consumer");
fs.mkdirSync(consumer);
const use = installTarball(consumer);
// All are downloaded while the first runs.
const installs = chosen.map((runtime) => install(runtime, path.join(home, runtime.name)));
for (const [at, runtime] of chosen.entries()) await runAll(runtime, installs[at], use);
