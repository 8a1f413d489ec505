/** Rules for what the package and its command print: sentences of errors, transcripts and help texts. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { ADVICE } from "../../src/cli/advice.ts";
import { ERROR_CODES } from "../../src/core/errors.ts";
import { commandsIn } from "../support/cli.ts";
import { ndscatter, read, ROOT } from "../support/documents.ts";

/** Forbidden patterns, with advice on what to write instead. A reader must check what patterns cannot find. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\b(is|are|be) no (?!longer\b|more\b)/, "say what it must be, and what it is"],
  [/\b[Tt]here (is|are|must)\b/, "begin with the subject"],
  [
    /\b(rooms?|doors?|met|meets?|told|tells|of the family|to be had|as far as|but for)\b/,
    "use the field's own word",
  ],
  [/-?\d\.\.\.?-?\d/, 'write a range as "-4 to 3"'],
  [/\[object /, "name the value"],
  [
    /(?<![-.,\d[]|- |axis |axes |opset |rank )\b1 (?:[a-z]+ )?(?:axes|bytes|characters|chunks|dimensions|elements|entries|files|indices|inputs|nodes|numbers|outputs|parts|positions|sizes|slices|tasks|tensors|types|updates|values|workers)\b/,
    "use printCount",
  ],
];

/** Texts in which a forbidden pattern is what a user types. */
const TYPED = /--range|ids=0\.\.999/;

/** Codes for which the command has no advice, with the reason. */
const WITHOUT_ADVICE: readonly string[] = [
  // The command has no option that forbids repeated targets.
  "duplicate-index",
  // The command passes no output memory; a job says itself which array to copy.
  "overlap",
  // The command keeps its tensors until it ends.
  "disposed",
];

const SENTENCES = read("test/fixtures/sentences.txt").trimEnd().split("\n");

/** What the command prints to stderr in transcripts. */
const TRANSCRIPTS = fs
  .readdirSync(path.join(ROOT, "test/cli"))
  .filter((file) => file.endsWith(".txt"))
  .flatMap((file) => [...read(`test/cli/${file}`).matchAll(/^! ndscatter: (.*)$/gm)])
  .map(([, sentence]) => sentence);

/** The advice that a text needs, if it breaks a rule. Quotes are words of the user or of a file. */
function brokenBy(text: string): string[] {
  const own = text.replaceAll(/"[^"]*"/g, '""');
  return TYPED.test(text)
    ? []
    : FORBIDDEN.flatMap(([rule, advice]) => (rule.test(own) ? [advice] : []));
}

/** The texts that break a rule, each with advice. */
const broken = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => brokenBy(text).map((advice) => `${text} -> ${advice}`));

for (const text of [
  "data is no tensor",
  "There are two of them",
  "the rooms of a house",
  "the updates met their targets",
  "the rank must be in -4..3",
  "an operator of the family",
  "the index, got [object Object]",
]) {
  test(`a rule is broken by: ${text}`, () => assert.equal(broken([text]).length, 1));
}

for (const text of [
  "the output is an input; give another output",
  "the memory is no longer available",
  "indices[0] is 4, but axis 0 of data [4] takes -4 to 3",
]) {
  test(`no rule is broken by: ${text}`, () => assert.deepEqual(broken([text]), []));
}

test("sentences of errors follow the rules", () => assert.deepEqual(broken(SENTENCES), []));

test("transcripts follow the rules", () => {
  assert.ok(TRANSCRIPTS.length > 200, `${TRANSCRIPTS.length} sentences`);
  assert.deepEqual(broken(TRANSCRIPTS), []);
});

test("help texts follow the rules", async () => {
  const { stdout } = await ndscatter("help");
  const helps = await Promise.all(
    commandsIn(stdout).map(async (name) => (await ndscatter(`help ${name}`)).stdout),
  );
  assert.deepEqual(broken([stdout, ...helps].flatMap((help) => help.split("\n"))), []);
});

test("every code of an error has a sentence, and advice of the command unless it needs none", () => {
  const codes = new Set(SENTENCES.map((line) => line.slice(0, line.indexOf(":"))));
  for (const code of Object.keys(ERROR_CODES)) assert.ok(codes.has(code), code);
  const none = Object.entries(ADVICE).flatMap(([code, advice]) => (advice === null ? [code] : []));
  assert.deepEqual(none.toSorted(), WITHOUT_ADVICE.toSorted());
});
