/**
 * Jobs whose processes are killed again and again, three at a time on one job: the bits of one call, no task lost, nothing
 * left behind. New arrays and arrays that are changed in place; reductions whose order shows in the bits.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createJob, openJob, remainingTasks, type StageName } from "../../src/entries/chunked.ts";
import { gatherND, scatterND } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom, seedOf } from "../support/random.ts";

const seed = seedOf("chunked-kills");
const PROCESS = fileURLToPath(new URL("../support/job-process.js", import.meta.url));
const KILLS = 200;
const root = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-kills-"));
after(() => fs.rmSync(root, { recursive: true, force: true }));

const random = randomFrom(seed);
const ROWS = 600;
const COLUMNS = 8;
const UPDATES = 900;
// Sums of these depend on their order.
const floats = (size: number): Float32Array =>
  Float32Array.from({ length: size }, () => (random(2000) - 1000) * 10 ** (random(9) - 4));
const data = tensor("float32", [ROWS, COLUMNS], floats(ROWS * COLUMNS));
const updates = tensor("float32", [UPDATES, COLUMNS], floats(UPDATES * COLUMNS));
const indices = tensor(
  "int64",
  [UPDATES, 1],
  Array.from({ length: UPDATES }, () => random(ROWS)),
);

type Kind = "new" | "in place" | "gather";

const EXPECTED: Readonly<Record<Kind, Tensor>> = {
  new: scatterND(data, indices, updates, { reduction: "add" }),
  "in place": scatterND(data, indices, updates, { reduction: "add" }),
  gather: gatherND(data, indices),
};

async function store(name: string, values: Tensor, chunkShape: readonly number[]) {
  const { dtype, shape } = values;
  const array = await createArray(path.join(root, name), { dtype, shape, chunkShape });
  await array.write(values);
  return array;
}

let jobs = 0;

/** Makes a job of 12 blocks and 24 chunks. */
async function makeJob(kind: Kind): Promise<{ folder: string; out: string }> {
  const name = String(jobs++);
  const table = await store(`${name}-data.zarr`, data, [50, 4]);
  const folder = path.join(root, `${name}-job`);
  const out = kind === "in place" ? table.location.path : path.join(root, `${name}-out.zarr`);
  // Tasks of one chunk, and of several: of a gather two or four, because a slice lies in two.
  const small = random(4) === 0 ? 0 : 2 ** 16;
  const restore = setLimits({
    CHUNKED: { small, groups: 1, group: 1 + random(5), pairs: 1e6 * random(2) },
  });
  await createJob({
    folder,
    call:
      kind === "gather"
        ? { function: "gatherND", options: {} }
        : { function: "scatterND", options: { reduction: "add" } },
    data: table,
    indices: await openArray(path.join(root, "indices.zarr")),
    updates: kind === "gather" ? undefined : await openArray(path.join(root, "updates.zarr")),
    out: kind === "in place" ? null : { format: "zarr", path: out },
    memory: 2 ** 29,
    threads: 1,
    // Without a block shape, the updates are few.
    ...(random(3) > 0 && { blockShape: [75] }),
  });
  restore();
  return { folder, out };
}

/**
 * Starts a process on the job and kills it when some more tasks are done, whoever has done them, and a moment later; so a
 * slow machine gets as far between two kills as a fast one.
 */
async function runAndKill(folder: string, tasks: number | null): Promise<"killed" | "ended"> {
  const child = spawn(process.execPath, [PROCESS, folder, String(random(2))], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (text: Buffer) => (complaint += String(text)));
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  if (tasks !== null) await enoughTasks(folder, tasks, ended).then(() => child.kill("SIGKILL"));
  const code = await ended;
  if (code === null) return "killed";
  assert.equal(code, 0, complaint);
  return "ended";
}

/** Waits until so many more tasks are done, and a moment longer, or until the process has ended. */
async function enoughTasks(folder: string, tasks: number, ended: Promise<unknown>): Promise<void> {
  const enough = tasksDone(folder) + tasks;
  const end = ended.then(() => true);
  while (tasksDone(folder) < enough) if (await Promise.race([end, sleep(2)])) return;
  await sleep(random(12));
}

/** How many tasks have left a file; all, where the folders are gone. */
function tasksDone(folder: string): number {
  try {
    return ["shuffle", "applied", "placed"].reduce(
      (sum, stage) => sum + fs.readdirSync(path.join(folder, stage)).length,
      0,
    );
  } catch {
    return Infinity;
  }
}

/** Every file below a folder. */
const filesIn = (folder: string): string[] =>
  fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();

async function stageOf(folder: string): Promise<StageName | "done"> {
  const job = await openJob(folder);
  for (const { name } of job.stages) {
    if ((await remainingTasks(job, name)).length > 0) return name;
  }
  return "done";
}

test(`jobs survive ${KILLS} kills: the same bits, once each, nothing left`, async () => {
  await store("indices.zarr", indices, [UPDATES, 1]);
  await store("updates.zarr", updates, [UPDATES, COLUMNS]);
  const kinds: readonly Kind[] = ["new", "in place", "gather"];
  const killedAt = new Map<string, number>();
  let kills = 0;
  while (kills < KILLS) {
    const kind = kinds[jobs % kinds.length];
    const { folder, out } = await makeJob(kind);
    while (!fs.existsSync(path.join(folder, "done"))) {
      // Three at once, of which the first may come late.
      const outcomes = await Promise.all(
        [0, 1, 2].map(async (process) => {
          await sleep(process === 0 ? random(60) : 0);
          return runAndKill(folder, 1 + random(8));
        }),
      );
      const stage = await stageOf(folder);
      const killed = outcomes.filter((outcome) => outcome === "killed").length;
      killedAt.set(stage, (killedAt.get(stage) ?? 0) + killed);
      kills += killed;
    }
    // The last process may have been killed behind its mark; the next one cleans up.
    assert.equal(await runAndKill(folder, null), "ended");
    const result = await (await openArray(out)).read();
    assert.ok(equals(result, EXPECTED[kind]), `${kind}: the bits differ after ${kills} kills`);
    assert.deepEqual(filesIn(folder), ["done", "job.json"]);
    const left = filesIn(out).filter((name) => !/^(zarr\.json|c(\/\d+){0,2})$/.test(name));
    assert.deepEqual(left, [], kind);
    fs.rmSync(folder, { recursive: true });
  }
  // Kills that all hit one stage would show little.
  for (const stage of ["partition", "apply", "place"]) {
    assert.ok((killedAt.get(stage) ?? 0) > 0, `none in ${stage}: ${JSON.stringify([...killedAt])}`);
  }
});
