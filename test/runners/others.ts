/**
 * The tests, and a program that uses the packed package, in the other runtimes: `npm run test:runtimes`, or some of them
 * by name. Each is installed into a temporary folder. A runtime that cannot be installed is skipped.
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { runFiles, runTimed, seconds, testFiles } from "./files.ts";
import { install } from "./install.ts";
import { close, closeUnavailable, sumOf, type Counts } from "./outcome.ts";
import { exitOnSignals } from "./process-group.ts";
import { PACKAGED, type PackagedRuntime } from "./runtimes.ts";
import { installTarball, PRINTED } from "./tarball.ts";

/** Runs the program that uses the packed package, which is one test. */
async function runTarball(runtime: PackagedRuntime, program: string, use: string): Promise<Counts> {
  const env = { ...process.env, ...runtime.env };
  const { output } = await runTimed([program, ...runtime.run(use)], env);
  const passed = output === PRINTED ? 1 : 0;
  if (passed === 0) console.log(`${runtime.name}: the packed package fails:\n${output}`);
  return { passed, failed: 1 - passed, skipped: 0 };
}

async function runAll(runtime: PackagedRuntime, home: string, use: string): Promise<void> {
  const start = performance.now();
  const folder = path.join(home, runtime.name);
  const program = install(runtime, folder);
  if (program === null) {
    closeUnavailable(runtime.name, `npm cannot install ${runtime.package}`);
    return;
  }
  const { output } = await runTimed([program, "--version"], process.env);
  const version = /\d+(\.\d+)+/.exec(output)?.[0] ?? "";
  const results = await runFiles(runtime, program, testFiles(false));
  const counts = sumOf([
    ...results.map((result) => result.counts),
    await runTarball(runtime, program, use),
  ]);
  const processor = results.reduce((sum, result) => sum + result.processor, 0);
  close(
    `${runtime.name.replace(/ \d+$/, "")} ${version}`,
    counts,
    `${seconds((performance.now() - start) / 1000)}, of processor time ${seconds(processor)}`,
  );
}

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-runtimes-"));
process.on("exit", () => fs.rmSync(home, { recursive: true, force: true }));
exitOnSignals();
const named = process.argv.slice(2);
const chosen = PACKAGED.filter(({ name }) => named.length === 0 || named.includes(name));
if (chosen.length < named.length) throw new Error(`no runtime of this name: ${named.join(", ")}`);
const consumer = path.join(home, "consumer");
fs.mkdirSync(consumer);
const use = installTarball(consumer);
for (const runtime of chosen) await runAll(runtime, home, use);
