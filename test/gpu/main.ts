/**
 * Runs the tests of the WebGPU engine, `*.gpu.ts`, in all places that have WebGPU, or in those that are named: `npm run
 * test:webgpu`. The places are Node on two drivers, each in its own process, Deno on a third driver, and Chromium in a
 * page and in a worker. One driver runs all tests and the other places run a sample, unless `--all` is given.
 */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { BROWSERS, type Browser } from "../runners/browser/browsers.ts";
import { bundle, type Files } from "../runners/browser/bundle.ts";
import { findBrowser } from "../runners/browser/launch.ts";
import type { Pass } from "../runners/browser/passes.ts";
import { runPass } from "../runners/browser/run-pass.ts";
import { runTogether, wordsOf } from "../runners/files.ts";
import { close, closeUnavailable, secondsSince, sumOf, type Counts } from "../runners/outcome.ts";
import { inParallel } from "../runners/parallel.ts";
import { exitOnSignals } from "../../scripts/process-group.js";
import { NODE } from "../runners/runtimes.ts";
import { announceSeed } from "../runners/seed.ts";
import { findDeno } from "./deno.ts";
import { DRIVERS, findDriver, NODE_ARGS, type Driver } from "./drivers.ts";

/** The driver that runs all tests at every commit: 116 s of processor time, where SwiftShader takes over 165 s. */
const FULL = "llvmpipe";

const FILES: Files = { folder: "gpu", suffix: ".gpu.ts" };

/** The names of the test files without the ending. */
const NAMES = fs
  .readdirSync(new URL(`../../../test/${FILES.folder}/`, import.meta.url))
  .filter((name) => name.endsWith(FILES.suffix))
  .map((name) => name.slice(0, -FILES.suffix.length));

/** The sample: files that depend on the driver or the place. */
const SAMPLE = ["device", "examples", "limits", "order"];

/** Files that a worker could affect. A page has the same driver, so the other files would repeat its results. */
const OF_WORKER = ["device", "examples", "inputs", "limits", "order", "pending-calls"];

interface Place {
  readonly name: string;
  /** The names of its files, at every commit and with `--all`. */
  readonly sample: readonly string[];
  readonly files: readonly string[];
  run(only: readonly string[]): Promise<void>;
}

/** All files run in one process, because a driver may take seconds to compile a kernel, which an engine keeps. */
async function runInNode(driver: Driver, only: readonly string[]): Promise<void> {
  const start = performance.now();
  const name = `Node ${process.versions.node} on ${driver.name}`;
  const found = findDriver(driver);
  if (typeof found === "string") return closeUnavailable(name, found);
  console.log(`${name}: the adapter is ${found.adapter}`);
  const runtime = {
    ...NODE,
    name,
    env: found.env,
    // Devices would keep the process alive.
    test: (files: readonly string[]) => [...NODE_ARGS, "--test-force-exit", ...NODE.test(files)],
  };
  const { counts } = await runTogether(
    runtime,
    process.execPath,
    only.join(", "),
    only.map(fileOf),
  );
  close(name, counts, secondsSince(start));
}

const fileOf = (name: string): string => fileURLToPath(new URL(`${name}.gpu.js`, import.meta.url));

async function runInDeno(only: readonly string[]): Promise<void> {
  const start = performance.now();
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-webgpu-"));
  process.on("exit", () => fs.rmSync(home, { recursive: true, force: true }));
  const found = await findDeno(home);
  const name = "Deno on lavapipe";
  if (typeof found === "string") return closeUnavailable(name, found);
  const { program, runtime } = found;
  const tallies: Counts[] = [];
  // A process for each file: Deno's WebGPU takes a while to say that work is done, and all files would take too long for one.
  for (const file of only) {
    // oxlint-disable-next-line no-await-in-loop -- drivers in software take all cores by themselves
    const { counts } = await runTogether({ ...runtime, name }, program, file, [fileOf(file)]);
    tallies.push(counts);
  }
  close(name, sumOf(tallies), secondsSince(start));
}

const CHROMIUM: Browser = {
  ...BROWSERS[0],
  args: (address, profile) => ["--enable-unsafe-webgpu", ...BROWSERS[0].args(address, profile)],
};

async function runInChromium(pass: Pass, only: readonly string[]): Promise<void> {
  const start = performance.now();
  const installed = await findBrowser(CHROMIUM);
  if (typeof installed === "string") return closeUnavailable(`WebGPU, ${pass.name}`, installed);
  const script = await bundle(FILES, true, (file) => only.includes(file));
  const tally = await runPass(installed, pass, script);
  await installed.close();
  close(
    `${CHROMIUM.name} ${installed.version}, WebGPU in ${pass.name}`,
    tally,
    secondsSince(start),
  );
}

const inChromium = (name: string, isPage: boolean, files: readonly string[]): Place => ({
  ...{ name, files, sample: SAMPLE },
  run: (only) =>
    runInChromium(
      {
        name: `a ${name}`,
        place: { isPage, isIsolated: false, kind: "wasm", threads: 1 },
        headers: {},
      },
      only,
    ),
});

const PLACES: readonly Place[] = [
  ...DRIVERS.map((driver) => ({
    name: driver.name,
    files: NAMES,
    sample: driver.name === FULL ? NAMES : SAMPLE,
    run: (only: readonly string[]) => runInNode(driver, only),
  })),
  { name: "lavapipe", files: NAMES, sample: SAMPLE, run: runInDeno },
  inChromium("page", true, NAMES),
  inChromium("worker", false, OF_WORKER),
];

exitOnSignals();
announceSeed("npm run test:webgpu");
const { all, named } = wordsOf(process.argv);
const lower = named.map((name) => name.toLowerCase());
const isNamed = (name: string): boolean => lower.includes(name.toLowerCase());
const known = new Set([...PLACES.map(({ name }) => name.toLowerCase()), ...NAMES]);
const unknown = lower.filter((name) => !known.has(name));
if (unknown.length > 0) throw new Error(`no place and no file of this name: ${unknown.join(", ")}`);
const places = PLACES.filter(({ name }) => isNamed(name));
const files = NAMES.filter(isNamed);
const filesOf = (place: Place): readonly string[] => {
  if (files.length > 0) return files;
  // A place that is named runs all its files.
  return all || places.length > 0 ? place.files : place.sample;
};
// A driver that computes on the processor spends most of its time on compiling, on one core.
await inParallel(places.length === 0 ? PLACES : places, (place) => place.run(filesOf(place)));
