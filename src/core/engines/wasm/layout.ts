/** The position of a Plan's offsets in a WebAssembly memory. Kept Plans keep their layout there. */

/** The slices of each batch, given by their offsets. */
export interface Slices {
  /** The address of the offsets. */
  readonly offsets: number;
  readonly slice: number;
  readonly count: number;
  /** As in Plan: two positions share a target only if they are equal modulo `lanes`. */
  readonly lanes: number;
}

/** The position and form of a Plan's offsets in memory. */
export interface Layout {
  /** The slices to work on: few and long where runs were merged. Merged runs may overlap in part. */
  readonly slices: Slices;
  /**
   * The slices of the Plan before merging, any two equal or disjoint, if {@link slices} may overlap; otherwise null.
   */
  readonly unmerged: Slices | null;
}
