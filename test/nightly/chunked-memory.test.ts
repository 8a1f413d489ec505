/**
 * Chunked jobs keep to the memory that they are allowed, whatever the chunks are encoded with, and with the least memory
 * that is accepted: the peak of a process, without the pages of files.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { planJob } from "../../src/arrays/chunked/job/create-job.ts";
import { isTensorError } from "../../src/core/errors.ts";
import type { CallSpec } from "../../src/entries/chunked.ts";
import { createArray, openArray, type CreateOptions } from "../../src/entries/zarr.ts";
import { MAIN } from "../support/cli.ts";
import { randomFrom } from "../support/random.ts";

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-chunked-memory-"));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const COLUMNS = 256;
/** 60 MB of data and 48 of updates, in chunks of 12 MB: many times what a thread has. */
const CHUNK = 12 * 1024;
const ROWS = 5 * CHUNK;
const UPDATES = 4 * CHUNK;
const ALLOWED = 256 * 2 ** 20;

const ENCODINGS: Readonly<Record<string, Partial<CreateOptions>>> = {
  none: {},
  gzip: { codecs: [{ name: "gzip", configuration: { level: 1 } }] },
  zstd: { codecs: [{ name: "zstd", configuration: { level: 1, checksum: false } }] },
  blosc: { codecs: [{ name: "blosc", configuration: { clevel: 1 } }] },
  "zstd of transposed chunks": {
    codecs: [
      { name: "transpose", configuration: { order: [1, 0] } },
      { name: "zstd", configuration: { level: 1, checksum: false } },
    ],
  },
  shards: { shards: [CHUNK, COLUMNS], chunkShape: [CHUNK / 8, COLUMNS], codecs: ["zstd"] },
};

const random = randomFrom(20261123);

/** Numbers that compress to three quarters. */
const numbers = (size: number): Float32Array =>
  Float32Array.from({ length: size }, () => random(2 ** 16) / 16);
const block = numbers(CHUNK * COLUMNS);

async function store(file: string, rows: number, options: Partial<CreateOptions>): Promise<void> {
  const shape = [rows, COLUMNS];
  const array = await createArray(file, {
    dtype: "float32",
    shape,
    chunkShape: [CHUNK, COLUMNS],
    ...options,
  });
  for (let row = 0; row < rows; row += CHUNK) {
    await array.write(tensor("float32", [CHUNK, COLUMNS], block), [row, 0]);
  }
}

async function storeIndices(file: string, options: Partial<CreateOptions>): Promise<void> {
  const shape = [UPDATES, 1];
  const { codecs = [] } = options;
  const isTurned = codecs.some((codec) => typeof codec !== "string" && codec.name === "transpose");
  const own = { dtype: "int64", shape, chunkShape: shape, codecs: isTurned ? [] : codecs } as const;
  const values: Tensor = tensor(
    "int64",
    shape,
    BigInt64Array.from({ length: UPDATES }, () => BigInt(random(ROWS))),
  );
  await (await createArray(file, own)).write(values);
}

/** Interval, in ms, at which the memory of a process is read. */
const LOOK = 4;

/** Runs the command, and gives the most bytes that its process had at once. */
async function peakOf(args: readonly string[], memory: number): Promise<number> {
  const all = [MAIN, "run", ...args, "--memory", String(memory), "--threads", "2"];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "ignore", "pipe"] });
  let [text, peak] = ["", 0];
  child.stderr.setEncoding("utf8").on("data", (more: string) => (text += more));
  const timer = setInterval(() => {
    const file = `/proc/${child.pid}/status`;
    const status = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
    const [, kilobytes = 0] = /^RssAnon:\s*(\d+) kB$/m.exec(status) ?? [];
    peak = Math.max(peak, 1024 * Number(kilobytes));
  }, LOOK);
  const [status] = await once(child, "close");
  clearInterval(timer);
  assert.equal(status, 0, text);
  assert.ok(peak > 0);
  return peak;
}

/** Returns the least memory with which a call is accepted, which the error states. */
async function leastOf(call: CallSpec, files: readonly string[]): Promise<number> {
  const [data, indices, updates] = await Promise.all(files.map((file) => openArray(file)));
  const folder = path.join(home, "job");
  const out = { format: "zarr", path: path.join(home, "out.zarr") } as const;
  const request = { folder, call, data, indices, updates, out, threads: 2 };
  const error: unknown = await planJob({ ...request, memory: 1 }).catch((one: unknown) => one);
  assert.ok(isTensorError(error, "too-large"), String(error));
  return Number(error.got);
}

/** Asserts that a scatter, a gather and a change in place keep to the memory that they are allowed. */
async function checkPeaks(
  at: (file: string) => string,
  allowedFor: (least: number) => number,
  note: (text: string) => void,
): Promise<void> {
  const inputs = ["data.zarr", "indices.zarr"].map(at);
  const add = { function: "scatterND", options: { reduction: "add" } };
  const gather = { function: "gatherND", options: {} };
  const scatter = ["ScatterND", "--attr", "reduction=add"];
  const output = ["-o", at("out.zarr")];
  const all = [...inputs, at("updates.zarr")];
  for (const [name, args, least] of [
    ["scatter", [...scatter, ...all, ...output], await leastOf(add, all)],
    ["gather", ["GatherND", ...inputs, ...output], await leastOf(gather, inputs)],
    ["plan", [...scatter, ...all, ...output, "--plan"], await leastOf(add, all)],
    ["in place", [...scatter, ...all, "--in-place"], await leastOf(add, all)],
  ] as const) {
    const allowed = allowedFor(least);
    const peak = await peakOf(args, allowed);
    const [taken, most] = [peak, allowed].map((bytes) => Math.round(bytes / 2 ** 20));
    note(`${name}: ${taken} of ${most} MB`);
    assert.ok(peak <= allowed, `${name}: ${taken} of ${most} MB`);
    fs.rmSync(at("out.zarr"), { recursive: true, force: true });
  }
}

const skip = fs.existsSync("/proc/self/status") ? false : "there is no /proc";

for (const [name, options] of Object.entries(ENCODINGS)) {
  test(`256 MB, and the least memory, are kept with ${name}`, { skip }, async (context) => {
    const folder = path.join(home, name.replaceAll(" ", "-"));
    const at = (file: string): string => path.join(folder, file);
    await store(at("data.zarr"), ROWS, options);
    await store(at("updates.zarr"), UPDATES, options);
    await storeIndices(at("indices.zarr"), options);
    for (const allowedFor of [() => ALLOWED, (least: number) => least])
      await checkPeaks(at, allowedFor, (text) => context.diagnostic(text));
    fs.rmSync(folder, { recursive: true });
  });
}

test(
  "the least memory is kept with hundreds of blocks, and 64 small chunks in a task",
  { skip },
  async (context) => {
    const at = (file: string): string => path.join(home, "small", file);
    const [rows, updates] = [2 ** 23, 20_000_000];
    const make = (file: string, dtype: "float32" | "int64", size: number, chunk: number) =>
      createArray(at(file), {
        dtype,
        shape: dtype === "int64" ? [size, 1] : [size],
        chunkShape: dtype === "int64" ? [chunk, 1] : [chunk],
      });
    await make("data.zarr", "float32", rows, 2 ** 13);
    const indices = await make("indices.zarr", "int64", updates, 2 ** 20);
    const values = await make("updates.zarr", "float32", updates, 2 ** 20);
    for (let start = 0; start < updates; start += 2 ** 20) {
      const size = Math.min(2 ** 20, updates - start);
      const own = BigInt64Array.from({ length: size }, () => BigInt(random(rows)));
      await indices.write(tensor("int64", [size, 1], own), [start, 0]);
      await values.write(tensor("float32", [size], numbers(size)), [start]);
    }
    await checkPeaks(
      at,
      (least) => least,
      (text) => context.diagnostic(text),
    );
  },
);
