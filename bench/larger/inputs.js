/** The files of the benchmark: a table of rows of 16 float32 as Zarr and as NPY, random row numbers, and rows to add. */

import fs from "node:fs";
import path from "node:path";
import { createArray } from "../../dist/entries/zarr.js";
import { below, randomBits } from "../random.js";

const COLUMNS = 16;
const ROW_BYTES = 4 * COLUMNS;
/** Rows per chunk: 128 MiB. */
const CHUNK_ROWS = 2 ** 21;
const BLOCK_ROWS = 2 ** 18;

/**
 * @param {string} folder
 * @param {number} gigabytes of the table; the rows to add are a quarter of the table
 */
export async function makeInputs(folder, gigabytes) {
  const done = path.join(folder, "inputs.json");
  const wanted = JSON.stringify({ gigabytes });
  if (fs.existsSync(done) && fs.readFileSync(done, "utf8") === wanted) return;
  const rows = Math.floor((gigabytes * 1e9) / ROW_BYTES);
  const updates = Math.floor(rows / 4);
  const bits = randomBits(20261122);
  const chunkShape = [CHUNK_ROWS, COLUMNS];
  const zarr = await createArray(path.join(folder, "table.zarr"), {
    dtype: "float32",
    shape: [rows, COLUMNS],
    chunkShape,
    overwrite: true,
  });
  const npy = begin(folder, "table.npy", "<f4", [rows, COLUMNS]);
  const values = new Float32Array(CHUNK_ROWS * COLUMNS);
  for (let i = 0; i < values.length; i++) values[i] = bits() / 2 ** 32;
  for (let chunk = 0; chunk * CHUNK_ROWS < rows; chunk++) {
    const count = Math.min(CHUNK_ROWS, rows - chunk * CHUNK_ROWS);
    // Changes some values, so that the chunks differ.
    for (let i = 0; i < 1000; i++) values[below(bits, values.length)] = bits() / 2 ** 32;
    const bytes = new Uint8Array(values.buffer, 0, count * ROW_BYTES);
    await zarr.writeChunk([chunk, 0], bytes);
    fs.writeSync(npy, bytes);
  }
  fs.closeSync(npy);
  const ids = begin(folder, "ids.npy", "<i8", [updates, 1]);
  const added = begin(folder, "rows.npy", "<f4", [updates, COLUMNS]);
  const numbers = new BigInt64Array(BLOCK_ROWS);
  for (let at = 0; at < updates; at += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, updates - at);
    for (let i = 0; i < count; i++) numbers[i] = BigInt(below(bits, rows));
    fs.writeSync(ids, new Uint8Array(numbers.buffer, 0, 8 * count));
    values[below(bits, count)] = bits() / 2 ** 32;
    fs.writeSync(added, new Uint8Array(values.buffer, 0, count * ROW_BYTES));
  }
  fs.closeSync(ids);
  fs.closeSync(added);
  fs.rmSync(path.join(folder, "expected.json"), { force: true });
  fs.writeFileSync(done, wanted);
}

/** Returns an NPY file with its header written. */
export function begin(folder, name, descr, shape) {
  const file = fs.openSync(path.join(folder, name), "w");
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
  const header = `${text.padEnd(117)}\n`;
  fs.writeSync(file, Buffer.from(`\x93NUMPY\x01\x00v\x00${header}`, "latin1"));
  return file;
}
