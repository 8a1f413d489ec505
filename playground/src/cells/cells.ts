/** What the cells of a tensor show: texts, colours of targets, letters and errors, by element. */

/** What the cells of a tensor show. Lists have an entry for each element. */
export interface Cells {
  readonly values: readonly string[];
  /** The colours of targets; -1, or nothing at all, for none. */
  readonly tints: Int8Array;
  /** For each element of data and of a scatter's output how many updates meet it; null for other tensors. */
  readonly hits: Uint32Array | null;
  readonly letters: ReadonlyMap<number, string>;
  /** For each negative index its value counted from the front. */
  readonly notes: ReadonlyMap<number, string>;
  /** The errors of elements. */
  readonly faults: ReadonlyMap<number, string>;
  /** The elements that another system gives otherwise, with what it gives. */
  readonly others: ReadonlyMap<number, string>;
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map();

/** Cells without anything but values. */
export const NOTHING_SAID = {
  tints: new Int8Array(0),
  hits: null,
  letters: NO_TEXTS,
  notes: NO_TEXTS,
  faults: NO_TEXTS,
  others: NO_TEXTS,
} as const;
