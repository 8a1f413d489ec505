/** The least number of bytes that any implementation of a call must move. */

import { isScatter, sequentialShape } from "./workloads.js";

const WORD = 4;

const product = (shape) => shape.reduce((size, dim) => size * dim, 1);

/** Returns the bytes of a row's updates or output, and of the elements of data that its indices reach. */
function bytesOf(row, indices) {
  const moved = product(sequentialShape(row)) * WORD;
  const positions = row.op.endsWith("ND")
    ? product(row.indices.slice(0, -1))
    : product(row.indices);
  const hit = (moved / positions) * distinctTargets(row, indices);
  return { moved, hit, data: product(row.data) * WORD };
}

/**
 * Returns the least bytes of a call, for any implementation: each byte that it needs is read once, and each byte of the
 * result that does not exist yet is written once. A scatter that is not in place writes all of its result.
 * @param {import("./workloads.js").GpuRow} row
 * @param {BigInt64Array} indices not negative
 */
export function leastBytes(row, indices) {
  const { moved, hit, data } = bytesOf(row, indices);
  const read = indices.byteLength;
  if (!isScatter(row)) return read + hit + moved;
  const updates = row.reduction === "none" ? 0 : moved;
  return read + updates + 2 * (row.inPlace ? hit : data);
}

/** Returns the number of distinct slices of data that indices reach. */
function distinctTargets({ op, data, indices: shape, axis = 0 }, indices) {
  const hit = new Uint8Array(product(data));
  const words = new Int32Array(indices.buffer, indices.byteOffset, 2 * indices.length);
  if (op.endsWith("ND")) {
    const length = shape.at(-1);
    for (let p = 0; p < indices.length; p += length) {
      let target = 0;
      for (let k = 0; k < length; k++) target = target * data[k] + words[2 * (p + k)];
      hit[target] = 1;
    }
  } else {
    const columns = product(shape.slice(axis + 1));
    const stride = product(data.slice(axis + 1));
    const rows = shape[axis] * columns;
    for (let p = 0; p < indices.length; p++) {
      const outer = Math.floor(p / rows) * data[axis];
      hit[(outer + words[2 * p]) * stride + (p % columns)] = 1;
    }
  }
  return hit.reduce((sum, one) => sum + one, 0);
}
