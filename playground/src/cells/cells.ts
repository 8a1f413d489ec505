/** The content of a tensor's cells, by element: texts, colours of targets, letters and errors. */

/** The content of a tensor's cells. Lists have an entry for each element. */
export interface Cells {
  readonly values: readonly string[];
  /** The colours of targets; -1 for none, or an empty array if no element has one. */
  readonly tints: Int8Array;
  /** The number of updates that reach each element of data or of a scatter's output; null for other tensors. */
  readonly hits: Uint32Array | null;
  readonly letters: ReadonlyMap<number, string>;
  /** The value of each negative index, counted from the front. */
  readonly notes: ReadonlyMap<number, string>;
  /** The errors of elements. */
  readonly faults: ReadonlyMap<number, string>;
  /** Results of another system for the elements where it differs. */
  readonly others: ReadonlyMap<number, string>;
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map();

/** Cells with values only. */
export const NOTHING_SAID = {
  tints: new Int8Array(0),
  hits: null,
  letters: NO_TEXTS,
  notes: NO_TEXTS,
  faults: NO_TEXTS,
  others: NO_TEXTS,
} as const;
