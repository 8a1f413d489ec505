/**
 * Bytes per second of processor time that are encoded and decoded, by codec, beside zarr-python on the same elements:
 * `node bench/chunked/codecs.js FOLDER [--rounds 5] [--only TEXT]`.
 *
 * The elements, one chunk of 64 MiB of float32, are a random walk rounded to sixteenths; the chunk is written to a file
 * and read from the page cache. The time is that of all threads of a process, so the number of cores does not matter.
 * Our processes and zarr-python's take turns; each takes the median of five times, after one that does not count.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createArray } from "../../dist/entries/zarr.js";
import { randomBits } from "../random.js";
import { median, ratioOfRounds } from "../statistics.js";

const SELF = fileURLToPath(import.meta.url);
const SIDE = 4096;
const TIMES = 5;

const transpose = { name: "transpose", configuration: { order: [1, 0] } };
const bigEndian = { name: "bytes", configuration: { endian: "big" } };
const level = (name, number) => ({ name, configuration: { level: number } });
const blosc = (cname, shuffle, clevel = 5) => ({
  name: "blosc",
  configuration: { cname, clevel, shuffle, typesize: 4, blocksize: 0 },
});
const shards = { shards: [SIDE, SIDE], chunkShape: [512, 512] };

/** `peer` is the codec's name in codecs.py; zarr-python 2 has neither crc32c nor shards. */
const CODECS = [
  { name: "none", codecs: [], peer: "none" },
  { name: "crc32c", codecs: ["crc32c"], peer: "crc32 of zlib" },
  { name: "big-endian", codecs: [bigEndian], peer: "big-endian" },
  { name: "transpose", codecs: [transpose, "bytes"], peer: "transpose" },
  { name: "gzip 1", codecs: [level("gzip", 1)], peer: "gzip 1" },
  { name: "gzip 5", codecs: [level("gzip", 5)], peer: "gzip 5" },
  { name: "zstd 1", codecs: [level("zstd", 1)], peer: "zstd 1" },
  { name: "blosc lz4 shuffle", codecs: [blosc("lz4", "shuffle")], peer: "blosc lz4 shuffle" },
  {
    name: "blosc lz4 bitshuffle",
    codecs: [blosc("lz4", "bitshuffle")],
    peer: "blosc lz4 bitshuffle",
  },
  { name: "blosc zstd shuffle", codecs: [blosc("zstd", "shuffle")], peer: "blosc zstd shuffle" },
  { name: "shards", codecs: [], ...shards },
  { name: "shards, zstd 1", codecs: [level("zstd", 1)], ...shards },
];

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    one: { type: "string" },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  process.stdout.write("usage: node bench/chunked/codecs.js FOLDER [--rounds 5] [--only TEXT]\n");
  process.exit(2);
}
const source = path.join(folder, "walk.bin");
if (given.one === undefined) compareAll();
else process.stdout.write(JSON.stringify(await measure(CODECS[Number(given.one)])));

function compareAll() {
  fs.mkdirSync(folder, { recursive: true });
  makeWalk();
  process.stdout.write(
    "MB of elements a second of a processor, and ndscatter's as a multiple of zarr-python's\n\n" +
      "| codec | write | read | zarr-python writes | reads | write | read |\n|---|---|---|---|---|---|---|\n",
  );
  for (const [i, { name, peer }] of CODECS.entries()) {
    if (!name.includes(given.only)) continue;
    const [own, other] = [[], []];
    for (let round = 0; round < Number(given.rounds); round++) {
      own.push(run(process.execPath, [SELF, folder, "--one", String(i)]));
      if (peer === undefined) continue;
      other.push(
        run("/usr/bin/python3", [path.join(path.dirname(SELF), "codecs.py"), folder, peer]),
      );
    }
    const speeds = (list, what) => list.map((seconds) => (4 * SIDE ** 2) / 1e6 / seconds[what]);
    const [a, b] = ["write", "read"].map((what) => speeds(own, what));
    const [c, d] = ["write", "read"].map((what) => speeds(other, what));
    const rate = (list) => (list.length === 0 ? "" : Math.round(median(list)));
    const times = (x, y) => (y.length === 0 ? "" : ratioOfRounds(x, y).ratio);
    const cells = [name, rate(a), rate(b), rate(c), rate(d), times(a, c), times(b, d)];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}

function makeWalk() {
  const bits = randomBits(20261124);
  const values = new Float32Array(SIDE ** 2);
  let at = 0;
  for (let i = 0; i < values.length; i++) {
    at += bits() / 2 ** 32 - 0.5;
    values[i] = Math.round(16 * at) / 16;
  }
  fs.writeFileSync(source, new Uint8Array(values.buffer));
}

function run(program, rest) {
  const child = spawnSync(program, rest, { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

/** Processor seconds for writing and reading a chunk. */
async function measure({ name, codecs, shards, chunkShape = [SIDE, SIDE] }) {
  const place = path.join(folder, "ours.zarr");
  const chunk = new Uint8Array(fs.readFileSync(source));
  const array = await createArray(place, {
    dtype: "float32",
    shape: [SIDE, SIDE],
    chunkShape,
    ...(shards !== undefined && { shards }),
    codecs,
    overwrite: true,
  });
  const into = new Uint8Array(chunk.length);
  const seconds = { write: [], read: [] };
  for (let i = 0; i <= TIMES; i++) {
    seconds.write.push(await timed(() => array.writeChunk([0, 0], chunk)));
    seconds.read.push(await timed(() => array.readChunk([0, 0], into)));
  }
  fs.rmSync(place, { recursive: true });
  if (Buffer.compare(chunk, into) !== 0) throw new Error(`${name} reads other bytes than it wrote`);
  return { write: median(seconds.write.slice(1)), read: median(seconds.read.slice(1)) };
}

async function timed(action) {
  const before = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
