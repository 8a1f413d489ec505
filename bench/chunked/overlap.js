/**
 * Measures the utilization of two threads that apply updates to compressed chunks: `node bench/chunked/overlap.js
 * FOLDER`.
 *
 * A table of 64 MiB of float32 has 16 chunks, which are dropped from the page cache before each run. The stage's
 * processor time, divided by twice its elapsed time, bounds the gain of decoding ahead: at most its inverse.
 */

import fs from "node:fs";
import path from "node:path";
import { scatterChunked } from "../../dist/entries/chunked.js";
import { createArray, openArray } from "../../dist/entries/zarr.js";
import { begin } from "../larger/inputs.js";
import { below, randomBits } from "../random.js";
import { dropCache } from "./cgroup.js";

const [ROWS, COLUMNS, CHUNKS] = [2 ** 20, 16, 16];
const THREADS = 2;
const blosc = { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 };
const CODECS = [
  { name: "none", codecs: [] },
  { name: "gzip 1", codecs: [{ name: "gzip", configuration: { level: 1 } }] },
  { name: "zstd 1", codecs: [{ name: "zstd", configuration: { level: 1 } }] },
  { name: "blosc lz4 shuffle", codecs: [{ name: "blosc", configuration: blosc }] },
];

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stdout.write("usage: node bench/chunked/overlap.js FOLDER\n");
  process.exit(2);
}
fs.mkdirSync(folder, { recursive: true });
makeUpdates();
process.stdout.write("| codec | seconds of apply | busy, of two threads |\n|---|---|---|\n");
for (const { name, codecs } of CODECS) {
  const { seconds, busy } = await measure(codecs);
  const share = Math.round((100 * busy) / (THREADS * seconds));
  process.stdout.write(`| ${name} | ${seconds.toFixed(2)} | ${share} % |\n`);
}

/** One update row per 64 rows of the table. */
function makeUpdates() {
  const bits = randomBits(20261124);
  const count = ROWS / 64;
  const ids = BigInt64Array.from({ length: count }, () => BigInt(below(bits, ROWS)));
  const rows = Float32Array.from({ length: count * COLUMNS }, () => bits() / 2 ** 32);
  for (const [name, descr, shape, values] of [
    ["ids.npy", "<i8", [count, 1], ids],
    ["rows.npy", "<f4", [count, COLUMNS], rows],
  ]) {
    const handle = begin(folder, name, descr, shape);
    fs.writeSync(handle, new Uint8Array(values.buffer));
    fs.closeSync(handle);
  }
}

/** Returns the walk of `codecs.js`, rounded to sixteenths. */
async function makeTable(place, codecs) {
  const chunkShape = [ROWS / CHUNKS, COLUMNS];
  const options = { dtype: "float32", shape: [ROWS, COLUMNS], chunkShape, codecs };
  const table = await createArray(place, options);
  const bits = randomBits(20261125);
  const values = new Float32Array((ROWS / CHUNKS) * COLUMNS);
  for (let chunk = 0, at = 0; chunk < CHUNKS; chunk++) {
    for (let i = 0; i < values.length; i++) {
      at += bits() / 2 ** 32 - 0.5;
      values[i] = Math.round(16 * at) / 16;
    }
    await table.writeChunk([chunk, 0], new Uint8Array(values.buffer));
  }
}

async function measure(codecs) {
  const into = fs.mkdtempSync(path.join(folder, "run-"));
  const place = path.join(into, "table.zarr");
  await makeTable(place, codecs);
  for (let chunk = 0; chunk < CHUNKS; chunk++) dropCache(path.join(place, `c/${chunk}/0`));
  const names = [place, ...["ids.npy", "rows.npy"].map((name) => path.join(folder, name))];
  const [table, ids, rows] = await Promise.all(names.map((name) => openArray(name)));
  let begun = null;
  let result = null;
  await scatterChunked(table, ids, rows, {
    reduction: "add",
    out: path.join(into, "out.zarr"),
    threads: THREADS,
    onProgress({ stage, done, tasks }) {
      if (stage !== "apply") return;
      begun ??= { at: performance.now(), cpu: process.cpuUsage() };
      if (done < tasks) return;
      const { user, system } = process.cpuUsage(begun.cpu);
      result = { seconds: (performance.now() - begun.at) / 1000, busy: (user + system) / 1e6 };
    },
  });
  fs.rmSync(into, { recursive: true });
  return result;
}
