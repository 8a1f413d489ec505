/**
 * Gathers random rows from Zarr arrays and `.npy` files, beside TensorStore, zarr-python and numpy's memory map: `node
 * bench/chunked/peers.js FOLDER --python PYTHON [--rows 2000,20000,200000] [--rounds 5]`.
 *
 * Each contestant is a process that gathers several times into a new `.npy` file, in turn with the others. A figure is
 * the least processor time of a gather, with all threads of the process and without its start. The files are in the
 * page cache. Results are compared bit for bit.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openArray, createArray } from "../../dist/entries/zarr.js";
import { gatherChunked } from "../../dist/entries/chunked.js";
import { tensor } from "../../dist/entries/index.js";
import { writeNpy } from "../../dist/entries/npy.js";
import { below, randomBits } from "../random.js";

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: "string" },
    rows: { type: "string", default: "2000,20000,200000" },
    rounds: { type: "string", default: "5" },
    // A process of this benchmark gathers from one array.
    own: { type: "string" },
  },
});
const [folder] = positionals;
if (folder === undefined || (given.own === undefined && given.python === undefined)) {
  process.stdout.write(
    "usage: node bench/chunked/peers.js FOLDER --python PYTHON [--rows 2000,20000,200000] [--rounds 5]\n" +
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
else await gatherOften(given.own, given.rows);

/** Gathers several times, and prints the least processor time in ms. */
async function gatherOften(name, rows) {
  const [data, indices] = await Promise.all([openArray(name), openArray(`ids-${rows}.npy`)]);
  let least = Infinity;
  for (let time = 0; time < TIMES; time++) {
    fs.rmSync("ours.npy", { force: true });
    const before = process.cpuUsage();
    await gatherChunked(data, indices, { out: "ours.npy" });
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
  for (const name of [...Object.keys(ARRAYS), "plain.npy"]) {
    const peers = name.endsWith(".npy") ? ["memmap"] : ["tensorstore", "zarr-python"];
    for (const rows of given.rows.split(",")) {
      const ours = [process.execPath, HERE, ".", "--own", name, "--rows", rows];
      const theirs = (peer) => [given.python, path.join(HERE, "../peers.py"), name, rows, peer];
      const commands = [ours, ...peers.map(theirs)];
      const least = commands.map(() => Infinity);
      for (let round = 0; round < Number(given.rounds); round++)
        for (const [at, command] of commands.entries())
          least[at] = Math.min(least[at], run(command));
      for (const peer of peers) compare(`${peer}.npy`);
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

async function makeInputs() {
  const bits = randomBits(1);
  for (const rows of given.rows.split(",")) {
    const ids = BigInt64Array.from({ length: Number(rows) }, () => BigInt(below(bits, ROWS)));
    fs.writeFileSync(`ids-${rows}.npy`, writeNpy(tensor("int64", [ids.length, 1], ids)));
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
