/** A job that goes on notices inputs that changed after a task had read them, and those that no task has read may change. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { openArray } from "../../src/entries/zarr.ts";
import {
  add,
  makeHome,
  readAll,
  requestIn,
  store,
  runHere,
  runTasks,
} from "../support/job-files.ts";
import { assertRejected } from "../support/refusal.ts";

type Kind = "new" | "in place" | "gather";

interface Half {
  readonly home: string;
  readonly folder: string;
  readonly request: () => Promise<JobRequest>;
}

/** A job of two blocks and four chunks, of which the first block and the chunks 1 and 2 are done. */
async function makeHalf(kind: Kind): Promise<Half> {
  const home = makeHome();
  await store(path.join(home, "data.zarr"), tensor("float32", [4], [1, 2, 3, 4]), [1]);
  await store(path.join(home, "indices.zarr"), tensor("int64", [4, 1], [0, 1, 2, 3]), [1, 1]);
  await store(path.join(home, "updates.zarr"), tensor("float32", [4], [5, 5, 5, 5]), [1]);
  const out =
    kind === "in place" ? null : ({ format: "zarr", path: path.join(home, "out.zarr") } as const);
  const request = async (): Promise<JobRequest> =>
    kind === "gather"
      ? await requestIn(
          home,
          { function: "gatherND", options: {} },
          { out, updates: undefined, blockShape: [2] },
        )
      : await requestIn(home, add, { out, blockShape: [2] });
  const { folder } = await request();
  await createJob(await request());
  await runTasks(folder, ["partition", 0]);
  return { home, folder, request };
}

async function goFurther({ folder }: Half): Promise<void> {
  await runTasks(folder, ["partition", 1], ["apply", 1, 2]);
}

const RESULTS: Readonly<Record<Kind, readonly number[]>> = {
  new: [6, 7, 8, 9],
  "in place": [6, 7, 8, 9],
  gather: [1, 2, 3, 4],
};

/** The job is refused however it goes on; when the files are as before it ends with the right bits. */
async function checkNoticed(
  kind: Kind,
  half: Half,
  name: string,
  change: () => () => void,
): Promise<void> {
  const bringBack = change();
  const { message } = await assertRejected("attribute", {}, async () =>
    createJob(await half.request()),
  );
  assert.ok(message.startsWith(`${name} `), message);
  await assertRejected("attribute", {}, () => runHere(half.folder));
  bringBack();
  await createJob(await half.request());
  await runHere(half.folder);
  const result = path.join(half.home, kind === "in place" ? "data.zarr" : "out.zarr");
  assert.deepEqual(await readAll(result), RESULTS[kind]);
}

/** What may happen to the file of a chunk, and how it is undone. */
const CHANGES: Readonly<Record<string, (file: string) => () => void>> = {
  "another size": (file) => {
    const [bytes, { atime, mtime }] = [fs.readFileSync(file), fs.statSync(file)];
    fs.appendFileSync(file, "x");
    fs.utimesSync(file, atime, mtime);
    return () => {
      fs.writeFileSync(file, bytes);
      fs.utimesSync(file, atime, mtime);
    };
  },
  "another time": (file) => {
    const { atime, mtime } = fs.statSync(file);
    fs.utimesSync(file, atime, new Date(Number(mtime) + 10));
    return () => fs.utimesSync(file, atime, mtime);
  },
  "no file": (file) => {
    fs.renameSync(file, `${file}.away`);
    return () => fs.renameSync(`${file}.away`, file);
  },
};

/** Times are kept to the millisecond, because `utimes` sets no finer ones. */
function round(folder: string): void {
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = path.join(folder, name);
    const { atime, mtime } = fs.statSync(file);
    fs.utimesSync(file, atime, mtime);
  }
}

for (const [name, change] of Object.entries(CHANGES)) {
  for (const kind of ["new", "in place", "gather"] as const) {
    test(`${kind}: ${name} of a chunk that a task has read is noticed`, async () => {
      const inputs = kind === "gather" ? ["indices"] : ["indices", "updates"];
      for (const input of inputs) {
        const half = await makeHalf(kind);
        const file = path.join(half.home, `${input}.zarr`, "c", input === "indices" ? "1/0" : "1");
        round(path.join(half.home, `${input}.zarr`));
        // The block is partitioned again with the times that were set.
        fs.rmSync(path.join(half.folder, "shuffle"), { recursive: true });
        fs.mkdirSync(path.join(half.folder, "shuffle"));
        await runTasks(half.folder, ["partition", 0]);
        await checkNoticed(kind, half, input, () => change(file));
      }
    });
  }
  for (const kind of ["new", "gather"] as const) {
    test(`${kind}: ${name} of a chunk of data that a task has read is noticed`, async () => {
      const half = await makeHalf(kind);
      round(path.join(half.home, "data.zarr"));
      await goFurther(half);
      await checkNoticed(kind, half, "data", () =>
        change(path.join(half.home, "data.zarr", "c", "2")),
      );
    });
  }
}

test("chunks that no task has read may change, and the job takes their new values", async () => {
  const half = await makeHalf("new");
  const [updates, data] = await Promise.all(
    ["updates.zarr", "data.zarr"].map((name) => openArray(path.join(half.home, name))),
  );
  await updates.write(tensor("float32", [1], [50]), [3]);
  await data.write(tensor("float32", [1], [40]), [3]);
  await createJob(await half.request());
  await runHere(half.folder);
  assert.deepEqual(await readAll(path.join(half.home, "out.zarr")), [6, 7, 8, 90]);
});

test("a job in place changes its data, which is no change of an input", async () => {
  const half = await makeHalf("in place");
  await goFurther(half);
  assert.deepEqual(await readAll(path.join(half.home, "data.zarr")), [1, 7, 8, 4]);
  await createJob(await half.request());
  await runHere(half.folder);
  assert.deepEqual(await readAll(path.join(half.home, "data.zarr")), RESULTS["in place"]);
});

test("what a task has seen is noted once, and a damaged note is said", async () => {
  const half = await makeHalf("new");
  const note = path.join(half.folder, "shuffle", "0.seen");
  const before = fs.readFileSync(note, "utf8");
  assert.deepEqual(Object.keys(JSON.parse(before)), ["indices", "updates"]);
  // A late run of the task reads nothing, so it must not say what is there now.
  fs.utimesSync(path.join(half.home, "updates.zarr", "c", "0"), new Date(), new Date(0));
  await runTasks(half.folder, ["partition", 0]);
  assert.equal(fs.readFileSync(note, "utf8"), before);
  fs.writeFileSync(note, "{");
  await assertRejected("malformed-file", {}, () => runHere(half.folder));
});
