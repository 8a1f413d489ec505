/** As much of `node:test` as the suite uses, for browsers: tests are collected here, and run by `suite.ts`. */

interface Options {
  /** Why it is not run here; false where it is. */
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

/** Files run one by one, so what comes after all tests of a file is its last test. */
export function after(run: Body): void {
  test("after all", run);
}

/** The tests that were collected since the last call. */
export const takeTests = (): CollectedTest[] => tests.splice(0);
