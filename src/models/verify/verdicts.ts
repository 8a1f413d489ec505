/** The verdicts on a node in the user's runtime. */

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
