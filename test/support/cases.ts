/**
 * The number of random cases in a suite: an eighth in every runtime and browser, and all of them once, in Node, by
 * `test/nightly/random-cases.test.ts`.
 */

const HAS_ALL = typeof process !== "undefined" && process.env["CASES"] === "all";

/** An eighth or another part of a list, chosen by `turn`, or all of it in the slow tests. */
export const caseList = <T>(all: readonly T[], turn: number, parts = 8): readonly T[] =>
  HAS_ALL ? all : all.filter((_, at) => (at + turn) % parts === 0);

/**
 * @param all the number in the slow tests
 * @param parts the part of them that other runs have, as its divisor
 */
export const caseCount = (all: number, parts = 8): number =>
  HAS_ALL ? all : Math.ceil(all / parts);
