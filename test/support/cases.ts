/**
 * The number of random cases in a suite: a quarter in every runtime and browser, and all of them once, in Node, by
 * `test/nightly/random-cases.test.ts`.
 */

const HAS_ALL = typeof process !== "undefined" && process.env["CASES"] === "all";

/** A quarter of a list, chosen by `turn`, or all of it in the slow tests. */
export const caseList = <T>(all: readonly T[], turn: number): readonly T[] =>
  HAS_ALL ? all : all.filter((_, at) => (at + turn) % 4 === 0);

/** @param all the number in the slow tests */
export const caseCount = (all: number): number => (HAS_ALL ? all : Math.ceil(all / 4));
