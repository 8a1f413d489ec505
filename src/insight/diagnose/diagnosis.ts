/** Defines diagnoses: possible faults of runtimes, with stable ids. */

import type { DialectId } from "./dialect-table.ts";

/**
 * The ids of possible faults of a runtime; `docs/other-systems.md` explains each id. Equally good explanations are listed in
 * this order. The union `DiagnosisId` is derived from this list.
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

/** Id of a possible fault: an element of {@link DIAGNOSES}. */
export type DiagnosisId = Extract<(typeof DIAGNOSES)[number], string>;

/** Ids of two faults, both of which are needed to explain a result. */
export type DiagnosisPair = Extract<`${DiagnosisId}+${DiagnosisId}`, string>;

/** An explanation of a result that differs from the exact result. */
export interface Diagnosis {
  /** The apparent fault of the runtime; two ids if two faults are needed to explain the cells. */
  readonly id: DiagnosisId | DiagnosisPair;
  /** A sentence that describes the fault in this call. */
  readonly sentence: string;
  /**
   * The number of output elements that differ, and the number of those that the fault explains. The explanation is
   * partial if fewer elements are explained than differ.
   */
  readonly cells: { readonly explained: number; readonly differing: number };
  /** Ids of the rows of `dialects()` that are known to have this fault. */
  readonly dialects: readonly DialectId[];
}
