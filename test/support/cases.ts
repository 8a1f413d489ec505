/**
 * The number of random cases in a suite: a sixteenth in every runtime and browser, because each commit
 * draws new ones, and all of them every night, in Node, by `test/nightly/random-cases.test.ts`.
 */

/** True if suites have all of their cases. */
export const HAS_ALL = typeof process !== "undefined" && process.env["CASES"] === "all";

/** A sixteenth or another part of a list, chosen by `turn`, or all of it in the slow tests. */
export const caseList = <T>(all: readonly T[], turn: number, parts = 16): readonly T[] =>
  HAS_ALL ? all : all.filter((_, at) => (at + turn) % parts === 0);

/**
 * @param all the number in the slow tests
 * @param parts the part of them that other runs have, as its divisor
 */
export const caseCount = (all: number, parts = 16): number =>
  HAS_ALL ? all : Math.ceil(all / parts);
