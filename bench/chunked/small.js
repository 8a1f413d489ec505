/**
 * Scatters into many small chunks, beside the file system calls that any program would make for as many files: `node
 * bench/chunked/small.js FOLDER [--chunks 10000] [--rounds 3] [--only TEXT]`.
 *
 * A chunk has 20 rows of 16 float32, and every row gets one update. The command is timed from start to end, the library
 * without the start of Node. Nothing is removed between runs: an ext4 without a journal checks every inode freed in the
 * last minutes before it allocates one, so a run would pay for the files of the previous one. "files" writes each chunk
 * under another name and renames it in a loop without threads; "files, synced" also syncs each before the rename.
 * `sync` runs before each run, so that no run waits for another's files.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { scatterChunked } from "../../dist/entries/chunked.js";
import { createArray, openArray } from "../../dist/entries/zarr.js";
import { begin } from "../larger/inputs.js";
import { randomBits } from "../random.js";
import { median } from "../statistics.js";

const SELF = fileURLToPath(import.meta.url);
const CLI = path.join(path.dirname(SELF), "../../dist/cli/main.js");
const ROWS = 20;
const COLUMNS = 16;
const SHARDS = 10;

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    chunks: { type: "string", default: "10000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    // For one run in a separate process: its name, and its output folder.
    one: { type: "string" },
    into: { type: "string", default: "" },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  process.stdout.write(
    "usage: node bench/chunked/small.js FOLDER [--chunks 10000] [--rounds 3] [--only TEXT]\n",
  );
  process.exit(2);
}
const chunks = Number(given.chunks);
const rows = chunks * ROWS;
const file = (name) => path.join(folder, name);
const made = (name) => path.join(given.into, name);
const inputs = ["ids.npy", "rows.npy"];

const library =
  (table, options = {}) =>
  async () => {
    const names = [table(), ...inputs.map(file)];
    const [data, ids, added] = await Promise.all(names.map((name) => openArray(name)));
    const to = { out: options.inPlace === true ? data : made("out.zarr"), job: made("job") };
    await scatterChunked(data, ids, added, { reduction: "add", ...to, ...options.shape });
  };
const command = (table, rest) => () => {
  const args = ["run", "ScatterND", "--attr", "reduction=add", table(), ...inputs.map(file)];
  const all = [CLI, ...args, ...rest, "--job", "job"];
  const child = spawnSync(process.execPath, all, { cwd: given.into, encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
};
const shape = { chunkShape: [ROWS, COLUMNS], shards: [rows / SHARDS, COLUMNS] };
const table = () => file("table.zarr");
const copy = () => made("copy.zarr");
const CONTESTANTS = [
  { name: "new array, library", run: library(table) },
  { name: "new array, command", run: command(table, ["-o", "out.zarr"]) },
  { name: "in place, library", isCopied: true, run: library(copy, { inPlace: true }) },
  { name: "in place, command", isCopied: true, run: command(copy, ["--in-place"]) },
  { name: `${SHARDS} shards, library`, run: library(table, { shape }) },
  { name: "files", run: () => plainFiles(false) },
  { name: "files, synced", run: () => plainFiles(true) },
];

if (given.one === undefined) await compareAll();
else process.stdout.write(JSON.stringify(await timed(CONTESTANTS[Number(given.one)].run)));

async function compareAll() {
  fs.mkdirSync(folder, { recursive: true });
  await makeTable();
  process.stdout.write(`${chunks} chunks of ${4 * ROWS * COLUMNS} bytes\n`);
  process.stdout.write(
    "| | ms a chunk, each round | median | of a processor |\n|---|---|---|---|\n",
  );
  const measured = CONTESTANTS.map(() => []);
  const shown = [...CONTESTANTS.entries()].filter(([, { name }]) => name.includes(given.only));
  for (let round = 0; round < Number(given.rounds); round++)
    for (const [i, contestant] of shown) measured[i].push(measure(contestant, i));
  for (const left of fs.readdirSync(folder).filter((one) => one.startsWith("run-")))
    fs.rmSync(file(left), { recursive: true });
  for (const [i, { name }] of shown) {
    const [wall, busy] = ["wall", "busy"].map((what) =>
      measured[i].map((one) => (1000 * one[what]) / chunks),
    );
    const cells = [
      name,
      wall.map((one) => one.toFixed(2)).join(", "),
      median(wall).toFixed(2),
      median(busy).toFixed(2),
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}

async function makeTable() {
  const bits = randomBits(20261124);
  if (!fs.existsSync(file("table.zarr"))) {
    const options = { dtype: "float32", shape: [rows, COLUMNS], chunkShape: [ROWS, COLUMNS] };
    const table = await createArray(file("table.zarr"), options);
    const chunk = Float32Array.from({ length: ROWS * COLUMNS }, () => bits() / 2 ** 32);
    for (let i = 0; i < chunks; i++) await table.writeChunk([i, 0], new Uint8Array(chunk.buffer));
  }
  const ids = begin(folder, "ids.npy", "<i8", [rows, 1]);
  const numbers = BigInt64Array.from({ length: rows }, (_, i) => BigInt(i));
  for (let i = rows - 1; i > 0; i--) {
    const j = Math.floor((bits() / 2 ** 32) * (i + 1));
    [numbers[i], numbers[j]] = [numbers[j], numbers[i]];
  }
  fs.writeSync(ids, new Uint8Array(numbers.buffer));
  const added = begin(folder, "rows.npy", "<f4", [rows, COLUMNS]);
  fs.writeSync(added, new Uint8Array(new Float32Array(rows * COLUMNS).fill(1).buffer));
  fs.closeSync(ids);
  fs.closeSync(added);
}

function measure({ name, isCopied = false }, i) {
  const into = fs.mkdtempSync(file("run-"));
  if (isCopied) fs.cpSync(file("table.zarr"), path.join(into, "copy.zarr"), { recursive: true });
  spawnSync("sync");
  const args = [SELF, folder, "--chunks", given.chunks, "--one", String(i), "--into", into];
  const child = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  const seconds = JSON.parse(child.stdout);
  process.stderr.write(`  ${name}: ${JSON.stringify(seconds)}\n`);
  return seconds;
}

/** Elapsed seconds, and processor seconds including those of child programs. */
async function timed(action) {
  const before = process.resourceUsage();
  const begun = performance.now();
  await action();
  const wall = (performance.now() - begun) / 1000;
  const after = process.resourceUsage();
  const own = after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime;
  return { wall, busy: own / 1e6 + busyOfChildren() };
}

/** Processor times of ended child programs from `/proc/self/stat`, in hundredths of a second. */
function busyOfChildren() {
  if (!fs.existsSync("/proc/self/stat")) return 0;
  const fields = fs.readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

function plainFiles(isSynced) {
  const place = made("files");
  const bytes = new Uint8Array(4 * ROWS * COLUMNS);
  fs.mkdirSync(path.join(place, "c"), { recursive: true });
  for (let i = 0; i < chunks; i++) {
    const own = path.join(place, "c", String(i));
    fs.mkdirSync(own);
    const handle = fs.openSync(path.join(place, String(i)), "wx");
    fs.writeSync(handle, bytes);
    if (isSynced) fs.fdatasyncSync(handle);
    fs.closeSync(handle);
    fs.renameSync(path.join(place, String(i)), path.join(own, "0"));
  }
}
