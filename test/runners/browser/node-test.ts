/** The part of `node:test` that the suite uses, for browsers: it collects tests, and `suite.ts` runs them. */

interface Options {
  /** Why the test is not run here; false where it is. */
  readonly skip?: string | false;
}

interface Context {
  diagnostic(message: string): void;
}

type Body = (context: Context) => unknown;

export interface CollectedTest {
  readonly name: string;
  readonly skip: string | false;
  readonly run: Body;
}

const tests: CollectedTest[] = [];

export function test(name: string, ...rest: [Body] | [Options, Body]): void {
  const [{ skip = false }, run] = rest.length === 1 ? [{} as Options, ...rest] : rest;
  tests.push({ name, skip, run });
}

// Files run one by one, and hooks stand before and after the tests of their file, wherever they are in it.
const hooks: Record<"before" | "after", CollectedTest[]> = { before: [], after: [] };
export const before = (run: Body): void =>
  void hooks.before.push({ name: "before all", skip: false, run });
export const after = (run: Body): void =>
  void hooks.after.push({ name: "after all", skip: false, run });

// Only files that are left out of browsers use these two: such files are bundled first, to see what they import.
const missing = (): never => {
  throw new Error("the tests of browsers have no describe and no beforeEach");
};
export { missing as beforeEach, missing as describe };

/** The tests that were collected since the last call, with their hooks around them. */
export const takeTests = (): CollectedTest[] =>
  [hooks.before, tests, hooks.after].flatMap((list) => list.splice(0));
