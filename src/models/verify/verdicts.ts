/** The verdicts on a node of a model in the user's runtime. */

/**
 * Each verdict with its meaning, from best to worst.
 *
 * @example
 * ```ts
 * VERDICTS.equal; // "every bit of the result is exact"
 * ```
 */
export const VERDICTS = Object.freeze({
  "not-run":
    "it is in a branch or an iteration that did not run, or in a body of another operator than If, Loop and Scan",
  equal: "every bit of the result is exact",
  near: "floats differ by no more than the tolerance",
  "nan-or-zero":
    "it differs only in which NaN, or in the sign of a zero, in which runtimes are known to differ",
  behind: "the runtime failed at an earlier node, so the inputs of this one are not known",
  differs: "a value is wrong",
  wrong:
    "by the specification of the operator the call is an error, whatever the runtime makes of it",
  failed: "the runtime has no result, though nothing wrong is known of the call",
} as const);

/** The verdict on a node: a key of {@link VERDICTS}. */
export type Verdict = keyof typeof VERDICTS;

const NAMES = Object.keys(VERDICTS);

export const isWorse = (a: Verdict, b: Verdict): boolean => NAMES.indexOf(a) > NAMES.indexOf(b);
