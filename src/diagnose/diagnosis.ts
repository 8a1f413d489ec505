/** The types of a diagnosis, and what each id means. */

import type { DialectId } from "./dialects.ts";

/**
 * What a runtime may have done, with its meaning. Equally good explanations are listed in this order. The union
 * `DiagnosisId` is derived from this table.
 */
export const DIAGNOSES = Object.freeze({
  "not-applied": "no update was applied, or no element was read",
  "first-wins": "of several updates of one target the first one stays, not the last",
  "other-reduction": "another reduction was used, such as `none` for a word that is not known",
  "without-self": "the reduction began with the first update, not with the value of data",
  "updates-first": "updates were combined with each other before they met data",
  "other-axis": "another axis was used",
  "batch-zero": "the indices of the first batch were used for all batches",
  "other-batch-dims": "another batch_dims was used to find elements",
  "other-operator": "another operator was run, such as ScatterElements for ScatterND",
  "out-of-range-clipped": "indices outside their axis were taken for the nearest place",
  "out-of-range-dropped": "updates with an index outside its axis were left out",
  "out-of-range-filled": "elements of a gather with an index outside its axis are 0 or NaN",
  "indices-truncated": "indices were cut to their low 32 bits",
  "flat-offset":
    "an index outside its axis reached another row: only the offset in the whole tensor counted",
  "other-mode": "the mode was circular, not linear",
  "negative-dropped": "updates or elements with a negative index were left out",
  "negative-clamped": "negative indices were taken for 0",
  "negative-counted": "negative indices were counted from another place, or where they are errors",
  "negative-refused": "the call ended at a negative index, or was not done at all",
  "transposed-input": "an input was read with its axes in another order",
  "wide-accumulation": "sums were kept in a wider float type and rounded once",
  "signed-zero": "0 and -0 were taken for equal",
  "nan-one-operand": "a max or min with NaN gave one operand, not NaN",
  "subnormals-flushed": "floats below the least normal one were taken for 0",
  "any-order": "of several updates of one target any one stays",
  rounding: "the cells are right within the rounding errors of another order of the updates",
  "lost-updates": "some of several updates of one target were lost",
} as const);

export type DiagnosisId = keyof typeof DIAGNOSES;

/** One explanation of a result that is not the exact one. */
export interface Diagnosis {
  /** What the runtime seems to have done; two ids where it takes two to explain the cells. */
  readonly id: DiagnosisId | `${DiagnosisId}+${DiagnosisId}`;
  /** The same as a sentence, with the facts of this call. */
  readonly sentence: string;
  /**
   * Of the `differing` cells, those that have the explained value. Both count elements of the output. Fewer explained
   * than differing: the explanation is partial.
   */
  readonly cells: { readonly explained: number; readonly differing: number };
  /** The rows of `dialects()` that are known to do this. */
  readonly dialects: readonly DialectId[];
}
