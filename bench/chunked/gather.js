/**
 * Gathers random rows from a file larger than the page cache, beside numpy's memory map of the same file: `node
 * bench/chunked/gather.js FOLDER [--gigabytes 4] [--group 640] [--memory 320] [--rows 100000] [--rounds 3] [--plain]`.
 *
 * Every run is a separate process in one control group, whose memory (`--group`, megabytes) also limits its share of
 * the file in the page cache. The file is dropped from the cache before each run. Results are compared bit for bit.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { begin } from "../larger/inputs.js";
import { below, randomBits } from "../random.js";
import { median } from "../statistics.js";
import { dropCache, limitedGroup, runIn } from "./cgroup.js";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const HEADER = 128;
/** The most milliseconds per contestant, after which it is stopped. */
const LONGEST = 120_000;

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gigabytes: { type: "string", default: "4" },
    group: { type: "string", default: "640" },
    memory: { type: "string", default: "320" },
    rows: { type: "string", default: "100000" },
    bytes: { type: "string", default: "128,512,4096" },
    rounds: { type: "string", default: "3" },
    // For a plain map, the system reads up to 8 MB ahead of each row, which takes minutes.
    plain: { type: "boolean", default: false },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  process.stdout.write(
    "usage: node bench/chunked/gather.js FOLDER [--gigabytes 4] [--group 640] [--memory 320] [--rows 100000] [--rounds 3] [--plain]\n",
  );
  process.exit(2);
}
const file = (name) => path.join(folder, name);
const python = (how) => ["/usr/bin/python3", path.join(HERE, "memmap.py"), folder, how];

const CONTESTANTS = [
  { name: "ndscatter", command: [...ours(), "ndscatter.npy", given.memory] },
  ...(given.plain ? [{ name: "memmap", command: python("plain") }] : []),
  { name: "memmap, random", command: python("random") },
  { name: "memmap, random, sorted", command: python("sorted") },
];

function ours() {
  const program = path.join(HERE, "../larger/ours.js");
  return [process.execPath, program, folder, "gather", "table.npy"];
}

fs.mkdirSync(folder, { recursive: true });
const tableBytes = Math.floor((Number(given.gigabytes) * 1e9) / 4096) * 4096;
makeTable();
const group = limitedGroup(Number(given.group) * 2 ** 20);
try {
  const about = group === null ? "without a control group" : `in ${given.group} MB`;
  process.stdout.write(`${tableBytes / 1e9} GB, ${given.rows} rows, ${about}\n`);
  process.stdout.write("| row | indices | by | seconds, each round | times ndscatter |\n");
  process.stdout.write("|---|---|---|---|---|\n");
  for (const bytes of given.bytes.split(",").map(Number)) {
    for (const kind of ["uniform", "skewed"]) compare(bytes, kind);
  }
} finally {
  group?.remove();
}

/** Random bits, once for all row lengths: headers of equal length give the row length. */
function makeTable() {
  const table = file("table.npy");
  if (fs.existsSync(table) && fs.statSync(table).size === HEADER + tableBytes) return;
  const handle = begin(folder, "table.npy", "<f4", [tableBytes / 4]);
  const bits = randomBits(20261124);
  const values = new Uint32Array(2 ** 22);
  for (let left = tableBytes; left > 0; left -= values.byteLength) {
    for (let i = 0; i < values.length; i++) values[i] = bits();
    fs.writeSync(handle, new Uint8Array(values.buffer, 0, Math.min(left, values.byteLength)));
  }
  fs.fsyncSync(handle);
  fs.closeSync(handle);
}

function compare(bytes, kind) {
  writeHeader(bytes);
  writeIds(tableBytes / bytes, kind);
  const rounds = [];
  for (let round = 0; round < Number(given.rounds); round++) rounds.push(CONTESTANTS.map(measure));
  const own = median(rounds.map(([seconds]) => seconds));
  for (const [i, { name }] of CONTESTANTS.entries()) {
    const each = rounds.map(({ [i]: seconds }) => seconds);
    const cells = [
      `${bytes} B`,
      kind,
      name,
      each.map((one) => (one === Infinity ? "given up" : one.toFixed(2))).join(", "),
    ];
    const times = median(each.map((one) => Math.min(one, LONGEST / 1000))) / own;
    const ratio = i === 0 ? "" : `${each.includes(Infinity) ? "above " : ""}${times.toFixed(2)}`;
    process.stdout.write(`| ${[...cells, ratio].join(" | ")} |\n`);
  }
}

function writeHeader(bytes) {
  const shape = `${tableBytes / bytes}, ${bytes / 4}`;
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape}), }`;
  const handle = fs.openSync(file("table.npy"), "r+");
  fs.writeSync(handle, `${text.padEnd(117)}\n`, 10);
  fs.closeSync(handle);
}

/** Skewed: one row in a hundred gets a third of the indices; these rows are spread over the table. */
function writeIds(rows, kind) {
  const count = Number(given.rows);
  const bits = randomBits(rows);
  const ids = new BigInt64Array(count);
  const spread = coprime(rows);
  for (let i = 0; i < count; i++) {
    const rank =
      kind === "uniform" ? below(bits, rows) : Math.floor(rows * (bits() / 2 ** 32) ** 4);
    ids[i] = (BigInt(rank) * spread) % BigInt(rows);
  }
  const handle = begin(folder, "ids.npy", "<i8", [count, 1]);
  fs.writeSync(handle, new Uint8Array(ids.buffer));
  fs.closeSync(handle);
}

/** Returns a step that visits all rows, and places neighbours far apart. */
function coprime(rows) {
  const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));
  let step = Math.floor(rows * 0.618);
  while (divisor(rows, step) !== 1) step++;
  return BigInt(step);
}

/** Returns the seconds of a contestant, whose result is compared with the library's. */
function measure({ name, command }, i) {
  dropCache(file("table.npy"));
  const start = process.hrtime.bigint();
  const child = runIn(group, command, { encoding: "utf8", timeout: LONGEST });
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  if (child.error?.code === "ETIMEDOUT") return Infinity;
  if (child.status !== 0) throw new Error(`${name}: ${child.stderr}`);
  process.stderr.write(`  ${name}: ${seconds.toFixed(2)} s\n`);
  if (i === 0) return seconds;
  checkSame(file("ndscatter.npy"), file("memmap.npy"), name);
  return seconds;
}

function checkSame(a, b, name) {
  const same = runIn(null, ["cmp", "-i", String(HEADER), a, b], { encoding: "utf8" });
  if (same.status !== 0) throw new Error(`the result of ${name} differs: ${same.stdout}`);
}
