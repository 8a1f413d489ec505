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

// Files run one by one, and these stand before and after the tests of their file.
export const before = (run: Body): void => test("before all", run);
export const after = (run: Body): void => test("after all", run);

/** The tests that were collected since the last call. */
export const takeTests = (): CollectedTest[] => tests.splice(0);
