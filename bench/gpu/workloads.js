/** The work of the GPU benchmark, one row each, its tensors from a seed, and the bytes that each call moves. */

import { below, randomBits, seedOf } from "../random.js";

/**
 * @typedef {object} GpuRow
 * @property {string} name
 * @property {"scatterND" | "scatterElements" | "gatherND" | "gather" | "gatherElements"} op
 * @property {"float32" | "int32"} dtype of data; indices are int64
 * @property {"none" | "add"} [reduction] of scatters
 * @property {number} [axis]
 * @property {readonly number[]} data shape
 * @property {readonly number[]} indices shape
 * @property {"random" | "distinct" | "heads"} fill the way to draw the indices
 * @property {boolean} [inPlace] the library writes into `data`; the peers cannot, and make a copy
 */

const ROWS = [100_000, 128];
const CELLS = [1024, 1024];

/** @type {readonly GpuRow[]} */
export const GPU_ROWS = [
  row("gather rows", "gather", ROWS, [200_000], { axis: 0 }),
  row("gatherND scalars", "gatherND", [4096, 4096], [2_000_000, 2]),
  row("gatherElements", "gatherElements", [4096, 4096], [4096, 1024], { axis: 1 }),
  scatter("rows none, distinct", "none", ROWS, [50_000, 1], { fill: "distinct" }),
  scatter("rows none, repeated", "none", ROWS, [200_000, 1]),
  scatter("rows add int32", "add", ROWS, [200_000, 1], { dtype: "int32" }),
  scatter("rows add", "add", ROWS, [200_000, 1]),
  scatter("scalars add int32", "add", CELLS, [1_000_000, 2], { dtype: "int32" }),
  scatter("scalars add", "add", CELLS, [1_000_000, 2]),
  scatter("16 hot cells add", "add", [16], [1_000_000, 1]),
  scatter("elements add", "add", [4096, 1024], [1024, 1024], { op: "scatterElements", axis: 0 }),
  scatter("kv-cache append", "none", [8, 32, 1024, 64], [8, 32, 3], {
    fill: "heads",
    inPlace: true,
  }),
];

/** @returns {GpuRow} */
function row(name, op, data, indices, more = {}) {
  return { name, op, dtype: "float32", data, indices, fill: "random", ...more };
}

/** @returns {GpuRow} */
function scatter(name, reduction, data, indices, more = {}) {
  return row(`scatter ${name}`, "scatterND", data, indices, { reduction, ...more });
}

/**
 * Returns the row with smaller first axes. The number of hot cells does not change.
 * @param {GpuRow} row
 * @param {number} scale
 * @returns {GpuRow}
 */
export function scaledRow(row, scale) {
  const shrink = ([first, ...rest]) => [Math.max(1, Math.ceil(first * scale)), ...rest];
  const data = row.data.length === 1 ? row.data : shrink(row.data);
  return { ...row, data, indices: shrink(row.indices) };
}

export const isScatter = ({ op }) => op.startsWith("scatter");

/** Returns the options of the library's call. */
export function optionsOf({ op, reduction, axis }) {
  return {
    ...(isScatter({ op }) ? { reduction } : {}),
    ...(op.endsWith("Elements") || op === "gather" ? { axis } : {}),
  };
}

const product = (shape) => shape.reduce((size, dim) => size * dim, 1);

/** @returns {readonly number[]} the shape of the updates of a scatter, and of the output of a gather */
export function sequentialShape({ op, data, indices, axis = 0 }) {
  if (op.endsWith("Elements")) return indices;
  if (op === "gather") return [...data.slice(0, axis), ...indices, ...data.slice(axis + 1)];
  return [...indices.slice(0, -1), ...data.slice(indices.at(-1))];
}

/** Shapes by input and output of a row's call. */
export function shapesOf(row) {
  const sequential = sequentialShape(row);
  const { data, indices } = row;
  return { data, indices, sequential, output: isScatter(row) ? data : sequential };
}

/** @typedef {{ data: Float32Array | Int32Array, indices: BigInt64Array, updates: Float32Array | Int32Array | null }} GpuInputs */

/**
 * Returns the tensors of a row: always the same for the same row and scale.
 * @param {GpuRow} row
 * @returns {GpuInputs}
 */
export function gpuInputsOf(row) {
  const bits = randomBits(seedOf(row.name));
  const data = values(row.dtype, product(row.data), bits);
  const updates = isScatter(row) ? values(row.dtype, product(sequentialShape(row)), bits) : null;
  return { data, indices: indicesOf(row, bits), updates };
}

/** Returns floats in [-1, 1), integers of 20 bits. */
function values(dtype, size, bits) {
  if (dtype === "int32") return Int32Array.from({ length: size }, () => (bits() | 0) >> 12);
  return Float32Array.from({ length: size }, () => bits() / 2 ** 31 - 1);
}

function indicesOf(row, bits) {
  const size = product(row.indices);
  // Indices are written as pairs of 32-bit words, the low word first, which is much faster than writing bigints.
  const words = new Int32Array(2 * size);
  const limits = limitsOf(row);
  for (let p = 0; p < size; p++) words[2 * p] = below(bits, limits[p % limits.length]);
  if (row.fill === "heads") {
    // One position of each head of each batch.
    for (let head = 0; head < size / 3; head++) {
      words[6 * head] = Math.floor(head / row.data[1]);
      words[6 * head + 2] = head % row.data[1];
    }
  }
  if (row.fill === "distinct") {
    const order = Uint32Array.from({ length: row.data[0] }, (_, p) => p);
    for (let p = 0; p < size; p++) {
      const other = p + below(bits, order.length - p);
      [order[p], order[other]] = [order[other], order[p]];
      words[2 * p] = order[p];
    }
  }
  return new BigInt64Array(words.buffer);
}

/** Returns the dimensions that the components of an index tuple address. */
function limitsOf({ op, data, indices, axis = 0 }) {
  return op.endsWith("ND") ? data.slice(0, indices.at(-1)) : [data[axis]];
}
