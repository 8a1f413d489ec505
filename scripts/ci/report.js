/** Counts of tests and descriptions of failures, from the output of a part. */

const CLOSING = /^(?:passed|failed): .*?(\d+) tests passed, (\d+) failed, (\d+) skipped/gm;
const NODE = /^(?:#|ℹ) (pass|fail|skipped) (\d+)$/gm;
const SKIPPED = /^skipped: [^:\n]*: (?:there is no |npm cannot ).*$/gm;

/** Most lines of failures that are printed again. */
const MOST = 400;

/**
 * Counts the tests in the output of our runners and of Node's. A part that fails without a failed test counts as one.
 * @param status exit status; null if the part was stopped
 */
export function countsOf(output, status) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed, skipped] of output.matchAll(CLOSING)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
    counts.skipped += Number(skipped);
  }
  const names = { pass: "passed", fail: "failed", skipped: "skipped" };
  for (const [, name, count] of output.matchAll(NODE)) counts[names[name]] += Number(count);
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** Returns the closing line of each runtime, or the reason why it was skipped. */
export const runtimesOf = (output) => [
  ...(output.match(/^(?:passed|failed): .*$/gm) ?? []),
  ...(output.match(SKIPPED) ?? []),
];

/**
 * Returns the lines that describe failures: of our runners, between `failure:` and `end of failure`; of Node's, as TAP
 * or after `failing tests:`; and of browsers, which print a line for each test. A part without any has its last lines.
 */
export function failuresOf(output, status) {
  const lines = [];
  let [isOurs, isTap, isSpec, left] = [false, false, false, 0];
  for (const line of output.split("\n")) {
    if (line.startsWith("failure: ")) isOurs = true;
    if (/^ *not ok /.test(line)) isTap = true;
    if (!isOurs && line.startsWith("✖ failing tests:")) isSpec = true;
    if (line.includes(": FAILED: ")) left = 15;
    if (isOurs || isTap || isSpec || left-- > 0) lines.push(line);
    if (line === "end of failure") isOurs = false;
    if (/^ *\.\.\.$/.test(line)) isTap = false;
  }
  const all = lines.length > 0 || status === 0 ? lines : output.trimEnd().split("\n").slice(-30);
  return all.slice(0, MOST);
}

const plain = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** Returns a table of parts, and the sum of their counts as the last line. */
export function table(results) {
  const minutes = (seconds) => `${(seconds / 60).toFixed(1).padStart(6)} min`;
  const width = Math.max(...results.map(({ name }) => name.length));
  const rows = results.map(
    ({ name, counts, wall, processor, isKept }) =>
      `${name.padEnd(width)} ${minutes(wall)} wall ${minutes(processor)} processor  ${plain(counts)}` +
      (isKept ? ", of an earlier run" : ""),
  );
  const sum = (pick) => results.reduce((total, result) => total + pick(result), 0);
  const counts = Object.fromEntries(
    ["passed", "failed", "skipped"].map((key) => [key, sum((result) => result.counts[key])]),
  );
  return {
    rows,
    last: plain(counts),
    failed: counts.failed,
    processor: sum((one) => one.processor),
  };
}
