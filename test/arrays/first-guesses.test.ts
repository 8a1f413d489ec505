/**
 * First guesses of users at the functions of arrays and jobs: paths instead of arrays, arrays instead of paths, missing
 * options, promises, misspelled names. Each is refused before anything is written.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { after, test } from "node:test";
import { runInNewContext } from "node:vm";
import { createWorker, submitJob } from "../../src/entries/bullmq.ts";
import * as chunked from "../../src/entries/chunked.ts";
import * as zarr from "../../src/entries/zarr.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { assertRejectedCode, type Facts } from "../support/refusal.ts";
import { consolidate, writeGroup } from "../support/groups.ts";
import { makeHome } from "../support/job-files.ts";

const folder = makeHome();
const at = (name: string): string => path.join(folder, name);
fs.writeFileSync(at("note.txt"), "a note");
fs.mkdirSync(at("empty"));
const array = await zarr.createArray(at("a.zarr"), {
  dtype: "float32",
  shape: [4, 2],
  chunkShape: [2, 2],
});
const before = fs.readdirSync(folder).sort();

const server = http.createServer((_, response) => response.writeHead(404).end("no"));
await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => server.close());

type Loose = (...args: readonly unknown[]) => unknown;
const loose = (call: unknown): Loose => call as Loose;
const NEW = { dtype: "float32", shape: [2], chunkShape: [1] } as const;
const create =
  (extra: unknown, ...more: readonly unknown[]) =>
  (): unknown =>
    loose(zarr.createArray)(at("new.zarr"), extra, ...more);
const made = (extra: object) => create({ ...NEW, ...extra });
const pending = (extra: unknown) => (): unknown => loose(zarr.createPending)(at("new.npy"), extra);
const open =
  (name: unknown, ...more: readonly unknown[]) =>
  (): unknown =>
    loose(zarr.openArray)(name, ...more);
const request = {
  ...{
    folder: at("job"),
    data: array,
    indices: array,
    updates: array,
    memory: 2 ** 28,
    threads: 0,
  },
  call: { function: "scatterND", options: {} },
  out: { format: "zarr", path: at("new.zarr") },
};
const job = (extra: object) => (): unknown => loose(chunked.createJob)({ ...request, ...extra });
const scatter =
  (...args: readonly unknown[]) =>
  (): unknown =>
    loose(chunked.scatterChunked)(...args);
const absent = (name: string) => ({ file: at(name), expected: "array" });
const values = tensor("float32", [1, 2], [1, 2]);
const later = Promise.resolve(array);
const endless: Record<string, unknown> = {};
endless["self"] = endless;
const removed = { folder: at("empty"), id: "0123456789ab", stages: [{ name: "apply", tasks: 2 }] };

// prettier-ignore
const ROWS: readonly (readonly [name: string, code: ErrorCode, facts: Facts, words: RegExp, call: () => unknown])[] = [
  ["openArray of a missing folder", "malformed-file", absent("no.zarr"), /does not exist/, open(at("no.zarr"))],
  ["openArray of a file", "malformed-file", absent("note.txt"), /is a file/, open(at("note.txt"))],
  ["openArray of an empty folder", "malformed-file", absent("empty"), /neither zarr.json nor .zarray/, open(at("empty"))],
  ["openArray of a URL with 404", "malformed-file", { file: `${url}/a.zarr` }, /server has neither/, open(`${url}/a.zarr`)],
  ["openArray of a missing NPY file", "malformed-file", absent("no.npy"), /does not exist/, open(at("no.npy"))],
  ["openPending of a missing NPY file", "malformed-file", absent("no.npy"), /does not exist/, () => zarr.openPending(at("no.npy"))],
  ["openGroup of a missing folder", "malformed-file", { file: at("no.zarr") }, /does not exist/, () => zarr.openGroup(at("no.zarr"))],
  ["openArray of a promise", "attribute", { key: "location", got: "a Promise (await it)" }, /await it/, open(Promise.resolve("a"))],
  ["openArray of a URL object", "attribute", { key: "location", got: "a URL" }, /as text/, open(new URL(url))],
  ["openArray with chunks", "attribute", { key: "chunks", nearest: "chunkShape" }, /chunkShape/, open(at("a.zarr"), { chunks: [2] })],
  ["openArray with a key of s3", "attribute", { key: "endpont", nearest: "endpoint" }, /endpoint/, open(at("a.zarr"), { s3: { endpont: "x" } })],
  ["createArray without options", "attribute", { key: "options" }, /undefined/, create(undefined)],
  ["createArray with null", "attribute", { key: "options" }, /null/, create(null)],
  ["createArray with a number as shape", "attribute", { key: "shape", got: 2 }, /list of integers/, made({ shape: 2 })],
  ["createArray with chunks", "attribute", { key: "chunks", nearest: "chunkShape" }, /chunkShape/, made({ chunks: [1] })],
  ["createArray with a compressor", "attribute", { nearest: "codecs" }, /codecs/, made({ compressor: "zstd" })],
  ["createArray with a number as shards", "attribute", { key: "shards", got: 2 }, /list of integers/, made({ shards: 2 })],
  ["createArray with a key of a codec", "attribute", { key: "config", nearest: "configuration" }, /configuration/,
    made({ codecs: [{ name: "gzip", config: { level: 3 } }] })],
  ["createArray with a key of a configuration", "attribute", { key: "levle", nearest: "level" }, /level/,
    made({ codecs: [{ name: "gzip", configuration: { levle: 3 } }] })],
  ["createArray with the id of a codec", "attribute", { key: "id", nearest: "name" }, /name/, made({ codecs: [{ id: "zstd" }] })],
  ["createArray like a path", "attribute", { key: "like", got: "a.zarr" }, /openArray/, create({ like: "a.zarr" })],
  ["createArray with a word for overwrite", "attribute", { key: "overwrite", got: "yes" }, /true or false/, made({ overwrite: "yes" })],
  ["createArray with a list of attributes", "attribute", { key: "attributes", got: "a list" }, /object/, made({ attributes: [1] })],
  ["createArray with an attribute that is undefined", "attribute", { key: "a" }, /JSON/, made({ attributes: { a: undefined } })],
  ["createArray with a date as attribute", "attribute", { key: "a", got: "a Date" }, /JSON/, made({ attributes: { a: new Date(0) } })],
  ["createArray with attributes that contain themselves", "attribute", { key: "attributes", limit: 96 }, /contain themselves/,
    made({ attributes: endless })],
  ["createArray with a hole in an attribute", "attribute", { key: "0", got: "undefined" }, /JSON/, made({ attributes: { a: Array(1) } })],
  ["createArray with a hole in the shape", "attribute", { key: "shape" }, /list of integers/, made({ shape: Array(1) })],
  ["createArray with a DataView as shape", "attribute", { key: "shape", got: "a DataView" }, /list of integers/,
    made({ shape: runInNewContext("new DataView(new ArrayBuffer(8))") })],
  ["createArray below a file", "attribute", { key: "location" }, /is a file/, () => zarr.createArray(at("note.txt/a.zarr"), NEW)],
  ["createPending without options", "attribute", { key: "options" }, /undefined/, pending(undefined)],
  ["createPending with a number as shape", "attribute", { key: "shape", got: 2 }, /list of integers/, pending({ dtype: "int8", shape: 2 })],
  ["createPending with a hole in the shape", "shape-mismatch", { key: "the shape", axis: 0 }, /integers/,
    pending({ dtype: "int8", shape: Array(1) })],
  ["createPending of an NPY file below a file", "attribute", { key: "location", file: at("note.txt") }, /is a file/,
    () => zarr.createPending(at("note.txt/x.npy"), { dtype: "int8", shape: [2] })],
  ["createPending with a hole in the chunk shape", "shape-mismatch", {}, /contiguous/,
    pending({ dtype: "int8", shape: [2], chunkShape: Array(1) })],
  ["scatterChunked of paths", "attribute", { key: "data", got: "a.zarr" }, /await openArray/,
    scatter("a.zarr", "i.zarr", "u.zarr", { out: at("new.zarr") })],
  ["scatterChunked of a promise", "attribute", { key: "data", got: "a Promise (await it)" }, /await it/,
    scatter(later, array, array, { out: at("new.zarr") })],
  ["scatterChunked of tensors", "attribute", { key: "data" }, /gather or scatterND/, scatter(values, values, values, { out: at("new.zarr") })],
  ["scatterChunked of a tensor of indices", "attribute", { key: "indices" }, /gather or scatterND/,
    scatter(array, values, array, { out: at("new.zarr") })],
  ["gatherChunked without options", "attribute", { key: "options", got: "undefined" }, /out: "rows.npy"/,
    () => loose(chunked.gatherChunked)(array, array)],
  ["scatterChunked with output", "attribute", { key: "output" }, /output/, scatter(array, array, array, { output: at("new.zarr") })],
  ["createJob without a request", "attribute", { key: "request" }, /undefined/, () => loose(chunked.createJob)()],
  ["createJob of a folder", "attribute", { key: "request", got: '"job"' }, /object/, () => loose(chunked.createJob)("job")],
  ["createJob of a promise", "attribute", { key: "request" }, /await it/, () => loose(chunked.createJob)(Promise.resolve(request))],
  ["createJob without a folder", "attribute", { key: "folder" }, /path of a folder/, job({ folder: undefined })],
  ["createJob with the name of a function", "attribute", { key: "call", got: "scatterND" }, /function: "scatterND"/, job({ call: "scatterND" })],
  ["createJob with a path as out", "attribute", { key: "out", got: "o.zarr" }, /format/, job({ out: "o.zarr" })],
  ["createJob without out", "attribute", { key: "out" }, /null/, job({ out: undefined })],
  ["createJob with a key of out", "attribute", { key: "paht", nearest: "path" }, /path/,
    job({ out: { format: "zarr", path: "o.zarr", paht: "x" } })],
  ["openJob of null", "attribute", { key: "folder", got: null }, /path of a folder/, () => loose(chunked.openJob)(null)],
  ["describeJob of a promise", "attribute", { key: "folder" }, /await it/, () => loose(chunked.describeJob)(later)],
  ["removeJob of null", "attribute", { key: "folder" }, /path of a folder/, () => loose(chunked.removeJob)(null)],
  ["removeJob of an array's folder", "malformed-file", { file: at("a.zarr") }, /no job\.json/, () => chunked.removeJob(at("a.zarr"))],
  ["removeJob of a file", "malformed-file", { file: at("note.txt") }, /no job\.json/, () => chunked.removeJob(at("note.txt"))],
  ["startPool with a path as roots", "attribute", { key: "roots", got: "x" }, /addresses/, () => loose(chunked.startPool)({ roots: "x" })],
  ["startPool with a list of roots", "attribute", { key: "roots" }, /addresses/, () => loose(chunked.startPool)({ roots: ["/shared"] })],
  ["startPool without addresses", "attribute", { key: "roots" }, /addresses/, () => loose(chunked.startPool)({ roots: { folders: [] } })],
  ["runJob of a number", "attribute", { key: "folder", got: 3 }, /path of a folder/, () => loose(chunked.runJob)(3)],
  ["runJob with a number as signal", "attribute", { key: "signal", got: 3 }, /AbortSignal/, () => loose(chunked.runJob)("job", { signal: 3 })],
  ["findJobs of null", "attribute", { key: "root", got: null }, /path of a folder/, () => loose(chunked.findJobs)(null)],
  ["remainingTasks of a folder", "attribute", { key: "job", got: "job" }, /openJob/, () => loose(chunked.remainingTasks)("job", "apply")],
  ["remainingTasks of a misspelled stage", "attribute", { key: "name", nearest: "apply" }, /apply/,
    () => loose(chunked.remainingTasks)({ folder: "job", id: "x", stages: [] }, "aply")],
  ["remainingTasks of a removed job", "malformed-file", { file: at("empty") }, /no job\.json/,
    () => loose(chunked.remainingTasks)(removed, "apply")],
  ["taskRate of a removed job", "malformed-file", { file: at("empty") }, /no job\.json/, () => loose(chunked.taskRate)(removed, "apply")],
  ["slurmScript of a removed job", "malformed-file", { file: at("empty") }, /no job\.json/, () => loose(chunked.slurmScript)(removed)],
  ["taskRate of null", "attribute", { key: "job", got: null }, /openJob/, () => loose(chunked.taskRate)(null, "apply")],
  ["workersOf of an object", "attribute", { key: "job" }, /openJob/, () => loose(chunked.workersOf)({})],
  ["jobFailure of a promise", "attribute", { key: "job" }, /await it/, () => loose(chunked.jobFailure)(later)],
  ["slurmScript of a folder", "attribute", { key: "job", got: "job" }, /openJob/, () => loose(chunked.slurmScript)("job")],
  ["slurmScript with a hole in the command", "attribute", { key: "command" }, /list of words/,
    () => loose(chunked.slurmScript)(removed, { command: Array(1) })],
  ["checkFree of a path", "attribute", { key: "array", got: "a.zarr" }, /openArray/, () => loose(chunked.checkFree)("a.zarr")],
  ["submitJob without a connection", "attribute", { key: "connection" }, /redis:/, () => loose(submitJob)("job", {})],
  ["submitJob of null", "attribute", { key: "folder" }, /path of a folder/, () => loose(submitJob)(null, { connection: "redis://x" })],
  ["createWorker without a connection", "attribute", { key: "connection" }, /redis:/, () => loose(createWorker)({})],
  ["createWorker with a port", "attribute", { key: "connection", got: 6379 }, /redis:/, () => loose(createWorker)({ connection: 6379 })],
];

for (const [name, code, facts, words, call] of ROWS) {
  test(`${name} is refused`, async () => {
    const { message } = await assertRejectedCode(code, facts, async () => call());
    assert.match(message, words);
    assert.deepEqual(fs.readdirSync(folder).sort(), before);
  });
}

test("a shape may be a typed array", async () => {
  const { shape } = await zarr.createArray(at("typed.zarr"), {
    ...NEW,
    shape: Int32Array.of(2) as never,
    chunkShape: BigInt64Array.of(1n) as never,
  });
  assert.deepEqual(shape, [2]);
});

test("attributes of the maximum depth are read, also from consolidated metadata", async () => {
  writeGroup(at("deep.zarr"));
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
  await zarr.createArray(at("deep.zarr/a"), { ...NEW, attributes: nested(96) as never });
  consolidate(at("deep.zarr"));
  assert.equal((await (await zarr.openGroup(at("deep.zarr"))).members()).length, 1);
  await assertRejectedCode("attribute", { limit: 96 }, () =>
    zarr.createArray(at("deep.zarr/b"), { ...NEW, attributes: nested(97) as never }),
  );
});

test("an NPY file gets the folders of its path, as a Zarr array does", async () => {
  const one = await zarr.createPending(at("deep/er/x.npy"), { dtype: "int8", shape: [2] });
  await one.publish();
  assert.deepEqual((await zarr.openArray(at("deep/er/x.npy"))).shape, [2]);
});
