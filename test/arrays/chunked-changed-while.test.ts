/** Inputs that change while a job runs, which nothing has interrupted; and strangers who write to an array that a job changes. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { test } from "node:test";
import type { ArrayLocation, ChunkedArray } from "../../src/arrays/boxes/array.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { openContext } from "../../src/arrays/chunked/job/job.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { runTask } from "../../src/arrays/chunked/run/tasks.ts";
import type { JobContext } from "../../src/arrays/chunked/stages/context.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { openArray } from "../../src/entries/zarr.ts";
import {
  add,
  makeHome,
  MEMORY,
  readAll,
  requestIn,
  store,
  runHere,
  runTasks,
} from "../support/job-files.ts";
import { assertRejected } from "../support/refusal.ts";
import { setLimits } from "../support/limits.ts";

type Kind = "new" | "in place" | "gather";
type Input = "data" | "indices" | "updates";

interface Begun {
  readonly home: string;
  readonly folder: string;
  readonly kind: Kind;
  readonly at: (name: string) => string;
  readonly out: string;
}

const gather = { function: "gatherND", options: {} };

/** Four rows, to which updates of 5 are added, or which are gathered: two blocks, and tasks of two chunks. */
async function begin(kind: Kind, ending: "zarr" | "npy" = "zarr", base?: string): Promise<Begun> {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  const inputs = {
    data: [tensor("float32", [4], [1, 2, 3, 4]), [1]],
    indices: [tensor("int64", [4, 1], [0, 1, 2, 3]), [1, 1]],
    updates: [tensor("float32", [4], [5, 5, 5, 5]), [1]],
  } as const;
  for (const [name, [values, chunkShape]] of Object.entries(inputs)) {
    if (ending === "npy") fs.writeFileSync(at(`${name}.npy`), writeNpy(values));
    else await store(at(`${name}.zarr`), values, chunkShape);
  }
  const open = (name: Input): Promise<ChunkedArray> =>
    openArray(base === undefined ? at(`${name}.${ending}`) : `${base}${home}/${name}.zarr`);
  const restore = setLimits({ CHUNKED: { groups: 2 } });
  const folder = at("job");
  const out = kind === "in place" ? at("data.zarr") : at("out.zarr");
  const location: Pick<ArrayLocation, "format" | "path"> = { format: "zarr", path: out };
  await createJob({
    folder,
    call: kind === "gather" ? gather : add,
    data: await open("data"),
    indices: await open("indices"),
    updates: kind === "gather" ? undefined : await open("updates"),
    out: kind === "in place" ? null : location,
    memory: MEMORY,
    threads: 1,
    blockShape: [2],
  });
  restore();
  return { home, folder, kind, at, out };
}

const contextAt = async (folder: string): Promise<JobContext> =>
  openContext(folder, await readSpec(folder));

const memory = () => ({ workspace: new Workspace(), allowance: 2 ** 20 });

/** Another time, the same size. */
let times = 0;
function rewrite(file: string, values?: Uint8Array): void {
  if (values !== undefined) fs.writeFileSync(file, values);
  fs.utimesSync(file, new Date(), new Date(1_500_000_000_000 + 1000 * times++));
}

const FLOATS = (value: number): Uint8Array => new Uint8Array(Float32Array.of(value).buffer);

/** The file of a chunk of an input. */
const chunkFile = ({ at }: Begun, name: Input, chunk = 1): string =>
  path.join(at(`${name}.zarr`), "c", name === "indices" ? `${chunk}/0` : `${chunk}`);

/** After an array is read, `action` runs once. */
function afterRead(array: ChunkedArray, action: () => void): void {
  let isDone = false;
  for (const name of ["readBytes", "readChunk"] as const) {
    const read = array[name].bind(array) as (...args: unknown[]) => Promise<unknown>;
    Reflect.set(array, name, async (...args: unknown[]) => {
      const result = await read(...args);
      if (!isDone) action();
      isDone = true;
      return result;
    });
  }
}

const READ_BY: Readonly<Record<Input, "partition" | "apply">> = {
  indices: "partition",
  updates: "partition",
  data: "apply",
};

for (const kind of ["new", "in place", "gather"] as const) {
  for (const input of ["indices", "updates", "data"] as const) {
    if (kind === "gather" && input === "updates") continue;
    test(`${kind}: ${input} that change while a task reads them are an error, and the task runs again`, async () => {
      const begun = await begin(kind);
      const { folder } = begun;
      const stage = READ_BY[input];
      if (stage === "apply") await runTasks(folder, ["partition", 0], ["partition", 1]);
      const job = await contextAt(folder);
      const file = chunkFile(begun, input);
      const values = input === "indices" ? undefined : FLOATS(20);
      afterRead(job[input] as ChunkedArray, () => rewrite(file, values));
      await assertRejected("attribute", {}, () => runTask(job, stage, 0, memory()));
      const left = fs.readdirSync(path.join(folder, stage === "apply" ? "applied" : "shuffle"));
      assert.ok(!left.includes("0") && !left.some((name) => name.endsWith("tmp")), String(left));
      await runHere(folder);
      const sums = { data: [6, 25, 8, 9], updates: [6, 22, 8, 9], indices: [6, 7, 8, 9] };
      const gathered = { data: [1, 20, 3, 4], updates: [], indices: [1, 2, 3, 4] };
      const expected = kind === "gather" ? gathered : sums;
      assert.deepEqual(await readAll(begun.out), expected[input]);
    });

    if (kind === "in place" && input === "data") continue;
    test(`${kind}: ${input} that change between two stages are an error at the end`, async () => {
      const begun = await begin(kind);
      const { folder } = begun;
      const end = { indices: "partition", updates: "partition", data: "apply" }[input];
      const old = fs.statSync(chunkFile(begun, input));
      let changes = 0;
      const change = ({ stage, done, tasks }: { stage: string; done: number; tasks: number }) => {
        if (stage === end && done === tasks && changes++ === 0) rewrite(chunkFile(begun, input));
      };
      await assertRejected("attribute", {}, () =>
        runJob(folder, { threads: 0, memory: MEMORY, onProgress: change }),
      );
      assert.equal(changes, 1);
      // Nobody sees the new array; the array in place is as it was.
      if (kind === "in place") assert.deepEqual(await readAll(begun.out), [1, 2, 3, 4]);
      else assert.ok(!fs.existsSync(path.join(begun.out, "zarr.json")));
      fs.utimesSync(chunkFile(begun, input), old.atimeMs / 1000, Math.round(old.mtimeMs) / 1000);
      await runHere(folder);
      const expected = kind === "gather" ? [1, 2, 3, 4] : [6, 7, 8, 9];
      assert.deepEqual(await readAll(begun.out), expected);
    });
  }
}

test("in place: inputs that change while chunks are changed are an error at the end", async () => {
  const begun = await begin("in place");
  await runTasks(begun.folder, ["partition", 0], ["partition", 1], ["apply", 0], ["apply", 1]);
  rewrite(chunkFile(begun, "updates"));
  await assertRejected("attribute", {}, () => runTasks(begun.folder, ["finish", 0]));
});

test("NPY files that change while a task reads them, or between two stages, are an error", async () => {
  for (const input of ["indices", "updates", "data"] as const) {
    const { folder, at, out } = await begin("new", "npy");
    const [file, stage] = [at(`${input}.npy`), READ_BY[input]];
    const old = fs.statSync(file);
    if (stage === "apply") await runTasks(folder, ["partition", 0], ["partition", 1]);
    const job = await contextAt(folder);
    afterRead(job[input] as ChunkedArray, () => rewrite(file));
    await assertRejected("attribute", {}, () => runTask(job, stage, 0, memory()));
    fs.utimesSync(file, old.atimeMs / 1000, Math.round(old.mtimeMs) / 1000);
    await assertRejected("attribute", {}, () =>
      runJob(folder, {
        threads: 0,
        memory: MEMORY,
        onProgress: ({ stage: now, done, tasks }) => {
          if (now === stage && done === tasks) rewrite(file);
        },
      }),
    );
    assert.ok(!fs.existsSync(path.join(out, "zarr.json")));
    fs.utimesSync(file, old.atimeMs / 1000, Math.round(old.mtimeMs) / 1000);
    await runHere(folder);
    assert.deepEqual(await readAll(out), [6, 7, 8, 9]);
  }
});

test("a bad index that somebody was about to replace is read again", async () => {
  const begun = await begin("new");
  const file = chunkFile(begun, "indices");
  const [old, stat] = [fs.readFileSync(file), fs.statSync(file)];
  rewrite(file, new Uint8Array(BigInt64Array.of(9n).buffer));
  const job = await contextAt(begun.folder);
  afterRead(job.indices, () => {
    fs.writeFileSync(file, old);
    fs.utimesSync(file, stat.atimeMs / 1000, Math.round(stat.mtimeMs) / 1000);
  });
  await assertRejected("attribute", {}, () => runTask(job, "partition", 0, memory()));
  await runHere(begun.folder);
  assert.deepEqual(await readAll(begun.out), [6, 7, 8, 9]);
});

test("a run of a task that comes late, when its inputs have changed, leaves what the first run has made", async () => {
  const begun = await begin("new");
  const job = await contextAt(begun.folder);
  const file = chunkFile(begun, "updates");
  const old = fs.readFileSync(file);
  const first = contextAt(begun.folder);
  let other = Promise.resolve();
  afterRead(job.updates as ChunkedArray, () => {
    other = first.then(async (context) => {
      await runTask(context, "partition", 0, memory());
      rewrite(file, FLOATS(50));
    });
  });
  // The late run waits for the other one before it compares.
  const { indices } = job;
  const stateOf = indices.stateOf.bind(indices);
  let looks = 0;
  indices.stateOf = async (...args) => {
    if (looks++ > 0) await other;
    return stateOf(...args);
  };
  const made = path.join(begun.folder, "shuffle", "0");
  await runTask(job, "partition", 0, memory());
  assert.ok(looks > 1 && !fs.readFileSync(made).includes(Buffer.from(FLOATS(50))));
  assert.ok(fs.readFileSync(made).includes(old));
});

/** A job in place whose first task has changed its two chunks. */
async function beginChanged(): Promise<Begun> {
  const begun = await begin("in place");
  await runTasks(begun.folder, ["partition", 0], ["partition", 1], ["apply", 0]);
  assert.deepEqual(await readAll(begun.out), [6, 7, 3, 4]);
  return begun;
}

test("who writes to a chunk that a job has changed in place is noticed when the job goes on, and when it ends", async () => {
  for (const values of [FLOATS(100), undefined]) {
    const begun = await beginChanged();
    const file = chunkFile(begun, "data");
    const [old, stat] = [fs.readFileSync(file), fs.statSync(file)];
    rewrite(file, values);
    await assertRejected("attribute", {}, () => runHere(begun.folder));
    await runTasks(begun.folder, ["apply", 1]);
    await assertRejected("attribute", {}, () => runTasks(begun.folder, ["finish", 0]));
    fs.writeFileSync(file, old);
    fs.utimesSync(file, stat.atimeMs / 1000, Math.round(stat.mtimeMs) / 1000);
    await runHere(begun.folder);
    assert.deepEqual(await readAll(begun.out), [6, 7, 8, 9]);
  }
});

test("who writes to a chunk between its mark and its renaming is noticed", async () => {
  const begun = await begin("in place");
  const { folder, out } = begun;
  await runTasks(folder, ["partition", 0], ["partition", 1]);
  const job = await contextAt(folder);
  // The first chunk is renamed, and the second is not when the run is killed.
  const publishChunk = job.out.publishChunk.bind(job.out);
  job.out.publishChunk = ([row], name) =>
    row === 1 ? Promise.reject(new Error("killed")) : publishChunk([row], name);
  await assert.rejects(runTask(job, "apply", 0, memory()), { message: "killed" });
  assert.deepEqual(await readAll(out), [6, 2, 3, 4]);
  const file = chunkFile(begun, "data");
  const stat = fs.statSync(file);
  rewrite(file, FLOATS(200));
  await assertRejected("attribute", {}, () => runTasks(folder, ["apply", 0]));
  await assertRejected("attribute", {}, () => runHere(folder));
  assert.equal((await readAll(out))[1], 200);
  rewrite(file, FLOATS(2));
  fs.utimesSync(file, stat.atimeMs / 1000, Math.round(stat.mtimeMs) / 1000);
  await runHere(folder);
  assert.deepEqual(await readAll(out), [6, 7, 8, 9]);
});

test("chunks that a job has not read, or does not change, may change in place", async () => {
  const begun = await begin("in place");
  const { folder, at, out } = begun;
  await store(at("two.zarr"), tensor("int64", [2, 1], [0, 2]), [1, 1]);
  await store(at("fives.zarr"), tensor("float32", [2], [5, 5]), [1]);
  fs.rmSync(folder, { recursive: true });
  fs.rmSync(path.join(out, ".ndscatter"), { recursive: true });
  const [indices, updates] = await Promise.all(
    ["two.zarr", "fives.zarr"].map((name) => openArray(at(name))),
  );
  const restore = setLimits({ CHUNKED: { groups: 2 } });
  await createJob(await requestIn(begun.home, add, { out: null, indices, updates }));
  restore();
  await runTasks(folder, ["partition", 0], ["apply", 0]);
  // Chunk 1 gets no update; chunk 2 is not read yet.
  rewrite(chunkFile(begun, "data"), FLOATS(70));
  rewrite(path.join(out, "c", "2"), FLOATS(80));
  await runHere(folder);
  assert.deepEqual(await readAll(out), [6, 70, 85, 4]);
});

test("updates may be another part of the array that the job changes in place", async () => {
  const begun = await begin("in place");
  const { folder, at, out } = begun;
  fs.rmSync(folder, { recursive: true });
  fs.rmSync(path.join(out, ".ndscatter"), { recursive: true });
  const whole = await openArray(at("data.zarr"));
  const [data, updates] = [whole.slice([0, 2]), whole.slice([2, 4])];
  await store(at("two.zarr"), tensor("int64", [2, 1], [0, 1]), [1, 1]);
  const indices = await openArray(at("two.zarr"));
  await createJob(await requestIn(begun.home, add, { out: null, data, indices, updates }));
  await runTasks(folder, ["partition", 0], ["apply", 1]);
  await runHere(folder);
  assert.deepEqual(await readAll(out), [4, 6, 3, 4]);
});

/** Serves files by their paths, with an ETag that changes with their contents and their times, as object storage does. */
async function serve(): Promise<{ server: Server; base: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const file = decodeURIComponent(request.url ?? "");
    asked.push(`${request.method} ${path.basename(file)}`);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return void response.writeHead(404).end();
    const etag = `"${stat.mtimeMs}-${stat.size}"`;
    const condition = request.headers["if-match"];
    if (condition !== undefined && condition !== etag) return void response.writeHead(412).end();
    const bytes = fs.readFileSync(file);
    response.writeHead(200, { etag, "content-length": bytes.length });
    response.end(request.method === "HEAD" ? undefined : bytes);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test("objects are compared by their ETags: while a task reads them, when a job goes on, and at the end", async (t) => {
  const { server, base } = await serve();
  t.after(() => server.close().closeAllConnections());
  for (const input of ["indices", "updates", "data"] as const) {
    const begun = await begin("new", "zarr", base);
    const { folder, out } = begun;
    // Chunk 1 of data is still being read when chunk 0 was.
    const [file, stage] = [chunkFile(begun, input, 0), READ_BY[input]];
    rewrite(file);
    if (stage === "apply") await runTasks(folder, ["partition", 0], ["partition", 1]);
    const job = await contextAt(folder);
    afterRead(job[input] as ChunkedArray, () => rewrite(file));
    await assertRejected("attribute", {}, () => runTask(job, stage, 0, memory()));
    const old = fs.statSync(file);
    await assertRejected("attribute", {}, () =>
      runJob(folder, {
        threads: 0,
        memory: MEMORY,
        onProgress: ({ stage: now, done, tasks }) => {
          if (now === stage && done === tasks) rewrite(file);
        },
      }),
    );
    await assertRejected("attribute", {}, () => runHere(folder));
    fs.utimesSync(file, old.atimeMs / 1000, Math.round(old.mtimeMs) / 1000);
    await runHere(folder);
    assert.deepEqual(await readAll(out), [6, 7, 8, 9]);
  }
});

test("an object that is replaced between its HEAD and its GET is not read", async (t) => {
  const { server, base } = await serve();
  t.after(() => server.close().closeAllConnections());
  const begun = await begin("new", "zarr", base);
  await runTasks(begun.folder, ["partition", 0], ["partition", 1]);
  const job = await contextAt(begun.folder);
  const { fetch } = globalThis;
  let gets = 0;
  t.mock.method(globalThis, "fetch", async (...args: Parameters<typeof fetch>) => {
    const isChunk = String(args[0]).endsWith("data.zarr/c/1") && args[1]?.method === "GET";
    if (isChunk && gets++ === 0) rewrite(chunkFile(begun, "data"), FLOATS(20));
    return fetch(...args);
  });

  await assertRejected("malformed-file", {}, () => runTask(job, "apply", 0, memory()));
  assert.equal(gets, 1);
  await runHere(begun.folder);
  assert.deepEqual(await readAll(begun.out), [6, 25, 8, 9]);
});
