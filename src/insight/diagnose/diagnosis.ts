/** Defines diagnoses, which are possible runtime faults with stable ids. */

import type { DialectId } from "./dialect-table.ts";

/**
 * The ids of possible runtime faults. The file `docs/other-systems.md` explains each id. Explanations of equal quality
 * are listed in this order. The type `DiagnosisId` is the union of these ids.
 *
 * @example
 * ```ts
 * DIAGNOSES.includes("first-wins"); // true
 * ```
 */
export const DIAGNOSES = /* @__PURE__ */ Object.freeze([
  "whole-ignored",
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
  "first-of-slice",
  "negative-dropped",
  "negative-clamped",
  "negative-counted",
  "negative-refused",
  "indices-from-one",
  "transposed-input",
  "other-type",
  "mean-truncated",
  "wrong-rounding",
  "wide-accumulation",
  "signed-zero",
  "nan-one-operand",
  "subnormals-flushed",
  "any-order",
  "rounding",
  "lost-updates",
] as const);

/** The id of a possible fault, which is an element of `DIAGNOSES`. */
export type DiagnosisId = Extract<(typeof DIAGNOSES)[number], string>;

/** The ids of two faults that together explain a result. */
export type DiagnosisPair = Extract<`${DiagnosisId}+${DiagnosisId}`, string>;

/** An explanation for a result that differs from the exact result. */
export interface Diagnosis {
  /** The id of the runtime's probable fault, or two ids if two faults are needed to explain the cells. */
  readonly id: DiagnosisId | DiagnosisPair;
  /** A sentence that describes the fault in this call. */
  readonly sentence: string;
  /**
   * The number of differing output elements, and how many of them the fault explains. The explanation is partial if the
   * fault explains fewer elements than differ.
   */
  readonly cells: { readonly explained: number; readonly differing: number };
  /** The ids of dialects that are known to have this fault. */
  readonly dialects: readonly DialectId[];
}
