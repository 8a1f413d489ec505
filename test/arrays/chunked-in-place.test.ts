/** Arrays that a job has changed in part: every use says so, and nobody applies updates twice. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import * as zlib from "node:zlib";
import {
  checkUnclaimed,
  claim,
  claimOf,
  endClaim,
  isClaimed,
  readClaim,
} from "../../src/arrays/chunked/job/claim.ts";
import { createJob, planJob } from "../../src/arrays/chunked/job/create-job.ts";
import { removeJob } from "../../src/arrays/chunked/job/job-folder.ts";
import { openContext } from "../../src/arrays/chunked/job/job.ts";
import { markedState } from "../../src/arrays/chunked/stages/marks.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { markComplete, readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { runTask } from "../../src/arrays/chunked/run/tasks.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import {
  add,
  makeHome,
  makeJob,
  MEMORY,
  readAll,
  requestIn,
  store,
  storeInputs,
  runHere,
  runTasks,
} from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";

/** A job in place of whose four chunks two are changed. */
async function makeHalf(): Promise<{ home: string; folder: string; array: string }> {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add, { out: null });
  await runTasks(folder, ["partition", 0], ["apply", 1, 3]);
  const array = path.join(home, "data.zarr");
  assert.deepEqual(await readAll(array), [1, 6, 1, 6]);
  return { home, folder, array };
}

test("an array that is changed in part is refused, with how much, and the way back is finishing the job", async () => {
  const { home, folder, array } = await makeHalf();
  const other = path.join(home, "other");

  const inputs = await requestIn(home, add, { folder: other });
  for (const request of [
    { ...inputs, out: null },
    inputs,
    { ...inputs, data: inputs.updates ?? inputs.data, updates: inputs.data },
  ]) {
    await assertRejected("attribute", {}, () => createJob(request));
  }
  assert.ok(!fs.existsSync(other) && !fs.existsSync(path.join(home, "out.zarr")));
  // The folder of the job does not take another one, and does not advise to remove it.
  const gather = { function: "gatherND", options: {} };

  await assertRejected("attribute", {}, () =>
    createJob({ ...inputs, call: gather, updates: undefined, folder }),
  );
  await createJob({ ...inputs, out: null, folder });
  await runHere(folder);
  assert.deepEqual(await readAll(array), [6, 6, 6, 6]);
  await createJob(inputs);
});

test("a run that ended between giving the array back and its last mark is completed by the next", async () => {
  const { home, folder, array } = await makeHalf();
  await runTasks(folder, ["apply", 0, 2]);
  const { id } = await readSpec(folder);
  await markComplete(folder);
  // A crash may leave zeros in place of the last byte that was appended.
  const file = path.join(folder, "job.json");
  const text = fs.readFileSync(file, "utf8");
  for (const end of ["\0", "\0\n", "\0\n\n", "\n\0"]) {
    fs.writeFileSync(file, text.replace(/\n$/, end));
    assert.equal((await readSpec(folder)).id, id);
  }
  await endClaim(array, { id });
  const request = await requestIn(home, add, { out: null });
  await createJob(request);
  await runHere(folder);
  assert.deepEqual(await readAll(array), [6, 6, 6, 6]);
  assert.deepEqual(fs.readdirSync(folder).toSorted(), ["done", "job.json"]);
});

test("an array whose job's folder was removed is not changed again", async () => {
  const { home, folder, array } = await makeHalf();
  fs.rmSync(folder, { recursive: true });
  const request = await requestIn(home, add, { out: null });

  await assertRejected("attribute", {}, () => createJob(request));
  assert.deepEqual(await readAll(array), [1, 6, 1, 6]);
  assert.ok(!fs.existsSync(folder));
});

test("a job whose array has lost its claim says how much is changed", async () => {
  const { home, folder, array } = await makeHalf();
  fs.rmSync(path.join(array, ".ndscatter"), { recursive: true });
  const request = await requestIn(home, add, { out: null });

  await assertRejected("attribute", {}, () => createJob(request));
  assert.deepEqual(await readAll(array), [1, 6, 1, 6]);
  assert.ok(fs.existsSync(folder));
});

test("of several jobs that claim an array at once one has it, and it may claim the array again", async () => {
  const array = path.join(makeHome(), "a.zarr");
  const staging = path.join(array, ".ndscatter");
  assert.equal(await readClaim(array), null);
  const folder = path.join(array, "..", "job");
  const claims = ["aa", "bb", "cc"].map((id) => ({ id, inPlace: true, folder, chunks: 7 }));
  const results = await Promise.allSettled(claims.map((one) => claim(array, one)));
  const winner = results.findIndex(({ status }) => status === "fulfilled");
  const own = claims[winner];
  const others = claims.filter((one) => one !== own);
  assert.deepEqual(await readClaim(array), own);
  assert.deepEqual([await isClaimed(array, own), await isClaimed(array, others[0])], [true, false]);
  await claim(array, own);
  await checkUnclaimed(array, own.id);

  for (const other of others) {
    await assertRejected("attribute", {}, () => claim(array, other));
    await assertRejected("attribute", {}, () => checkUnclaimed(array, other.id));
  }
  await assertRejected("attribute", {}, () => checkUnclaimed(array, null));
  assert.deepEqual(fs.readdirSync(staging).toSorted(), ["changed", "job"]);
  await endClaim(array, own);
  assert.ok(!fs.existsSync(staging));

  // A new array is the business of its own job alone.
  await claim(array, { ...own, inPlace: false });
  assert.deepEqual(fs.readdirSync(staging), ["job"]);
  await checkUnclaimed(array, "dd");
});

test("what does not say whose claim it is belongs to an older version", async () => {
  const array = path.join(makeHome(), "a.zarr");
  fs.mkdirSync(path.join(array, ".ndscatter"), { recursive: true });
  for (const text of [
    "0123456789abcdef",
    "{}",
    '{"id": 4, "folder": "x"}',
    '{"id": "x"}',
    "null",
  ]) {
    fs.writeFileSync(path.join(array, ".ndscatter", "job"), text);
    const expected = { id: text, inPlace: true, folder: null, chunks: 0 };
    assert.deepEqual(await readClaim(array), expected);
    await assert.rejects(checkUnclaimed(array, null), {
      code: "attribute",
      message: `a job is changing ${array} in place (job ${text})`,
    });
  }
  // One that says nothing of how it changes the array is taken to change it in place.
  const claimed = { id: "x", folder: "f", chunks: 2 };
  fs.writeFileSync(path.join(array, ".ndscatter", "job"), JSON.stringify(claimed));
  assert.deepEqual(await readClaim(array), { ...claimed, inPlace: true });
});

test("the claim says how many chunks the array has", async () => {
  const { folder } = await makeHalf();
  const spec = await readSpec(folder);
  assert.deepEqual(claimOf("f", spec), { id: spec.id, inPlace: true, folder: "f", chunks: 4 });
});

test("a chunk without updates does not count as changed", async () => {
  const home = makeHome();
  await storeInputs(home);
  const one = path.join(home, "one.zarr");
  await store(one, tensor("int64", [1, 1], [2]), [1, 1]);
  const update = path.join(home, "update.zarr");
  await store(update, tensor("float32", [1], [5]), [1]);
  const [indices, updates] = await Promise.all([openArray(one), openArray(update)]);
  const folder = await makeJob(home, add, { out: null, indices, updates });
  await runTasks(folder, ["partition", 0], ["apply", 1, 2]);
  const array = path.join(home, "data.zarr");
  assert.deepEqual(await readAll(array), [1, 1, 6, 1]);
  fs.rmSync(path.join(array, ".ndscatter"), { recursive: true });
  const request = await requestIn(home, add, { out: null, indices, updates });
  await assertRejected("attribute", {}, () => createJob(request));
});

test("an array without changes is free again when its job is given up", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add, { out: null });
  const pool = startPool({ threads: 0, memory: MEMORY });
  await pool.run(folder, "partition", 0);
  await removeJob(folder);
  const array = path.join(home, "data.zarr");
  assert.deepEqual(fs.readdirSync(array).sort(), ["c", "zarr.json"]);
  await runHere(await makeJob(home, add, { out: null }));
  assert.deepEqual(await readAll(array), [6, 6, 6, 6]);
  await pool.end();
});

test("giving a job up marks the array as changed in part, and every later use says so", async () => {
  const { home, folder, array } = await makeHalf();
  const open = await openArray(array);
  // Several processes may remove the job at once.
  await Promise.all([removeJob(folder), removeJob(folder), removeJob(folder)]);
  assert.ok(!fs.existsSync(folder));
  assert.deepEqual(fs.readdirSync(path.join(array, ".ndscatter")), ["partial"]);

  await assertRejected("malformed-file", {}, () => openArray(array));
  const files = await Promise.all(
    ["indices.zarr", "updates.zarr"].map((name) => openArray(path.join(home, name))),
  );
  const [indices, updates] = files;
  const request = { folder, call: add, data: open, indices, updates, memory: MEMORY, threads: 1 };
  // An array that was opened before is no way around it.
  await assertRejected("malformed-file", {}, () => createJob({ ...request, out: null }));
  const out = { format: "zarr", path: path.join(home, "out.zarr") } as const;
  await assertRejected("malformed-file", {}, () => createJob({ ...request, out }));
  // What replaces the array is whole.
  const { dtype, shape, chunkShape } = open;
  await createArray(array, { dtype, shape, chunkShape, overwrite: true });
  assert.deepEqual(await readAll(array), [0, 0, 0, 0]);
});

test("a job that is given up leaves nothing of a new array", async () => {
  const home = makeHome();
  await storeInputs(home);
  const before = fs.readdirSync(home).sort();
  for (const name of ["out.zarr", "out.npy"]) {
    const format = name.endsWith("npy") ? "npy" : "zarr";
    const folder = await makeJob(home, add, { out: { format, path: path.join(home, name) } });
    await runTasks(folder, ["partition", 0], ["apply", 2]);
    await removeJob(folder);
    assert.deepEqual(fs.readdirSync(home).sort(), before);
  }
});

test("the mark of a chunk names a chunk of this job, and that chunk", async () => {
  const { folder, array } = await makeHalf();
  const marker = (chunk: number): string => path.join(folder, "applied", String(chunk));
  const own = fs.readFileSync(marker(1), "utf8");
  const other = own.replace(/^[0-9a-f]{16}-1-/, (text) => text.replace("-1-", "-0-"));
  const [id] = own.split("-");
  for (const text of [own, `${"0".repeat(16)}-0-abc`, `${id}-0-../../x`, "nothing", ""]) {
    fs.writeFileSync(marker(0), text);
    await assertRejected("malformed-file", {}, () => runHere(folder));
  }
  assert.deepEqual(await readAll(array), [1, 6, 1, 6]);
  // A chunk that was renamed when the run ended is not looked for.
  fs.writeFileSync(marker(0), other);
  await runHere(folder);
  assert.deepEqual(await readAll(array), [1, 6, 6, 6]);
});

/** A job in place whose tasks take two of the four chunks each; the second chunk gets no update. */
async function makePairs(): Promise<{ home: string; folder: string; array: string }> {
  const home = makeHome();
  await storeInputs(home);
  const three = path.join(home, "three.zarr");
  await store(three, tensor("int64", [3, 1], [0, 2, 3]), [3, 1]);
  const update = path.join(home, "update.zarr");
  await store(update, tensor("float32", [3], [5, 6, 7]), [3]);
  const [indices, updates] = await Promise.all([openArray(three), openArray(update)]);
  const restore = setLimits({ CHUNKED: { groups: 2 } });
  const folder = await makeJob(home, add, { out: null, indices, updates });
  restore();
  await runTasks(folder, ["partition", 0]);
  return { home, folder, array: path.join(home, "data.zarr") };
}

test("the mark of a task that has changed its chunks must be there, otherwise its updates would be added again", async () => {
  const { folder, array } = await makeHalf();
  const mark = path.join(folder, "applied", "3");
  fs.renameSync(mark, `${mark}-`);

  await assertRejected("malformed-file", {}, () => runHere(folder));
  assert.deepEqual((await readAll(array))[3], 6);
  fs.renameSync(`${mark}-`, mark);
  await runHere(folder);
  assert.deepEqual(await readAll(array), [6, 6, 6, 6]);
});

test("a task of several small chunks changes those that have updates, once each", async () => {
  const { folder, array } = await makePairs();
  const spec = await readSpec(folder);
  assert.deepEqual([spec.chunks, spec.chunksPerTask], [4, 2]);
  assert.equal(spec.stages.find(({ name }) => name === "apply")?.tasks, 2);
  const pool = startPool({ threads: 0, memory: MEMORY });
  for (let again = 0; again < 2; again++) {
    await pool.run(folder, "apply", 0);
    assert.deepEqual(await readAll(array), [6, 1, 1, 1]);
  }
  await pool.end();
  const lines = fs.readFileSync(path.join(folder, "applied", "0"), "utf8").split("\n");
  assert.match(lines[0], new RegExp(`^${spec.id}-0-[0-9a-f]{12} 4 c/0 4 \\d+$`));
  assert.deepEqual(lines.slice(1), ["-"]);
  assert.deepEqual(fs.readdirSync(path.join(array, ".ndscatter", "changed")), ["0.1"]);
  await runHere(folder);
  assert.deepEqual(await readAll(array), [6, 1, 7, 8]);
  assert.ok(!fs.existsSync(path.join(array, ".ndscatter")));
});

test("a run that ended between the mark of several chunks and their renaming is completed by the next", async () => {
  const { folder, array } = await makePairs();
  const { id } = await readSpec(folder);
  const staging = path.join(array, ".ndscatter");
  const staged = (chunk: number, value: number): void =>
    fs.writeFileSync(path.join(staging, `${id}-${chunk}-ab`), Float32Array.of(value));
  // One of both was renamed before the end: its name is gone.
  staged(3, 40);
  const state = await (await openArray(array)).stateOf([3], [1]);
  const lines = [`${id}-2-ab 4 earlier`, `${id}-3-ab 4 ${markedState(state)}`];
  fs.writeFileSync(path.join(folder, "applied", "1"), lines.join("\n"));
  await runHere(folder);
  assert.deepEqual(await readAll(array), [6, 1, 1, 40]);
});

test("how much of an array is changed counts chunks, whatever tasks changed them", async () => {
  const { home, folder, array } = await makePairs();
  await runTasks(folder, ["apply", 1]);
  const request = await requestIn(home, add, { folder: path.join(home, "other") });
  await assertRejected("attribute", {}, () => createJob(request));
  await removeJob(folder);
  await assertRejected("malformed-file", {}, () => openArray(array));
});

test("the mark of several chunks has a line for each, in their order", async () => {
  const { folder, array } = await makePairs();
  const { id } = await readSpec(folder);
  const [first, second] = [0, 1].map((chunk) => `${id}-${chunk}-ab 4 ${markedState("any")}`);
  for (const lines of [
    [first],
    [`${id}-0-ab`, second],
    [first, `${id}-1-ab`],
    [second, first],
    [first, second, "-"],
    [first, ""],
    [first, "--"],
  ]) {
    fs.writeFileSync(path.join(folder, "applied", "0"), lines.join("\n"));
    await assertRejected("malformed-file", {}, () => runHere(folder));
  }
  assert.deepEqual(await readAll(array), [1, 1, 1, 1]);
});

test(
  "the claim goes last, so that what a killed process leaves is removed by the next one",
  { skip: WITHOUT_NODE_ITSELF },
  async (t) => {
    const { folder, array } = await makeHalf();
    const removed: string[] = [];
    const { rm } = fs.promises;
    t.mock.method(fs.promises, "rm", async (file: string, options: fs.RmOptions) => {
      if (path.basename(path.dirname(file)) === ".ndscatter") removed.push(path.basename(file));
      await rm(file, options);
    });
    syncBuiltinESMExports();
    t.after(syncBuiltinESMExports);
    await runHere(folder);
    t.mock.restoreAll();
    assert.deepEqual(removed.toSorted(), ["changed", "job"]);
    assert.equal(removed.at(-1), "job");
    assert.ok(!fs.existsSync(path.join(array, ".ndscatter")));
  },
);

test("a task that runs late leaves nothing in an array that its job has changed", async () => {
  const { folder, array } = await makeHalf();
  const job = await openContext(folder, await readSpec(folder));
  const { out } = job;
  const stageChunk = out.stageChunk.bind(out);
  out.stageChunk = async (...args) => {
    await runHere(folder);
    // Makes the folder for staged chunks again, which the end of the job has removed.
    const size = await stageChunk(...args);
    assert.ok(fs.existsSync(path.join(array, ".ndscatter")));
    return size;
  };
  await runTask(job, "apply", 0, { workspace: new Workspace(), allowance: 2 ** 20 });
  assert.ok(!fs.existsSync(path.join(array, ".ndscatter")));
  assert.deepEqual(await readAll(array), [6, 6, 6, 6]);
});

test("a run that finds another run of its task first finishes what that run left", async () => {
  const { folder, array } = await makeHalf();
  const spec = await readSpec(folder);
  const [job, other] = await Promise.all([openContext(folder, spec), openContext(folder, spec)]);
  const memory = () => ({ workspace: new Workspace(), allowance: 2 ** 20 });
  // The other run ends between its mark and the rename.
  other.out.publishChunk = () => Promise.reject(new Error("killed"));
  const stageChunk = job.out.stageChunk.bind(job.out);
  job.out.stageChunk = async (...args) => {
    const size = await stageChunk(...args);
    await assert.rejects(runTask(other, "apply", 0, memory()), { message: "killed" });
    assert.deepEqual(await readAll(array), [1, 6, 1, 6]);
    return size;
  };
  await runTask(job, "apply", 0, memory());
  assert.deepEqual(await readAll(array), [6, 6, 1, 6]);
  assert.deepEqual(fs.readdirSync(path.join(array, ".ndscatter")).toSorted(), ["changed", "job"]);
});

test("whoever comes to a job that is done removes what a task staged late and was killed before it could remove", async () => {
  const { folder, array } = await makeHalf();
  const { id } = await readSpec(folder);
  await runHere(folder);
  const staging = path.join(array, ".ndscatter");
  const stageLate = (names: readonly string[]): void => {
    fs.mkdirSync(staging, { recursive: true });
    for (const name of names) fs.writeFileSync(path.join(staging, name), "bytes");
  };
  stageLate([`${id}-0-0a1b2c3d4e5f`]);
  await runHere(folder);
  assert.ok(!fs.existsSync(staging));

  // What another job has there stays, and so does a job whose id begins with this one's.
  const others = ["0123456789abcdef-0-0a1b2c3d4e5f", `${id}0-0-0a1b2c3d4e5f`].toSorted();
  stageLate([`${id}-3-0a1b2c3d4e5f`, ...others]);
  await runTasks(folder, ["apply", 3]);
  assert.deepEqual(fs.readdirSync(staging).toSorted(), others);
  assert.deepEqual(await readAll(array), [6, 6, 6, 6]);
});

test("an array whose job was being given up is changed in part, whatever the claim that is left says", async () => {
  const { home, array } = await makeHalf();
  // Opened before the job was given up, by a process that ended before it had removed the claim.
  const request = await requestIn(home, add, { folder: path.join(home, "other") });
  const staging = path.join(array, ".ndscatter");
  fs.writeFileSync(
    path.join(staging, "partial"),
    JSON.stringify({ job: "x", changed: 2, chunks: 4 }),
  );
  fs.rmSync(path.join(staging, "changed"), { recursive: true });

  await assertRejected("malformed-file", {}, () => createJob(request));
});

test("an array of Zarr v2 is changed in place too", { skip: WITHOUT_NODE_ITSELF }, async () => {
  const home = makeHome();
  await storeInputs(home);
  const array = path.join(home, "data.zarr");
  fs.rmSync(array, { recursive: true });
  fs.mkdirSync(array);
  const v2 = { zarr_format: 2, shape: [4], chunks: [1], dtype: "<f4", fill_value: 1, order: "C" };
  const metadata = JSON.stringify({ ...v2, compressor: { id: "zlib", level: 1 }, filters: null });
  fs.writeFileSync(path.join(array, ".zarray"), metadata);
  const folder = await makeJob(home, add, { out: null });
  await runHere(folder);
  assert.deepEqual(await readAll(array), [6, 6, 6, 6]);
  assert.deepEqual(fs.readdirSync(array).toSorted(), [".zarray", "0", "1", "2", "3"]);
  // What is compressed by snappy is refused before there is a job.
  const snappy = { id: "blosc", cname: "snappy", clevel: 5, shuffle: 1, blocksize: 0 };
  fs.writeFileSync(path.join(array, ".zarray"), JSON.stringify({ ...v2, compressor: snappy }));
  const other = path.join(home, "other");
  const request = await requestIn(home, add, { out: null, folder: other });
  await assertRejected("attribute", {}, () => createJob(request));
  const ofPart = { ...request, data: request.data.slice([1, 3]) };
  await assertRejected("attribute", {}, () => createJob(ofPart));
  assert.ok(!fs.existsSync(other) && !fs.existsSync(path.join(array, ".ndscatter")));
});

test(
  "an array that can be read but not written here is refused before anything is written",
  { skip: "zstdCompress" in zlib ? "Node has zstd of its own" : WITHOUT_NODE_ITSELF },
  async () => {
    const home = makeHome();
    await storeInputs(home);
    const [data, file] = ["data.zarr", "data.zarr/zarr.json"].map((name) => path.join(home, name));
    for (const shards of [null, [2]]) {
      fs.rmSync(data, { recursive: true });
      const codecs = ["zstd"];
      const array = await createArray(data, {
        dtype: "float32",
        shape: [4],
        chunkShape: [1],
        codecs,
        shards,
      });
      await array.write(tensor("float32", [4], [1, 1, 1, 1]));
      // zarr-python writes its frames with a checksum if the codec says so, and reads both.
      const text = fs.readFileSync(file, "utf8");
      fs.writeFileSync(file, text.replace(/"checksum": *false/, `"checksum": true`));
      assert.deepEqual(await readAll(data), [1, 1, 1, 1]);
      const before = fs.readdirSync(home).toSorted();
      for (const out of [null, { format: "zarr", path: path.join(home, "out.zarr") } as const]) {
        const request = await requestIn(home, add, { out });
        await assertRejected("attribute", { key: "codecs" }, () => createJob(request));
        await assertRejected("attribute", { key: "codecs" }, () => planJob(request));
      }
      assert.deepEqual(fs.readdirSync(home).toSorted(), before);
      assert.ok(!fs.existsSync(path.join(data, ".ndscatter")));
      await makeJob(home, add, { codecs: ["zstd"] });
      fs.rmSync(path.join(home, "out.zarr"), { recursive: true });
      fs.rmSync(path.join(home, "job"), { recursive: true });
    }
  },
);

test("elements of an array that an unfinished job has changed in part are read only by who asks for them", async () => {
  const { folder, array } = await makeHalf();
  const opened = await openArray(array);
  const fields = { file: array, got: 2, expected: 4 };
  const chunk = new Uint8Array(4);
  for (const read of [
    () => opened.read(),
    () => opened.read([1], [1]),
    () => opened.readBytes([0], [1], chunk),
    () => opened.readChunk([0], chunk),
    () => opened.slice([0, 2]).read(),
  ]) {
    await assertRejected("malformed-file", fields, read);
  }
  const notes: string[] = [];
  const asked = await openArray(array, { onNote: (sentence) => notes.push(sentence) });
  assert.deepEqual([...(await asked.read()).data], [1, 6, 1, 6]);
  assert.equal(notes.length, 1);
  await assertRejected("attribute", { key: "onNote" }, () =>
    openArray(array, { onNote: "print" as unknown as () => void }),
  );
  await runHere(folder);
  assert.deepEqual([...(await opened.read()).data], [6, 6, 6, 6]);
  await openArray(array, { onNote: () => assert.fail("the job is finished") });
});

test("an array of which a job has changed nothing yet is read", async () => {
  const home = makeHome();
  await storeInputs(home);
  await makeJob(home, add, { out: null });
  const array = await openArray(path.join(home, "data.zarr"));
  assert.deepEqual([...(await array.read()).data], [1, 1, 1, 1]);
});
