/** Where the offsets of a Plan are in a WebAssembly memory. Plans that their user keeps keep their layout there. */

/** Slices of each batch, by their offsets. */
export interface Slices {
  /** The address of the offsets. */
  readonly offsets: number;
  readonly slice: number;
  readonly count: number;
  /** As in Plan: two positions share a target only if they are equal modulo `lanes`. */
  readonly lanes: number;
}

/** Where the offsets of a Plan are. */
export interface Layout {
  /** The slices to work on: few and long where runs were merged. Merged runs may overlap in part. */
  readonly slices: Slices;
  /** The slices of the Plan, of which any two are equal or disjoint, where {@link slices} may overlap; else null. */
  readonly unmerged: Slices | null;
}
