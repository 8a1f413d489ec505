/** Prints progress, a line for each mutant, a table of the areas, and the survivors with their changes. */

const { stdout } = process;

/** Milliseconds between two lines of progress if the output is a file. */
const PAUSE = 10_000;
let shown = 0;

const CLEAR = stdout.isTTY ? "\r\u001b[K" : "";

/** Prints a line that the next line replaces. */
export function progress(text) {
  if (stdout.isTTY) stdout.write(CLEAR + text.slice(0, stdout.columns - 1));
  else if (performance.now() - shown > PAUSE) stdout.write(`${text}\n`);
  else return;
  shown = performance.now();
}

/** Prints a line that stays. */
export function say(text) {
  stdout.write(`${CLEAR}${text}\n`);
}

const placeOf = ({ file, line }) => `${file}:${line}`;

/** Prints a mutant and its verdict. */
export function printVerdict(verdict, position, total) {
  const { area, noticed } = verdict;
  const number = String(position).padStart(String(total).length);
  const result = noticed ? `noticed by ${noticed.name} (${noticed.failure})` : "SURVIVED";
  say(`[${number}/${total}] ${area}  ${placeOf(verdict)}  ${verdict.change}  ${result}`);
}

/** The survivors: each with its line before and after, and the test files that ran its code. */
export function printSurvivors(verdicts, sources) {
  for (const verdict of verdicts.filter(({ noticed }) => noticed === null)) {
    const { text } = sources.find(({ file }) => file === verdict.file);
    const { ran, leftOut } = verdict;
    say(`\nsurvived: ${placeOf(verdict)} (${verdict.kind})`);
    for (const line of changedLines(text, verdict)) say(`  ${line}`);
    say(`  reached by ${ran.join(", ") || "no test"}`);
    if (leftOut.length > 0) say(`  not run, because they are slow: ${leftOut.join(", ")}`);
  }
}

function changedLines(text, { start, end, after }) {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const next = text.indexOf("\n", end);
  const to = next < 0 ? text.length : next;
  const before = text.slice(from, to).split("\n");
  const now = (text.slice(from, start) + after + text.slice(end, to)).split("\n");
  return [...before.map((line) => `- ${line}`), ...now.map((line) => `+ ${line}`)];
}

/**
 * Prints the number of noticed mutants of each area.
 * @returns true if the share was at least `enough` in every area
 */
export function printSummary(verdicts, enough) {
  const areas = new Map();
  for (const { area, noticed } of verdicts) {
    const sums = areas.get(area) ?? { noticed: 0, survived: 0 };
    sums[noticed ? "noticed" : "survived"]++;
    areas.set(area, sums);
  }
  say(`\n${row("area", "noticed", "survived", "")}`);
  let isEnough = true;
  for (const [area, { noticed, survived }] of areas) {
    const part = noticed / (noticed + survived);
    if (part < enough) isEnough = false;
    const percentage = `${Math.floor(100 * part)} %${part < enough ? "  too few" : ""}`;
    say(row(area, noticed, survived, percentage));
  }
  return isEnough;
}

function row(area, noticed, survived, percentage) {
  const numbers = [noticed, survived].map((one) => String(one).padStart(9)).join("");
  return `${area.padEnd(12)}${numbers}  ${percentage}`.trimEnd();
}
