/** A diagnosis: what a runtime may have done, by an id that stays. */

import type { DialectId } from "./dialect-table.ts";

/**
 * What a runtime may have done; `docs/diagnose.md` says what each id means. Equally good explanations are listed in this
 * order. The union `DiagnosisId` is derived from this list.
 */
export const DIAGNOSES = /* @__PURE__ */ Object.freeze([
  "not-applied",
  "first-wins",
  "other-reduction",
  "without-self",
  "updates-first",
  "zeros-for-data",
  "other-axis",
  "batch-zero",
  "other-batch-dims",
  "other-operator",
  "swapped-coordinates",
  "out-of-range-clipped",
  "out-of-range-dropped",
  "out-of-range-filled",
  "indices-truncated",
  "flat-offset",
  "other-mode",
  "negative-dropped",
  "negative-clamped",
  "negative-counted",
  "negative-refused",
  "indices-from-one",
  "transposed-input",
  "wide-accumulation",
  "signed-zero",
  "nan-one-operand",
  "subnormals-flushed",
  "any-order",
  "rounding",
  "lost-updates",
] as const);

export type DiagnosisId = (typeof DIAGNOSES)[number];

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
