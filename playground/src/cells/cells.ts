/** The contents of a tensor's cells: text, target colour, letter and error. */

/** The contents of a tensor's cells. Each list has one entry per element. */
export interface Cells {
  readonly values: readonly string[];
  /** Target colours; -1 if an element has no colour, or an empty array if no element has a colour. */
  readonly tints: Int8Array;
  /** The number of updates that reach each element of data or of a scatter's output; null for other tensors. */
  readonly hits: Uint32Array | null;
  readonly letters: ReadonlyMap<number, string>;
  /** The positive equivalents of negative indices, by element. */
  readonly notes: ReadonlyMap<number, string>;
  /** Error messages, by element. */
  readonly faults: ReadonlyMap<number, string>;
  /** Another system's results, for the elements where they differ. */
  readonly others: ReadonlyMap<number, string>;
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map();

/** Cells without marks, which show only their values. */
export const NOTHING_SAID = {
  tints: new Int8Array(0),
  hits: null,
  letters: NO_TEXTS,
  notes: NO_TEXTS,
  faults: NO_TEXTS,
  others: NO_TEXTS,
} as const;
