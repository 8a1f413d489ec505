/** Jobs that write to object storage: nothing that is there is overwritten, and nothing of other jobs is removed. */

import * as path from "node:path";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createJob, planJob } from "../../src/arrays/chunked/job/create-job.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { removeJob } from "../../src/arrays/chunked/job/job-folder.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import {
  add,
  makeHome,
  MEMORY,
  requestIn,
  storeInputs,
  runHere,
  runTasks,
} from "../support/job-files.ts";
import { WITHOUT_NODE } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";
import { serveS3, type S3Memory } from "../support/s3-server.ts";

const skip = WITHOUT_NODE;
const KEYS = ["AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"];
const earlier = KEYS.map((key) => process.env[key]);
let server: S3Memory;

before(async () => {
  if (skip !== false) return;
  server = await serveS3(null);
  for (const [i, value] of [server.endpoint, "a", "b", "us-east-1"].entries()) {
    process.env[KEYS[i]] = value;
  }
});

after(() => {
  if (skip !== false) return;
  server.close();
  for (const [i, value] of earlier.entries()) {
    if (value === undefined) Reflect.deleteProperty(process.env, KEYS[i]);
    else process.env[KEYS[i]] = value;
  }
});

const OUT = "s3://bucket/out.zarr";

/** The request of a job that writes the sums to {@link OUT}. */
async function request(more: Partial<JobRequest> = {}): Promise<JobRequest> {
  const home = makeHome();
  await storeInputs(home);
  server.objects.clear();
  return requestIn(home, add, { out: { format: "zarr", path: OUT }, ...more });
}

const sums = async (): Promise<number[]> =>
  [...(await (await openArray(OUT)).read()).data] as number[];

/** The objects of a bucket, with the sizes. */
const listed = (): string[] => [...server.objects].map(([key, { length }]) => `${key} ${length}`);

const WRITING = [
  ["partition", 0],
  ["apply", 0, 1, 2, 3],
] as const;

test("a job writes a new array to object storage, and leaves nothing else", { skip }, async () => {
  const { folder } = await createdJob();
  await runHere(folder);
  assert.deepEqual(await sums(), [6, 6, 6, 6]);
  assert.deepEqual(
    listed().filter((one) => one.includes(".ndscatter")),
    [],
  );
});

async function createdJob(): Promise<JobRequest> {
  const given = await request();
  await createJob(given);
  return given;
}

test("a job does not overwrite what is in object storage", { skip }, async () => {
  const makers: Readonly<Record<string, () => Promise<unknown>>> = {
    "an array": () =>
      createArray(OUT, { dtype: "float32", shape: [4], chunkShape: [1] }).then((array) =>
        array.writeChunk([2], new Uint8Array(4)),
      ),
    "an array of Zarr v2": async () =>
      server.objects.set("bucket/out.zarr/.zarray", new Uint8Array(2)),
    "a chunk without metadata": async () =>
      server.objects.set("bucket/out.zarr/c/2", new Uint8Array(4)),
  };
  for (const [name, make] of Object.entries(makers)) {
    const given = await request();
    await make();
    const before = listed();
    await assertRejected("attribute", { file: OUT }, () => planJob(given));
    await assertRejected("attribute", { file: OUT }, () => createJob(given));
    assert.deepEqual(listed(), before, name);
  }
});

test(
  "of two jobs with the same output one has it, and keeps it when the other is removed",
  { skip },
  async () => {
    const { folder, ...rest } = await createdJob();
    await runTasks(folder, ...WRITING);
    const before = listed();
    const other = { ...rest, folder: path.join(path.dirname(folder), "other") };
    await assertRejected("attribute", { file: OUT }, () => createJob(other));
    assert.deepEqual(listed(), before);
    // The same request goes on.
    await createJob({ ...rest, folder });
    await runHere(folder);
    assert.deepEqual(await sums(), [6, 6, 6, 6]);
  },
);

test("an array that another program writes while the job runs is kept", { skip }, async () => {
  const { folder } = await createdJob();
  await runTasks(folder, ...WRITING);
  const foreign = new TextEncoder().encode("{}");
  server.objects.set("bucket/out.zarr/zarr.json", foreign);
  await assertRejected("attribute", { file: OUT }, () => runHere(folder));
  assert.deepEqual(server.objects.get("bucket/out.zarr/zarr.json"), foreign);
});

test(
  "a job that is removed leaves nothing in object storage, and its request can begin again",
  { skip },
  async () => {
    const given = await createdJob();
    await runTasks(given.folder, ...WRITING);
    await removeJob(given.folder);
    assert.deepEqual(listed(), []);
    await createJob(given);
    await runHere(given.folder);
    await removeJob(given.folder);
    assert.deepEqual(await sums(), [6, 6, 6, 6]);
  },
);

for (const [what, damage] of [
  ["removed", () => server.objects.delete("bucket/out.zarr/c/2")],
  ["cut short", () => server.objects.set("bucket/out.zarr/c/2", new Uint8Array(3))],
] as const) {
  test(`an object that is ${what} while the job runs is written again`, { skip }, async () => {
    const { folder } = await createdJob();
    await runTasks(folder, ...WRITING);
    damage();
    const pool = startPool({ threads: 0, memory: MEMORY });
    const fields = { file: OUT, at: [2], expected: 4 };
    await assertRejected("malformed-file", fields, () => pool.run(folder, "finish", 0));
    await pool.end();
    assert.ok(!server.objects.has("bucket/out.zarr/zarr.json"));
    await runHere(folder);
    assert.deepEqual(await sums(), [6, 6, 6, 6]);
  });
}
