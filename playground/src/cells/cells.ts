/** Text, target colour, tab and error message of each cell. */

/** Each list has one entry per element of the tensor. */
export interface Cells {
  readonly values: readonly string[];
  /** Target colours. An element without a colour has -1; the array is empty if no element has a colour. */
  readonly tints: Int8Array;
  /** For data and a scatter's output, the number of updates that reach each element; null for other tensors. */
  readonly hits: Uint32Array | null;
  /** The places that indices name, such as `→3`. */
  readonly tabs: ReadonlyMap<number, string>;
  /** The error message of each element. */
  readonly faults: ReadonlyMap<number, string>;
  /** Another system's values, for elements where they differ from the exact values. */
  readonly others: ReadonlyMap<number, string>;
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map();

export const NOTHING_SAID = {
  tints: new Int8Array(0),
  hits: null,
  tabs: NO_TEXTS,
  faults: NO_TEXTS,
  others: NO_TEXTS,
} as const;
