/**
 * Updates of one target within a block, combined before they are written, where that changes no bit: the last one of them
 * where there is no reduction, and their maximum, minimum, or sum or product of integers. A sum of floats is rounded after
 * each step, so those are never combined.
 */

import { CHUNKED } from "../../../core/limits.ts";
import { DTYPES, type DType, type Reduction } from "../../../core/tensor/dtype.ts";

/** The entries of a block that share no target, and those that are combined with them before. */
export interface CombinedEntries {
  readonly rows: Uint32Array;
  /** For each fragment, where its entries begin. */
  readonly starts: Uint32Array;
  /** The positions in the block whose updates are taken. */
  readonly positions: Uint32Array;
  /** The positions of further updates, and the entries with which they are combined, one after the other. */
  readonly later: { readonly entries: Uint32Array; readonly positions: Uint32Array };
}

/** Whether updates may be combined with each other in any groups, as long as their order is kept. */
export function isAssociative(dtype: DType, reduction: Reduction): boolean {
  if (reduction === "none" || reduction === "max" || reduction === "min") return true;
  const { family } = DTYPES[dtype];
  return (reduction === "add" || reduction === "mul") && (family === "int" || family === "int64");
}

/**
 * @param rows of the entries, by fragment, those of one fragment in the order of the updates
 * @param chunkRows how many rows a chunk has
 * @returns null where it is not worth it
 */
export function combineEntries(
  rows: Uint32Array,
  starts: Uint32Array,
  positions: Uint32Array,
  chunkRows: number,
  keepsLast: boolean,
): CombinedEntries | null {
  if (chunkRows > CHUNKED.rows) return null;
  /** For each row of the chunk its entry plus one, or 0 where it has none yet. */
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
