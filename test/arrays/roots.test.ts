/** Jobs and arrays that lie outside of a worker's roots are refused, whatever leads there, and nothing there is touched. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkJobIn, rootsFrom, type Roots } from "../../src/arrays/chunked/job/roots.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { isLocal } from "../../src/arrays/distributed/redis-url.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createWorker } from "../../src/entries/bullmq.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { add, makeHome, makeJob, MEMORY, readAll, storeInputs } from "../support/job-files.ts";
import { assertRejected, assertRejectedCode } from "../support/refusal.ts";
import { makeZip } from "../support/zip.ts";

interface Places {
  /** The root of the worker. */
  readonly inside: string;
  /** A folder beside it, whose name begins with the name of the root. */
  readonly outside: string;
  readonly roots: Roots;
}

async function makePlaces(): Promise<Places> {
  const home = makeHome();
  const [inside, outside] = ["data", "database"].map((name) => path.join(home, name));
  for (const folder of [inside, outside]) {
    fs.mkdirSync(folder);
    await storeInputs(folder);
  }
  return { inside, outside, roots: await rootsFrom([inside]) };
}

/** Every file below a folder, with what it holds. */
const contentsOf = (folder: string): (readonly [string, string])[] =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .filter((name) => fs.statSync(path.join(folder, name)).isFile())
    .map((name) => [name, fs.readFileSync(path.join(folder, name), "latin1")]);

async function runWithin(roots: Roots, folder: string): Promise<void> {
  const { stages } = await readSpec(folder);
  const pool = startPool({ threads: 0, memory: MEMORY, roots });
  try {
    for (const { name, tasks } of stages)
      for (let task = 0; task < tasks; task++) await pool.run(folder, name, task);
  } finally {
    await pool.end();
  }
}

/** Replaces parts of a job's file, as whoever can write there may. */
function rewrite(folder: string, change: (spec: Record<string, { path: string }>) => void): void {
  const file = path.join(folder, "job.json");
  const spec = JSON.parse(fs.readFileSync(file, "utf8"));
  change(spec);
  fs.writeFileSync(file, JSON.stringify(spec));
}

test("a job whose folder and arrays lie in a root runs; the root may be given by a link", async () => {
  const { inside, roots } = await makePlaces();
  await runWithin(roots, await makeJob(inside, add));
  assert.deepEqual(await readAll(path.join(inside, "out.zarr")), [6, 6, 6, 6]);
  const link = path.join(inside, "..", "link");
  fs.symlinkSync(inside, link);
  assert.deepEqual((await rootsFrom([link])).folders, [fs.realpathSync(inside)]);
});

/** What leads out of the root, and which part of the job the refusal names. */
const WAYS_OUT: Readonly<
  Record<string, readonly [part: string, (folder: string, places: Places) => void]>
> = {
  ...Object.fromEntries(
    ["data", "indices", "updates", "out"].map((name) => [
      `the path of ${name}`,
      [
        name === "out" ? "output" : name,
        (folder: string, { outside }: Places) =>
          rewrite(
            folder,
            (spec) => (spec[name].path = path.join(outside, path.basename(spec[name].path))),
          ),
      ],
    ]),
  ),
  "a path with ..": [
    "indices",
    (folder, { inside }) =>
      rewrite(folder, (spec) => (spec["indices"].path = `${inside}/../database/indices.zarr`)),
  ],
  "a relative path": [
    "updates",
    (folder, { outside }) =>
      rewrite(folder, (spec) => {
        spec["updates"].path = path.relative(process.cwd(), path.join(outside, "updates.zarr"));
      }),
  ],
  "a link in the place of an array": [
    "data",
    (_, { inside, outside }) => {
      fs.rmSync(path.join(inside, "data.zarr"), { recursive: true });
      fs.symlinkSync(path.join(outside, "data.zarr"), path.join(inside, "data.zarr"));
    },
  ],
  "a link in the place of the output": [
    "output",
    (_, { inside, outside }) => {
      fs.renameSync(path.join(inside, "out.zarr"), path.join(inside, "old.zarr"));
      fs.symlinkSync(path.join(outside, "data.zarr"), path.join(inside, "out.zarr"));
    },
  ],
  "a link to nothing in the place of the output": [
    "output",
    (_, { inside, outside }) => {
      fs.renameSync(path.join(inside, "out.zarr"), path.join(inside, "old.zarr"));
      fs.symlinkSync(path.join(outside, "new.zarr"), path.join(inside, "out.zarr"));
    },
  ],
  "an address": [
    "updates",
    (folder) => rewrite(folder, (spec) => (spec["updates"].path = "s3://bucket/updates.zarr")),
  ],
};

test("an array in an archive lies where the archive lies", async () => {
  const { inside, outside, roots } = await makePlaces();
  const { bytes } = makeZip([{ name: "data.npy", data: writeNpy(tensor("int32", [1], [1])) }]);
  for (const folder of [inside, outside]) fs.writeFileSync(path.join(folder, "x.npz"), bytes);
  fs.symlinkSync(path.join(outside, "x.npz"), path.join(inside, "link.npz"));
  const folder = await makeJob(inside, add);
  const spec = await readSpec(folder);
  const check = (...names: readonly string[]): Promise<void> => {
    const data = { ...spec.data, path: path.join(...names, "data") };
    return checkJobIn(roots, folder, { ...spec, data });
  };
  await check(inside, "x.npz");
  await assertRejectedCode("attribute", { key: "roots" }, () => check(outside, "x.npz"));
  await assertRejectedCode("attribute", { key: "roots" }, () => check(inside, "link.npz"));
});

for (const [name, [part, lead]] of Object.entries(WAYS_OUT)) {
  test(`${name} leads out of the root and is refused, before or between tasks`, async () => {
    for (const isLate of [false, true]) {
      const places = await makePlaces();
      const { inside, outside, roots } = places;
      const folder = await makeJob(inside, add);
      if (isLate) {
        const pool = startPool({ threads: 0, memory: MEMORY, roots });
        await pool.run(folder, "partition", 0);
        lead(folder, places);
        await checkRefused(() => pool.run(folder, "apply", 0), part, outside);
        await pool.end();
      } else {
        lead(folder, places);
        await checkRefused(() => runWithin(roots, folder), part, outside);
      }
    }
  });
}

async function checkRefused(
  run: () => Promise<void>,
  part: string,
  outside: string,
): Promise<void> {
  const before = contentsOf(outside);
  const { message } = await assertRejected("attribute", {}, run);
  assert.ok(message.includes(` ${part} `), message);
  assert.deepEqual(contentsOf(outside), before);
}

/** Links within arrays, and within what tasks make of a job. */
const LINKS_WITHIN: Readonly<Record<string, readonly [from: string, to: string]>> = {
  "a chunk": ["data.zarr/c/0", "data.zarr/c/0"],
  "the chunks of an input": ["updates.zarr/c", "updates.zarr/c"],
  "the chunks of the output": ["out.zarr/c", "data.zarr/c"],
  metadata: ["data.zarr/zarr.json", "data.zarr/zarr.json"],
};

for (const [name, [from, to]] of Object.entries(LINKS_WITHIN)) {
  test(`a link in the place of ${name} leads out of the root and is refused`, async () => {
    const { inside, outside, roots } = await makePlaces();
    const folder = await makeJob(inside, add);
    const before = contentsOf(outside);
    fs.rmSync(path.join(inside, from), { recursive: true, force: true });
    fs.symlinkSync(path.join(outside, to), path.join(inside, from));
    await assertRejected("attribute", {}, () => runWithin(roots, folder));
    assert.deepEqual(contentsOf(outside), before);
  });
}

test("a file of a job that names other arrays under the same id is opened anew", async () => {
  const places = await makePlaces();
  const { inside, outside, roots } = places;
  const folder = await makeJob(inside, add);
  const pool = startPool({ threads: 0, memory: MEMORY, roots });
  await pool.run(folder, "partition", 0);
  // What was looked at becomes a link, and the file names what may be looked at.
  fs.renameSync(path.join(inside, "data.zarr"), path.join(inside, "other.zarr"));
  fs.symlinkSync(path.join(outside, "data.zarr"), path.join(inside, "data.zarr"));
  rewrite(folder, (spec) => (spec["data"].path = path.join(inside, "other.zarr")));
  fs.writeFileSync(path.join(outside, "data.zarr/c/0"), new Uint8Array(4));
  for (let task = 0; task < 4; task++) await pool.run(folder, "apply", task);
  await pool.run(folder, "finish", 0);
  await pool.end();
  assert.deepEqual(await readAll(path.join(inside, "out.zarr")), [6, 6, 6, 6]);
});

test("links in a job's folder, and in the place of an array's .ndscatter, are refused without roots too", async () => {
  const { inside, outside } = await makePlaces();
  const folder = await makeJob(inside, add);
  const before = contentsOf(outside);
  const pool = startPool({ threads: 0, memory: MEMORY });
  const places = ["shuffle", "done", "../out.zarr/.ndscatter"].map((name) =>
    path.join(folder, name),
  );
  for (const place of places) {
    const kept = `${place}-kept`;
    if (fs.existsSync(place)) fs.renameSync(place, kept);
    fs.symlinkSync(path.join(outside, "data.zarr"), place);
    await assertRejected("malformed-file", {}, () => pool.run(folder, "partition", 0));
    fs.rmSync(place);
    if (fs.existsSync(kept)) fs.renameSync(kept, place);
  }
  await pool.end();
  assert.deepEqual(contentsOf(outside), before);
});

test("a job's folder outside of the roots is refused before its file is read", async () => {
  const { inside, outside, roots } = await makePlaces();
  const folder = await makeJob(outside, add);
  const link = path.join(inside, "job");
  fs.symlinkSync(folder, link);
  const pool = startPool({ threads: 0, memory: MEMORY, roots });
  for (const one of [
    folder,
    link,
    `${inside}/../database/job`,
    "/",
    "/nowhere/at/all",
    inside + "base",
  ]) {
    await assertRejected("attribute", {}, () => pool.run(one, "partition", 0));
  }
  await pool.end();
});

test("threads of a pool have its roots", async () => {
  const { inside, outside, roots } = await makePlaces();
  const folder = await makeJob(inside, add);
  rewrite(folder, (spec) => (spec["updates"].path = path.join(outside, "updates.zarr")));
  const pool = startPool({ threads: 1, memory: MEMORY, roots });

  await assertRejected("attribute", {}, () => pool.run(folder, "partition", 0));
  await pool.end();
});

test("addresses lie in a root by whole names, and hide nothing", async () => {
  const { inside } = await makePlaces();
  const folder = await makeJob(inside, add);
  const spec = await readSpec(folder);
  const at = (location: string) => ({
    ...spec,
    updates: { format: "zarr", path: location } as const,
  });
  const roots = await rootsFrom([inside, "s3://bucket/team", "https://files.example/a/"]);
  for (const good of [
    "s3://bucket/team",
    "s3://bucket/team/x.zarr",
    "https://files.example/a/b/c.zarr",
  ])
    await checkJobIn(roots, folder, at(good));
  for (const bad of [
    "s3://bucket/teams/x.zarr",
    "s3://bucket",
    "s3://other/team/x",
    "https://files.example/b",
    "http://files.example/a/b",
  ])
    await assertRejected("attribute", {}, () => checkJobIn(roots, folder, at(bad)));
  for (const bad of ["../x", "./x", "%2e%2e/x", "x?y", "x#y", "u@h/x", "a\\..\\x", "a b"])
    await assertRejected("attribute", {}, () =>
      checkJobIn(roots, folder, at(`s3://bucket/team/${bad}`)),
    );
});

test("roots are folders that exist, and addresses", async () => {
  const home = makeHome();
  fs.writeFileSync(path.join(home, "file"), "");
  for (const [given] of [
    [[]],
    ["/"],
    [[7]],
    [[""]],
    [["a\0b"]],
    [[path.join(home, "none")]],
    [[path.join(home, "file")]],
    [["s3://bucket/../x"]],
  ] as const)
    await assertRejected("attribute", {}, () => rootsFrom(given));
});

test("a worker of a queue on another machine needs roots, before it connects", async () => {
  const options = { threads: 1, memory: MEMORY };
  for (const connection of ["redis://user:secret@queue:6379", { host: "queue" }]) {
    await assertRejected("attribute", {}, () => createWorker({ ...options, connection }));
  }
  const roots = ["/nowhere/at/all"];
  await assertRejected("attribute", {}, () =>
    createWorker({ ...options, connection: "redis://127.0.0.1:1", roots }),
  );
});

test("a queue is local where no other machine reaches it", () => {
  for (const local of [
    "redis://127.0.0.1:6379",
    "redis://localhost",
    "rediss://[::1]:6380/0",
    "redis://u:p@127.8.9.1",
    {},
    { port: 7000 },
    { host: "localhost" },
    { path: "/run/redis.sock" },
    "/run/redis.sock",
  ])
    assert.equal(isLocal(local), true, JSON.stringify(local));
  for (const other of [
    "redis://queue:6379",
    "redis://10.0.0.1",
    "redis://localhost.example",
    "redis://127.0.0.1.example:1",
    "redis://[fe80::1]",
    "redis://0.0.0.0",
    { host: "queue" },
    { host: "127.0.0.1", sentinels: [] },
    "queue:6379",
    "",
  ])
    assert.equal(isLocal(other), false, JSON.stringify(other));
});
