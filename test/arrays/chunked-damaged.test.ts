/** Files of a job that somebody removes or cuts short while the job runs: nothing wrong is published. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallSpec, JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { openContext } from "../../src/arrays/chunked/job/job.ts";
import type { StageName } from "../../src/arrays/chunked/job/spec.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { runTask as runJobTask } from "../../src/arrays/chunked/run/tasks.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import {
  add,
  makeHome,
  readAll,
  requestIn,
  storeInputs,
  runHere,
  runTasks,
} from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { assertRejected } from "../support/refusal.ts";

/** What happens to a file. */
const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  removed: (file) => fs.rmSync(file),
  emptied: (file) => fs.truncateSync(file, 0),
  "cut short": (file) => fs.truncateSync(file, fs.statSync(file).size - 1),
};

const gather: CallSpec = { function: "gatherND", options: {} };

interface Kind {
  readonly call: CallSpec;
  readonly out: "out.zarr" | "out.npy";
  readonly more?: Partial<JobRequest>;
  /** The stage that writes the output, and the values. */
  readonly stage: StageName;
  readonly expected: readonly number[];
}

const SUMS = [6, 6, 6, 6];
const KINDS: Readonly<Record<string, Kind>> = {
  scatter: { call: add, out: "out.zarr", stage: "apply", expected: SUMS },
  "scatter with zstd": {
    call: add,
    out: "out.zarr",
    more: { codecs: ["zstd"] },
    stage: "apply",
    expected: SUMS,
  },
  "scatter into shards": {
    call: add,
    out: "out.zarr",
    more: { chunkShape: [1], shards: [2] },
    stage: "apply",
    expected: SUMS,
  },
  "scatter into NPY": { call: add, out: "out.npy", stage: "apply", expected: SUMS },
  gather: { call: gather, out: "out.zarr", stage: "place", expected: [1, 1, 1, 1] },
  "gather into chunks": {
    call: gather,
    out: "out.zarr",
    more: { chunkShape: [2] },
    stage: "place",
    expected: [1, 1, 1, 1],
  },
  "gather into NPY": { call: gather, out: "out.npy", stage: "place", expected: [1, 1, 1, 1] },
};

/** Runs all tasks of the stages up to `last`. */
async function runUpTo(folder: string, last: StageName): Promise<void> {
  const { stages } = await readSpec(folder);
  const end = stages.findIndex(({ name }) => name === last) + 1;
  const all = stages
    .slice(0, end)
    .map(({ name, tasks }) => [name, ...Array(tasks).keys()] as const);
  await runTasks(folder, ...all);
}

const runTask = (folder: string, stage: StageName, task: number): Promise<void> =>
  runTasks(folder, [stage, task]);

/** A job whose output is written, but not visible. */
async function written({ call, out, more, stage }: Kind): Promise<{ folder: string; out: string }> {
  const home = makeHome();
  await storeInputs(home);
  const place = path.join(home, out);
  const request = await requestIn(home, call, {
    out: { format: out === "out.npy" ? "npy" : "zarr", path: place },
    ...(call === gather && { updates: undefined }),
    blockShape: [2],
    ...more,
  });
  await createJob(request);
  await runUpTo(request.folder, stage);
  return { folder: request.folder, out: place };
}

/** The last file that a job has written to its output. */
function lastFile(out: string): string {
  if (out.endsWith(".npy")) {
    const folder = path.dirname(out);
    const name = fs.readdirSync(folder).find((one) => one.endsWith(".part"));
    return path.join(folder, name ?? "");
  }
  const names = fs.readdirSync(path.join(out, "c"));
  return path.join(out, "c", names.toSorted().at(-1) ?? "");
}

for (const [name, kind] of Object.entries(KINDS)) {
  for (const [what, damage] of Object.entries(DAMAGES)) {
    // The whole output is gone: the job is removed and begins again.
    if (kind.out === "out.npy" && what === "removed") continue;
    test(`${name}: a chunk that is ${what} is not published, and is written again`, async () => {
      const { folder, out } = await written(kind);
      const file = lastFile(out);
      damage(file);
      await assertRejected("malformed-file", {}, () => runTask(folder, "finish", 0));
      assert.ok(!fs.existsSync(kind.out === "out.npy" ? out : path.join(out, "zarr.json")));
      await runHere(folder);
      assert.deepEqual(await readAll(out), kind.expected);
    });

    test(`${name}: the next run writes a chunk again that is ${what}`, async () => {
      const { folder, out } = await written(kind);
      damage(lastFile(out));
      await runHere(folder);
      assert.deepEqual(await readAll(out), kind.expected);
    });
  }
}

test("an NPY file that is cut short is not extended by later tasks", async () => {
  const { folder, out } = await written({ ...KINDS["gather into NPY"], stage: "apply" });
  await runTask(folder, "place", 0);
  fs.truncateSync(lastFile(out), 130);
  await assertRejected("malformed-file", {}, () => runTask(folder, "place", 1));
  await runHere(folder);
  assert.deepEqual(await readAll(out), [1, 1, 1, 1]);
});

test("an NPY file that is cut short is renewed once by runs that go on at the same time", async () => {
  const { folder, out } = await written({ ...KINDS["gather into NPY"], stage: "place" });
  fs.truncateSync(lastFile(out), 130);
  await Promise.all(Array.from({ length: 3 }, () => runHere(folder)));
  assert.deepEqual(await readAll(out), [1, 1, 1, 1]);
});

const isGathered = (file: string): boolean => path.basename(path.dirname(file)) === "applied";

/** Changes a byte of a file; of two offsets, the second is that in a file of gathered slices. */
const flip = (file: string, ...offsets: readonly [number, number]): void => {
  const bytes = fs.readFileSync(file);
  bytes[offsets[isGathered(file) ? 1 : 0]] ^= 1;
  fs.writeFileSync(file, bytes);
};

/** What happens to a file between two stages: as above, or a byte of it changes. */
const CHANGES: Readonly<Record<string, (file: string) => void>> = {
  ...DAMAGES,
  "changed in its entries": (file) => {
    const { size } = fs.statSync(file);
    flip(file, size - 1, size - 1);
  },
  // Of the file's 4 chunks, the block has entries for the last two; the chunk has slices for the first of 2 blocks.
  "changed in its checksums": (file) => flip(file, 16 + 4 * 5 + 4 * 2, 16 + 4 * 3),
  "changed in its starts": (file) => flip(file, 16 + 4 * 3, 16 + 4),
};

for (const small of [1000, 0]) {
  for (const [name, kind, stage] of [
    ["updates", KINDS.scatter, "partition"],
    ["updates in place", KINDS.scatter, "partition"],
    ["positions of a gather", KINDS.gather, "partition"],
    ["slices of a gather", KINDS.gather, "apply"],
  ] as const) {
    for (const [what, damage] of Object.entries(CHANGES)) {
      test(`${name}, with heads of up to ${small} numbers: a file that is ${what} is written again`, async () => {
        const inPlace = name.endsWith("in place");
        const restore = setLimits({ CHUNKED: { fragments: small } });
        try {
          const { folder, out } = await written({
            ...kind,
            stage,
            ...(inPlace && { more: { out: null } }),
          });
          const file = path.join(folder, stage === "apply" ? "applied" : "shuffle", "1");
          const whole = fs.readFileSync(file);
          damage(file);
          await assertRejected("malformed-file", { file }, () => resumeOnce(folder, what));
          await runHere(folder);
          const result = inPlace ? path.join(path.dirname(out), "data.zarr") : out;
          assert.deepEqual(await readAll(result), kind.expected);
          assert.ok(whole.length > 0);
        } finally {
          restore();
        }
      });
    }
  }
}

/** Runs what is left; a removed file is written again at once, so its reader runs alone. */
async function resumeOnce(folder: string, what: string): Promise<void> {
  if (what !== "removed") return runHere(folder);
  const { stages } = await readSpec(folder);
  const next = fs.readdirSync(path.join(folder, "applied")).some((name) => /^\d+$/.test(name));
  return runTask(folder, next ? "place" : "apply", stages.length > 0 ? 1 : 0);
}

test("a block whose file was lost is read again only as it was, once chunks are written", async () => {
  const { folder, out } = await written({ ...KINDS.scatter, stage: "partition" });
  await runTask(folder, "apply", 0);
  fs.rmSync(path.join(folder, "shuffle", "1"));
  const file = path.join(path.dirname(out), "updates.zarr", "c", "0");
  const stat = fs.statSync(file);
  const old = fs.readFileSync(file);
  fs.writeFileSync(file, new Uint8Array(Float32Array.of(7, 7, 7, 7).buffer));
  fs.utimesSync(file, 1, 1);
  await assertRejected("attribute", { input: "updates" }, () => runTask(folder, "partition", 1));
  fs.writeFileSync(file, old);
  fs.utimesSync(file, stat.atimeMs / 1000, Math.round(stat.mtimeMs) / 1000);
  await runHere(folder);
  assert.deepEqual(await readAll(out), SUMS);
});

/** A job in place that was killed between the mark of its task 1 and the renaming of its chunk. */
async function killed(): Promise<{ folder: string; array: string; staged: string }> {
  const home = makeHome();
  await storeInputs(home);
  const request = await requestIn(home, add, { out: null });
  await createJob(request);
  const { folder } = request;
  await runUpTo(folder, "partition");
  const job = await openContext(folder, await readSpec(folder));
  job.out.publishChunk = () => Promise.reject(new Error("killed"));
  const memory = { workspace: new Workspace(), allowance: 2 ** 20 };
  await assert.rejects(runJobTask(job, "apply", 1, memory), { message: "killed" });
  const array = path.join(home, "data.zarr");
  const staging = path.join(array, ".ndscatter");
  const name = fs.readdirSync(staging).find((one) => one.includes("-1-")) ?? "";
  return { folder, array, staged: path.join(staging, name) };
}

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`in place: a staged chunk that is ${what} before it is renamed is written again`, async () => {
    const { folder, array, staged } = await killed();
    damage(staged);
    await runHere(folder);
    assert.deepEqual(await readAll(array), SUMS);
    assert.ok(!fs.existsSync(path.join(array, ".ndscatter")));
  });

  test(`in place: a changed chunk that is ${what} is an error that names it, until it is restored`, async () => {
    const { folder, array } = await killed();
    await runTask(folder, "apply", 1);
    const file = path.join(array, "c", "1");
    const [old, stat] = [fs.readFileSync(file), fs.statSync(file)];
    damage(file);
    const got = what === "removed" ? undefined : fs.statSync(file).size;
    const fields = { file: array, at: [1], got, expected: 4 };
    await assertRejected("malformed-file", fields, () => runHere(folder));
    fs.writeFileSync(file, old);
    fs.utimesSync(file, stat.atimeMs / 1000, Math.round(stat.mtimeMs) / 1000);
    await runHere(folder);
    assert.deepEqual(await readAll(array), SUMS);
  });
}

test("in place: the last stage notices a staged chunk that is gone", async () => {
  const { folder, array, staged } = await killed();
  for (const task of [0, 2, 3]) await runTask(folder, "apply", task);
  fs.rmSync(staged);
  await assertRejected("engine", {}, () => runTask(folder, "finish", 0));
  await runHere(folder);
  assert.deepEqual(await readAll(array), SUMS);
});

test("a chunk that is removed before it is moved into a new array is written again", async () => {
  const home = makeHome();
  await storeInputs(home);
  const request = await requestIn(home, add);
  await createJob(request);
  await runUpTo(request.folder, "partition");
  const job = await openContext(request.folder, await readSpec(request.folder));
  const publishChunk = job.out.publishChunk.bind(job.out);
  job.out.publishChunk = async (at, name) => {
    await job.out.discard(name);
    return publishChunk(at, name);
  };
  const memory = { workspace: new Workspace(), allowance: 2 ** 20 };
  await assertRejected("malformed-file", {}, () => runJobTask(job, "apply", 0, memory));
  await runHere(request.folder);
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), SUMS);
});
