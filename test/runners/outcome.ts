/** The results of tests in one runtime: counts, and the closing line that `.ci/run` collects. */

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 };

export const sumOf = (counts: readonly Counts[]): Counts =>
  counts.reduce(
    (sum, { passed, failed, skipped }) => ({
      passed: sum.passed + passed,
      failed: sum.failed + failed,
      skipped: sum.skipped + skipped,
    }),
    NOTHING,
  );

/** Returns true if the tests passed. A runtime that ran no test has failed. */
const isGood = ({ passed, failed }: Counts): boolean => failed === 0 && passed > 0;

/** Prints the closing line of a runtime, and makes the process fail unless its tests passed. */
export function close(runtime: string, counts: Counts, time: string): void {
  const { passed, failed, skipped } = counts;
  const word = isGood(counts) ? "passed" : "failed";
  console.log(
    `${word}: ${runtime}: ${passed} tests passed, ${failed} failed, ${skipped} skipped, in ${time}`,
  );
  if (!isGood(counts)) process.exitCode = 1;
}

/** Prints that a runtime is missing, with the reason. */
export const closeUnavailable = (runtime: string, reason: string): void =>
  console.log(`skipped: ${runtime}: ${reason}`);

export const seconds = (value: number): string => `${value.toFixed(1)} s`;

/** The time since a `performance.now()`. */
export const secondsSince = (start: number): string => seconds((performance.now() - start) / 1000);

/** Returns a line for each reason for which tests of a file were skipped. */
export function skippedLines(tests: readonly { name: string; reason: string }[]): string[] {
  const names = new Map<string, string[]>();
  for (const { name, reason } of tests) {
    names.set(reason, [...(names.get(reason) ?? []), name]);
  }
  return [...names].map(([reason, [first, ...rest]]) => {
    const which = rest.length === 0 ? first : `${rest.length + 1} tests`;
    return `skipped: ${which}${reason === "" ? "" : `: ${reason}`}`;
  });
}
