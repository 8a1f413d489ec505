/**
 * Combines a block's updates of the same target before writing, if the result stays bit-identical. The block then
 * stores only the last update, the maximum, the minimum, or the sum or product of integers. Float sums are never
 * combined, because they are rounded after each step. Maxima that return one of their operands are not combined either,
 * because NaNs among the updates would change the result.
 */

import { stepOf, type Reducing } from "../../../core/call/steps.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { DTYPES, type DType } from "../../../core/tensor/dtype.ts";

/** The entries of a block with distinct targets, and the later updates of the same targets. */
export interface CombinedEntries {
  readonly rows: Uint32Array;
  /** The first entry of each fragment. */
  readonly starts: Uint32Array;
  /** The positions in the block whose updates are kept. */
  readonly positions: Uint32Array;
  /** The positions of later updates in order, and the entries with which these updates are combined. */
  readonly later: { readonly entries: Uint32Array; readonly positions: Uint32Array };
}

/** Returns true if updates may be grouped arbitrarily as long as their order is kept. */
export function isAssociative(dtype: DType, reducing: Reducing): boolean {
  const { reduction } = reducing;
  if (reduction === "none") return true;
  if (reduction === "max" || reduction === "min") return stepOf(reducing, dtype) === reduction;
  const { family } = DTYPES[dtype];
  return (reduction === "add" || reduction === "mul") && (family === "int" || family === "int64");
}

/**
 * `rows` contains the row of each entry, by fragment and then in the order of the updates. `chunkRows` is the number of
 * rows in a chunk. Returns null if combining is not worthwhile.
 */
export function combineEntries(
  rows: Uint32Array,
  starts: Uint32Array,
  positions: Uint32Array,
  chunkRows: number,
  keepsLast: boolean,
): CombinedEntries | null {
  if (chunkRows > CHUNKED.rows) return null;
  /** One number per row: the number of the row's entry plus one, or 0 without an entry. */
  const entryOf = new Uint32Array(chunkRows);
  const kept = { rows: new Uint32Array(rows.length), positions: new Uint32Array(rows.length) };
  const later = { entries: new Uint32Array(rows.length), positions: new Uint32Array(rows.length) };
  const keptStarts = new Uint32Array(starts.length);
  let count = 0;
  let repeated = 0;
  for (let fragment = 0; fragment + 1 < starts.length; fragment++) {
    const end = starts[fragment + 1];
    for (let p = starts[fragment]; p < end; p++) {
      const row = rows[p];
      const entry = entryOf[row];
      if (entry === 0) {
        kept.rows[count] = row;
        kept.positions[count] = positions[p];
        entryOf[row] = ++count;
      } else {
        if (keepsLast) kept.positions[entry - 1] = positions[p];
        later.entries[repeated] = entry - 1;
        later.positions[repeated++] = positions[p];
      }
    }
    for (let p = starts[fragment]; p < end; p++) entryOf[rows[p]] = 0;
    keptStarts[fragment + 1] = count;
  }
  if (repeated * CHUNKED.share < rows.length || repeated === 0) return null;
  const combined = keepsLast ? 0 : repeated;
  return {
    rows: kept.rows.subarray(0, count),
    starts: keptStarts,
    positions: kept.positions.subarray(0, count),
    later: {
      entries: later.entries.subarray(0, combined),
      positions: later.positions.subarray(0, combined),
    },
  };
}
