/**
 * Describes where a Plan's offsets are in a WebAssembly memory, and in which form. The layouts of kept Plans stay in
 * the memory.
 */

/** Slices of each batch, described by their offsets. */
export interface Slices {
  /** Address of the offsets in memory. */
  readonly offsets: number;
  readonly slice: number;
  readonly count: number;
  /** Number such that two positions share a target only if they are equal modulo `lanes`, as in a Plan. */
  readonly lanes: number;
}

/** Position and form of a Plan's offsets in memory. */
export interface Layout {
  /** Slices to work on, which are fewer and longer if runs were merged. Merged runs may partly overlap. */
  readonly slices: Slices;
  /**
   * Slices of the Plan before merging, any two of which are equal or disjoint; null unless `slices` may partly
   * overlap.
   */
  readonly unmerged: Slices | null;
}
