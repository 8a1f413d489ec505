/**
 * The sentences of errors as prose: `test/fixtures/sentences.txt` holds each sentence that `npm test` provokes, once, by
 * code. A test asserts the code and the fields of an error, and reports the sentence here; the runner compares all
 * reports with the file in one test. `UPDATE=1 npm test` rewrites the file, and a person reads the difference.
 *
 * Without the runner, which sets `SENTENCES`, reports are ignored: in browsers, and in Bun and Deno.
 */

import assert from "node:assert/strict";

/** A folder for reports; `strict` fails at once, for tools that run one file without the runner. */
const REPORTS = typeof process === "undefined" ? undefined : process.env["SENTENCES"];

/** Text that differs between two runs, and its replacement in the file. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [
    /(?:\.\.(?:\/\.\.)*)?(?:\/private)?\/(?:var\/folders\/[\w/]+|dev\/shm|tmp)\/[\w.-]*?-[A-Za-z\d]{6}(?=[/\s'",:;)]|$)/g,
    "TMP",
  ],
  [/\b(127\.0\.0\.1|localhost):\d+/g, "$1:PORT"],
  // The words of zlib differ between versions of Node.
  [/(coded with (?:gzip|zlib)): .*/g, "$1: REASON"],
  [/(?<=job |\.npy\.|\.ndscatter\/)[\da-f]{16}(?:-\d+-[\da-f]{12})?\b/g, "ID"],
  [/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, "ID"],
];

const reports = new Set<string>();

/** A line of the file. */
export const lineOf = (code: string, sentence: string): string =>
  VARIABLE.reduce(
    (text, [pattern, word]) => text.replaceAll(pattern, word),
    `${code}: ${sentence}`,
  );

/** Reports the sentence of an error: one line without a full stop, which may end with a text that was cut: `"x"...`. */
export function reportSentence(code: string, sentence: string): void {
  assert.doesNotMatch(sentence, /(?<!"\.\.)\.$|\n/);
  const line = lineOf(code, sentence);
  if (REPORTS === undefined || reports.has(line)) return;
  if (REPORTS === "strict")
    assert.ok(known.has(line), `test/fixtures/sentences.txt lacks: ${line}`);
  reports.add(line);
  if (reports.size === 1) process.once("exit", () => writeReports(REPORTS));
}

const named = new Map<string, string>();

/**
 * Reports a sentence without fields, such as a reason. The test gives the sentence a name instead: within a test file, a
 * name has one sentence, and different names have different sentences.
 */
export function reportNamed(kind: string, name: string, sentence: string): void {
  reportSentence(kind, sentence);
  named.set(`${kind} ${name}`, named.get(`${kind} ${name}`) ?? sentence);
  const names = [...named].filter(([, one]) => one === sentence).map(([one]) => one);
  assert.deepEqual(names, [`${kind} ${name}`], sentence);
}

// Browsers have no files.
const fs = REPORTS === undefined ? null : await import("node:fs");

const FILE = new URL("../../../test/fixtures/sentences.txt", import.meta.url);
const known = new Set(REPORTS === "strict" ? fs?.readFileSync(FILE, "utf8").split("\n") : []);

function writeReports(folder: string): void {
  if (folder !== "strict")
    fs?.writeFileSync(`${folder}/${process.pid}.txt`, [...reports].join("\n"));
}
