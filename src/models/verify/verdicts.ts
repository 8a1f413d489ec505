/** The verdicts on a node in the user's runtime, and the comparison of a result with the exact result. */

import { printScalar } from "../../core/tensor/print.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { coordinatesOf, printShape, sameShape } from "../../core/tensor/shape.ts";
import { differenceAt } from "../../core/tensor/compare.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/**
 * The verdicts with their meanings, from best to worst.
 *
 * @example
 * ```ts
 * VERDICTS.equal; // "every bit of the result is exact"
 * ```
 */
export const VERDICTS = Object.freeze({
  "not-run": "the node did not run, or is in a body of an operator other than If, Loop and Scan",
  equal: "every bit of the result is exact",
  near: "floats differ, but not by more than the tolerance",
  "nan-or-zero":
    "the result differs only in the bits of a NaN or in the sign of a zero, which also vary between other runtimes",
  behind: "the inputs are unknown, because the runtime failed at an earlier node",
  differs: "a value of the result is wrong",
  wrong:
    "the call is an error according to the specification, whether or not the runtime returns a result",
  failed: "the runtime returned no result, although the call appears to be valid",
} as const);

/** The verdict on a node, which is a key of {@link VERDICTS}. */
export type Verdict = Extract<keyof typeof VERDICTS, string>;

const NAMES = Object.keys(VERDICTS);

export const isWorse = (a: Verdict, b: Verdict): boolean => NAMES.indexOf(a) > NAMES.indexOf(b);

export type Likeness = Extract<Verdict, "equal" | "near" | "nan-or-zero" | "differs">;

export interface Comparison {
  readonly verdict: Likeness;
  /** The first element with this verdict; null if all elements are equal, or if data types or shapes differ. */
  readonly at: readonly number[] | null;
  readonly sentence: string;
}

/** Compares all elements. For near floats, `tolerance` is the maximum difference relative to the larger magnitude. */
export function compare(actual: Tensor, exact: Tensor, tolerance: number): Comparison {
  if (actual.dtype !== exact.dtype || !sameShape(actual.shape, exact.shape)) {
    const [is, not] = [actual, exact].map(({ dtype, shape }) => `${dtype}${printShape(shape)}`);
    return { verdict: "differs", at: null, sentence: ` is ${is}, expected ${not}` };
  }
  const first = differenceAt(actual, exact);
  if (first === -1) return { verdict: "equal", at: null, sentence: "" };
  const [a, b] = [reader(actual.dtype, actual.data), reader(exact.dtype, exact.data)];
  // If only the bits differ, both elements are NaN.
  let [verdict, found]: [Likeness, number] = ["nan-or-zero", first];
  let isFound = false;
  const isFloat = exact.dtype.includes("float");
  for (let position = 0; position < exact.size && verdict !== "differs"; position++) {
    const kind = compareElements(a(position), b(position), isFloat ? tolerance : 0);
    if (kind === "equal" || (isFound && !isWorse(kind, verdict))) continue;
    [verdict, found, isFound] = [kind, position, true];
  }
  const at = coordinatesOf(found, exact.shape);
  return { verdict, at, sentence: sentenceAt(actual, exact, found) };
}

/** Describes one element of two tensors with the same type. */
export function sentenceAt(actual: Tensor, exact: Tensor, position: number): string {
  const [is, not] = [actual, exact].map(({ dtype, data }) =>
    printScalar(dtype, reader(dtype, data)(position)),
  );
  return `${printShape(coordinatesOf(position, exact.shape))} is ${is}, expected ${not}`;
}

function compareElements(a: unknown, b: unknown, tolerance: number): Likeness {
  if (Object.is(a, b)) return "equal";
  if (typeof a !== "number" || typeof b !== "number") return a === b ? "equal" : "differs";
  // The numbers 0 and -0 differ only in sign.
  if (a === b) return "nan-or-zero";
  // An infinity is near only to the same infinity.
  const isNear = Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  return isNear && Number.isFinite(a) && Number.isFinite(b) ? "near" : "differs";
}
