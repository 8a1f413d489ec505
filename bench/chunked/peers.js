/**
 * Gathers random rows from Zarr arrays and `.npy` files, or changes them in place, beside TensorStore, zarr-python and
 * numpy's memory map: `node bench/chunked/peers.js FOLDER --python PYTHON [--scatter] [--rows 2000,20000,200000]
 * [--rounds 5]`.
 *
 * Each contestant is a process that gathers several times into a new `.npy` file, in turn with the others. A figure is
 * the least processor time of a gather, with all threads of the process and without its start. The files are in the
 * page cache. Results are compared bit for bit. A scatter replaces distinct rows of the contestant's own copy of the
 * array. The memory map changes an `.npy` file, so it is beside the uncompressed array.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openArray, createArray } from "../../dist/entries/zarr.js";
import { gatherChunked, scatterChunked } from "../../dist/entries/chunked.js";
import { tensor } from "../../dist/entries/index.js";
import { writeNpy } from "../../dist/entries/npy.js";
import { below, randomBits } from "../random.js";

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: "string" },
    rows: { type: "string", default: "2000,20000,200000" },
    rounds: { type: "string", default: "5" },
    scatter: { type: "boolean", default: false },
    // A process of this benchmark gathers from one array.
    own: { type: "string" },
  },
});
const [folder] = positionals;
if (folder === undefined || (given.own === undefined && given.python === undefined)) {
  process.stdout.write(
    "usage: node bench/chunked/peers.js FOLDER --python PYTHON [--scatter] [--rows 2000,20000,200000] [--rounds 5]\n" +
      "PYTHON needs the packages tensorstore, zarr and numpy.\n",
  );
  process.exit(2);
}
process.chdir(folder);
const HERE = fileURLToPath(import.meta.url);

/** 400 MB of rows of 1 kB, in chunks of 2 MB. */
const [ROWS, COLUMNS, CHUNK] = [400_000, 256, 2000];
const ARRAYS = {
  "plain.zarr": { codecs: [] },
  "zstd.zarr": { codecs: ["zstd"] },
  "blosc.zarr": { codecs: ["blosc"] },
  "shards.zarr": {
    codecs: ["zstd"],
    chunkShape: [CHUNK / 2, COLUMNS],
    shards: [10 * CHUNK, COLUMNS],
  },
};
const TIMES = 4;

if (given.own === undefined) await main();
else await runOften(given.own, given.rows);

/** Gathers or scatters several times, and prints the least processor time in ms. */
async function runOften(name, rows) {
  const data = await openArray(given.scatter ? copyOf("ours") : name);
  const indices = await openArray(`ids-${rows}.npy`);
  const updates = given.scatter ? await openArray(`rows-${rows}.npy`) : null;
  let least = Infinity;
  for (let time = 0; time < TIMES; time++) {
    fs.rmSync("ours.npy", { force: true });
    const before = process.cpuUsage();
    if (updates === null) await gatherChunked(data, indices, { out: "ours.npy" });
    else await scatterChunked(data, indices, updates, { out: data });
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  console.log(least);
}

async function main() {
  await makeInputs();
  console.log(
    "array rows | ndscatter ms | others: ms, and the ratio of ndscatter's time to theirs",
  );
  const names = given.scatter ? Object.keys(ARRAYS) : [...Object.keys(ARRAYS), "plain.npy"];
  for (const name of names) {
    const peers = name.endsWith(".npy") ? ["memmap"] : ["tensorstore", "zarr-python"];
    // zarr-python cannot change a shard in part.
    if (given.scatter && name === "shards.zarr") peers.pop();
    if (given.scatter && name === "plain.zarr") peers.push("memmap");
    for (const rows of given.rows.split(",")) {
      const how = given.scatter ? ["--scatter"] : [];
      if (given.scatter) for (const one of ["ours", ...peers]) copyArray(one, name);
      const ours = [process.execPath, HERE, ".", "--own", name, "--rows", rows, ...how];
      const theirs = (peer) => [
        given.python,
        path.join(HERE, "../peers.py"),
        given.scatter ? copyOf(peer) : name,
        rows,
        peer,
        ...how,
      ];
      const commands = [ours, ...peers.map(theirs)];
      const least = commands.map(() => Infinity);
      for (let round = 0; round < Number(given.rounds); round++)
        for (const [at, command] of commands.entries())
          least[at] = Math.min(least[at], run(command));
      if (given.scatter) await compareArrays(peers, name);
      else for (const peer of peers) compare(`${peer}.npy`);
      const others = peers.map((peer, at) => {
        const time = least[at + 1];
        return `${peer} ${time.toFixed(0)} (${(least[0] / time).toFixed(2)})`;
      });
      console.log(`${name} ${rows} | ${least[0].toFixed(0)} | ${others.join(", ")}`);
    }
  }
}

function run([program, ...args]) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status === 0) return Number(stdout);
  throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}

function compare(file) {
  const [ours, theirs] = ["ours.npy", file].map((one) => fs.readFileSync(one));
  if (!ours.subarray(128).equals(theirs.subarray(128))) throw new Error(`${file} has other values`);
}

/** Returns the name of a contestant's copy of an array. */
function copyOf(contestant) {
  return contestant === "memmap" ? "memmap-copy.npy" : `${contestant}-copy.zarr`;
}

function copyArray(contestant, name) {
  const from = contestant === "memmap" ? name.replace(".zarr", ".npy") : name;
  fs.rmSync(copyOf(contestant), { recursive: true, force: true });
  fs.cpSync(from, copyOf(contestant), { recursive: true });
}

async function compareArrays(peers, name) {
  const read = async (one) => (await (await openArray(copyOf(one))).read()).data;
  const ours = Buffer.from((await read("ours")).buffer);
  for (const peer of peers) {
    const theirs = await read(peer);
    const bytes = Buffer.from(theirs.buffer, theirs.byteOffset, theirs.byteLength);
    if (!ours.equals(bytes)) throw new Error(`${peer} has other values in ${name}`);
  }
}

async function makeInputs() {
  const bits = randomBits(1);
  for (const rows of given.rows.split(",")) {
    const taken = new Set();
    const draw = () => {
      for (;;) {
        const row = below(bits, ROWS);
        if (given.scatter && taken.has(row)) continue;
        taken.add(row);
        return BigInt(row);
      }
    };
    const ids = BigInt64Array.from({ length: Number(rows) }, draw);
    fs.writeFileSync(`ids-${rows}.npy`, writeNpy(tensor("int64", [ids.length, 1], ids)));
    if (!given.scatter) continue;
    const updates = Float32Array.from({ length: ids.length * COLUMNS }, () => (bits() & 1023) / 8);
    fs.writeFileSync(
      `rows-${rows}.npy`,
      writeNpy(tensor("float32", [ids.length, COLUMNS], updates)),
    );
  }
  if (fs.existsSync("plain.npy")) return;
  const values = Float32Array.from({ length: ROWS * COLUMNS }, () => (bits() & 1023) / 8);
  const data = tensor("float32", [ROWS, COLUMNS], values);
  for (const [name, options] of Object.entries(ARRAYS)) {
    const type = { dtype: "float32", shape: [ROWS, COLUMNS], chunkShape: [CHUNK, COLUMNS] };
    const array = await createArray(name, { ...type, overwrite: true, ...options });
    await array.write(data);
  }
  fs.writeFileSync("plain.npy", writeNpy(data));
}
