/**
 * Many mutants of each kind, in a thread that is watched: `node build/test/arrays/hostile/main.js --count 100000 shuffle claim`.
 * `--minutes 8` ends early. The exit status is 1 where something is found; `--seed 7 --only 123` runs one mutant again.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { blockingFiles } from "../../../src/arrays/boxes/files.ts";
import { setLimits } from "../../support/limits.ts";
import { kindsIn } from "./kinds.ts";
import { makeOutside } from "./places.ts";
import { runKind, type Tally } from "./run.ts";

interface Order {
  readonly kind: string;
  readonly count: number;
  readonly first: number;
  readonly seed: number;
  readonly until: number;
}

/** Milliseconds after which a mutant that has not ended is given up. */
const HANG = 30_000;

/** Calls that return promises go to other threads, which takes most of the time of a mutant; here they block. */
function blockCalls(): void {
  const names = [
    "access",
    "link",
    "lstat",
    "mkdir",
    "readdir",
    "realpath",
    "rename",
    "rm",
    "rmdir",
  ];
  for (const name of [...names, "stat", "writeFile"]) {
    const call: unknown = Reflect.get(fs, `${name}Sync`);
    const blocking = async (...args: unknown[]): Promise<unknown> =>
      Reflect.apply(call as () => unknown, fs, args);
    Reflect.set(fs.promises, name, blocking);
  }
  // However slow a call is, it blocks.
  setLimits({ FILES: { slowCall: 1e9, slowSync: 1e9 } });
  Reflect.set(fs.promises, "open", blockingFiles().open);
  const list = async (folder: string): Promise<fs.Dirent[]> =>
    fs.readdirSync(folder, { withFileTypes: true });
  Reflect.set(fs.promises, "opendir", list);
  syncBuiltinESMExports();
  const digest = async (_: string, bytes: Uint8Array): Promise<ArrayBufferLike> =>
    Uint8Array.from(createHash("sha256").update(bytes).digest()).buffer;
  Reflect.set(globalThis.crypto.subtle, "digest", digest);
}

async function runHere({ kind, count, first, seed, until }: Order): Promise<void> {
  blockCalls();
  // In memory a sync costs nothing.
  const home = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();
  const around = fs.realpathSync(fs.mkdtempSync(path.join(home, "ndscatter-hostile-")));
  const places = makeOutside(around);
  execFileSync("mkfifo", [places.pipe]);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  const say = (message: object): void => parentPort?.postMessage(message);
  const tally = await runKind(kindsIn(places)[kind], places, {
    count,
    first,
    seed,
    until,
    onMutant: (mutant) => say({ mutant }),
    isWatched: true,
  });
  fs.rmSync(around, { recursive: true, force: true });
  say({ tally });
}

function watch(order: Order): Promise<Tally | null> {
  return new Promise((resolve) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: order });
    let [mutant, since] = [-1, Date.now()];
    const timer = setInterval(() => {
      if (Date.now() - since < HANG) return;
      console.log(`${order.kind}: mutant ${mutant} of seed ${order.seed} does not end`);
      void worker.terminate();
    }, 1000);
    let tally: Tally | null = null;
    worker.on("message", (message: { mutant?: number; tally?: Tally }) => {
      since = Date.now();
      mutant = message.mutant ?? mutant;
      tally = message.tally ?? tally;
    });
    worker.on("error", (error) => console.log(`${order.kind}: mutant ${mutant}:`, error));
    worker.on("exit", () => {
      clearInterval(timer);
      resolve(tally);
    });
  });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: "string", default: "100000" },
      minutes: { type: "string", default: "600" },
      seed: { type: "string", default: "20261124" },
      only: { type: "string" },
      first: { type: "string", default: "0" },
    },
  });
  const known = Object.keys(kindsIn({ home: "", outside: "", targets: [], pipe: "" }));
  const until = Date.now() + 60_000 * Number(values.minutes);
  for (const kind of positionals.length === 0 ? known : positionals) {
    if (!known.includes(kind)) throw new Error(`no kind ${kind}; they are ${known.join(", ")}`);
    const first = Number(values.only ?? values.first);
    const count = values.only === undefined ? Number(values.count) : 1;
    // oxlint-disable-next-line no-await-in-loop -- two would share memory, which is measured
    const tally = await watch({ kind, count, first, seed: Number(values.seed), until });
    console.log(JSON.stringify({ kind, seed: values.seed, first, ...tally }));
    if (tally === null || tally.wrong > 0 || tally.slow > 0) process.exitCode = 1;
  }
}

if (isMainThread) await main();
else await runHere(workerData as Order);
