/** The workloads, one per row, and the tensors of a row, which are drawn from a seed. */

import { below, randomBits, seedOf } from "./random.js";

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {"scatterND" | "scatterElements" | "gatherND" | "gather" | "gatherElements"} op
 * @property {"float32" | "int64" | "float16"} dtype of data; indices are int64
 * @property {"none" | "add" | "max"} [reduction] of scatters
 * @property {number} [axis] of scatterElements and gatherElements; gather uses axis 0
 * @property {number} [batchDims] of gatherND
 * @property {readonly number[]} data shape
 * @property {readonly number[]} indices shape
 * @property {"random" | "distinct" | "uniform rows" | "heads" | "tokens"} fill the way to draw the indices
 * @property {boolean} [inPlace] a scatter that writes few elements into many: judged, and compared with C++, with `out
 * === data`
 * @property {boolean} [fixed] true if `--scale` leaves the row unchanged
 */

/** @type {readonly Workload[]} */
export const WORKLOADS = [
  nd("scatterND rows none", "none", [100_000, 128], [50_000, 1], { fill: "distinct" }),
  nd("scatterND rows add", "add", [100_000, 128], [200_000, 1]),
  nd("scatterND rows max", "max", [100_000, 128], [200_000, 1]),
  nd("scatterND scalars add", "add", [1024, 1024], [1_000_000, 2]),
  nd("scatterND scalars max", "max", [1024, 1024], [1_000_000, 2]),
  nd("scatterND scalars add int64", "add", [1024, 1024], [1_000_000, 2], { dtype: "int64" }),
  nd("scatterND rows add float16", "add", [100_000, 128], [200_000, 1], { dtype: "float16" }),
  elements("scatterElements axis 0 add", 0, "add", [4096, 1024], [1024, 1024]),
  elements("scatterElements axis 1 add", 1, "add", [1024, 4096], [1024, 1024]),
  elements("scatterElements axis 1 none", 1, "none", [1024, 4096], [1024, 1024]),
  elements("scatterElements row-uniform add", 0, "add", [100_000, 128], [200_000, 128], {
    fill: "uniform rows",
  }),
  nd("scatterND openvino example 5", "none", [1000, 256, 10, 15], [25, 125, 3]),
  gather("gatherND rows", [100_000, 128], [200_000, 1]),
  gather("gatherND scalars", [2048, 2048], [2_000_000, 2]),
  gather("gatherND batched", [64, 4096, 64], [64, 1024, 1], { batchDims: 1 }),
  nd("kv-cache append", "none", [8, 32, 4096, 64], [8, 32, 3], { fill: "heads", inPlace: true }),
  nd("tiny", "none", [8], [4, 1], { fixed: true }),
];

/** @returns {Workload} */
export function nd(name, reduction, data, indices, more = {}) {
  return {
    name,
    op: "scatterND",
    dtype: "float32",
    reduction,
    data,
    indices,
    fill: "random",
    ...more,
  };
}

/** @returns {Workload} */
export function elements(name, axis, reduction, data, indices, more = {}) {
  return { ...nd(name, reduction, data, indices, more), op: "scatterElements", axis };
}

/** @returns {Workload} */
export function gather(name, data, indices, more = {}) {
  return {
    name,
    op: "gatherND",
    dtype: "float32",
    batchDims: 0,
    data,
    indices,
    fill: "random",
    ...more,
  };
}

/**
 * Returns the row with smaller first axes, so that the benchmark can be tried in seconds.
 * @param {Workload} row
 * @param {number} scale
 * @returns {Workload}
 */
export function scaled(row, scale) {
  if (scale === 1 || row.fixed) return row;
  const shrink = ([first, ...rest]) => [Math.max(1, Math.ceil(first * scale)), ...rest];
  return { ...row, data: shrink(row.data), indices: shrink(row.indices) };
}

export const isScatter = (/** @type {Workload} */ row) => row.op.startsWith("scatter");

/** True for the operators whose indices are numbers along one axis instead of tuples. */
const hasAxis = (/** @type {Workload} */ { op }) => op === "gather" || op.endsWith("Elements");

/** Returns the options of a row's call of the library. */
export function optionsOf(/** @type {Workload} */ { op, reduction, axis = 0, batchDims }) {
  if (op === "gatherND") return { batchDims };
  if (op === "scatterND") return { reduction };
  return op === "scatterElements" ? { reduction, axis } : { axis };
}

const product = (shape) => shape.reduce((size, dim) => size * dim, 1);

/** @param {Workload} row @returns {readonly number[]} shape of the updates of a scatter, of the output of a gather */
function sequentialShape({ op, data, indices, batchDims = 0 }) {
  if (op.endsWith("Elements")) return indices;
  if (op === "gather") return [...indices, ...data.slice(1)];
  return [
    ...indices.slice(0, -1),
    ...data.slice(batchDims + /** @type {number} */ (indices.at(-1))),
  ];
}

const BYTES = { float32: 4, int64: 8, float16: 2 };

/**
 * Returns the number of updates (or of gathered slices) of a row, and the bytes of its tensors.
 *
 * `moved` counts the bytes that any implementation must move: the indices once; the updates once; each target, which is
 * written, and read first by a reduction; gathered slices, which are read and written; and `data`, which is copied
 * unless the row is in place.
 * @param {Workload} row
 */
export function weights(row) {
  const bytes = BYTES[row.dtype];
  const data = product(row.data) * bytes;
  const sequential = product(sequentialShape(row)) * bytes;
  const indices = product(row.indices) * 8;
  const count = product(row.indices) / (hasAxis(row) ? 1 : row.indices.at(-1));
  const output = isScatter(row) ? data : sequential;
  const inputs = data + indices + (isScatter(row) ? sequential : 0);
  const passes = !isScatter(row) || row.reduction === "none" ? 2 : 3;
  const copied = isScatter(row) && !row.inPlace ? 2 * data : 0;
  return { count, inputs, output, data, moved: indices + passes * sequential + copied };
}

/**
 * @typedef {Float32Array | BigInt64Array | Uint16Array} Values
 * @typedef {Record<"data" | "indices" | "sequential" | "output", readonly number[]>} Shapes
 * @typedef {{ data: Values, indices: BigInt64Array, updates: Values | null, shapes: Shapes }} Inputs
 */

/**
 * Returns the tensors of a row: always the same for the same row and scale.
 * @param {Workload} row
 * @returns {Inputs}
 */
export function inputsOf(row) {
  const bits = randomBits(seedOf(row.name));
  const sequential = sequentialShape(row);
  return {
    data: values(row.dtype, product(row.data), bits),
    indices: indicesOf(row, bits),
    updates: isScatter(row) ? values(row.dtype, product(sequential), bits) : null,
    shapes: {
      data: row.data,
      indices: row.indices,
      sequential,
      output: isScatter(row) ? row.data : sequential,
    },
  };
}

/** @returns {Values} floats in [-1, 1) (float16: as bits, of 0.125 to 1 in size), integers of 20 bits */
function values(dtype, size, bits) {
  if (dtype === "float16") {
    const half = new Uint16Array(size);
    for (let p = 0; p < size; p++) {
      const random = bits();
      half[p] = ((random & 1) << 15) | (0x3000 + ((random >>> 8) % 0xc00));
    }
    return half;
  }
  if (dtype === "int64") {
    const words = new Int32Array(2 * size);
    for (let p = 0; p < size; p++) {
      words[2 * p] = (bits() | 0) >> 12;
      words[2 * p + 1] = words[2 * p] >> 31;
    }
    return new BigInt64Array(words.buffer);
  }
  const floats = new Float32Array(size);
  for (let p = 0; p < size; p++) floats[p] = bits() / 2 ** 31 - 1;
  return floats;
}

/** @param {Workload} row */
function indicesOf(row, bits) {
  const { data, indices: shape, fill, axis = 0, batchDims = 0 } = row;
  const size = product(shape);
  // Indices are written as pairs of 32-bit words, the low word first, which is a hundred times faster than writing
  // bigints.
  const words = new Int32Array(2 * size);
  if (fill === "distinct") {
    const order = Uint32Array.from({ length: data[0] }, (_, p) => p);
    for (let p = 0; p < size; p++) {
      const other = p + below(bits, order.length - p);
      [order[p], order[other]] = [order[other], order[p]];
      words[2 * p] = order[p];
    }
  } else if (fill === "uniform rows") {
    for (let p = 0; p < size; p++) {
      words[2 * p] = p % shape[1] === 0 ? below(bits, data[axis]) : words[2 * p - 2];
    }
  } else if (fill === "heads") {
    for (let head = 0; head < size / 3; head++) {
      words[6 * head] = Math.floor(head / data[1]);
      words[6 * head + 2] = head % data[1];
      words[6 * head + 4] = below(bits, data[2]);
    }
  } else if (fill === "tokens") {
    for (let token = 0; token < size / 2; token++) {
      words[4 * token] = token;
      words[4 * token + 2] = below(bits, data[1]);
    }
  } else {
    const length = hasAxis(row) ? 1 : /** @type {number} */ (shape.at(-1));
    for (let p = 0; p < size; p++) {
      const limit = hasAxis(row) ? data[axis] : data[batchDims + (p % length)];
      words[2 * p] = below(bits, limit);
    }
  }
  return new BigInt64Array(words.buffer);
}
