/** The sentences that can be printed: the script finds them in sources, and each of them follows the rules. */

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ADVICE } from "../../src/cli/advice.ts";
import { ERROR_CODES } from "../../src/core/errors.ts";

interface Sentence {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly text: string;
}

interface Script {
  readonly messages: () => readonly Sentence[];
}

interface Collector {
  readonly collect: (sources: ReadonlyMap<string, string>) => readonly Sentence[];
}

interface Rules {
  readonly NEEDS_NO_ADVICE: Readonly<Record<string, string>>;
  readonly broken: (sentence: Pick<Sentence, "file" | "code" | "text">) => readonly string[];
}

const scripts = path.join(fileURLToPath(new URL("../../..", import.meta.url)), "scripts");
const { messages }: Script = await import(path.join(scripts, "messages.js"));
const { collect }: Collector = await import(path.join(scripts, "messages/collect.js"));
const { NEEDS_NO_ADVICE, broken }: Rules = await import(path.join(scripts, "messages/check.js"));

const all = messages();

const found = (code: string): readonly string[] =>
  collect(new Map([["src/a.ts", code]])).map((one) => `${one.code}: ${one.text}`);

const ROWS: readonly (readonly [what: string, code: string, sentences: readonly string[]])[] = [
  ["a literal", 'throw new TensorError("rank", "a rank is wrong");', ["rank: a rank is wrong"]],
  [
    "a template",
    "throw malformed(`the file has ${bytes.length} bytes`);",
    ["malformed-file: the file has ${bytes.length} bytes"],
  ],
  [
    "both branches of a condition, here of the code too",
    'throw new TensorError(a ? "axis" : "rank", `it is ${b ? "too large" : "too small"} here`);',
    [
      "axis: it is too large here",
      "axis: it is too small here",
      "rank: it is too large here",
      "rank: it is too small here",
    ],
  ],
  [
    "a constant, and a text in two parts",
    'function f(x) { const why = "because of this"; throw wrongUsage(`${x} is refused, ` + why); }',
    ["usage: ${x} is refused, because of this"],
  ],
  [
    "what a helper's callers say",
    "const fail = (name, what) => wrongData(`${name} ${what}`);\n" +
      'fail(a, "must be a file"); fail(b, "must be a folder");',
    ["data: ${a} must be a file", "data: ${b} must be a folder"],
  ],
  [
    "what a function returns, and what passes through one",
    'const why = (x) => { if (x) return "one of them"; return "both of them"; };\n' +
      "throw wrongData(escapeControls(`it takes ${why(a)}`));",
    ["data: it takes one of them", "data: it takes both of them"],
  ],
  [
    "help and notes",
    'program.description("Run an operator.");\nprintNote(io, "this was done before");',
    ["help: Run an operator.", "note: this was done before"],
  ],
  [
    "other text, if it is prose",
    'const a = "a-word"; const b = { sentence: "one of these words" };',
    ["text: one of these words"],
  ],
];

for (const [what, code, sentences] of ROWS) {
  test(`the script finds ${what}`, () => assert.deepEqual(found(code), sentences));
}

test("a helper of another file is followed", () => {
  const sources = new Map([
    ["src/fail.ts", 'export const fail = (what) => new TensorError("engine", `it ${what}`);'],
    ["src/sub/a.ts", 'import { fail } from "../fail.ts"; throw fail("has ended too early");'],
  ]);
  assert.deepEqual(
    collect(sources).map(({ file, code, text }) => [file, code, text]),
    [["src/sub/a.ts", "engine", "it has ended too early"]],
  );
});

for (const [code, text] of [
  ["dtype", "data is no tensor"],
  ["text", "There are two of them"],
  ["engine", "the rooms of a house"],
  ["text", "the updates met their targets"],
  ["rank", "the rank must be in -4..3"],
  ["text", "an operator of the family"],
  ["text", "the index, got undefined"],
  ["usage", "the output would replace an input"],
  ["data", "the model has other operators"],
] as const) {
  test(`a rule is broken by ${code}: ${text}`, () => {
    assert.equal(broken({ file: "src/a.ts", code, text }).length, 1);
  });
}

for (const [code, text] of [
  ["usage", "the output is an input; give another output"],
  ["usage", "--threads takes a positive integer, got 0"],
  ["data", 'the model has no dimension "n"; did you mean N?'],
  ["index-out-of-range", "indices[0] is 4, but axis 0 of data [4] takes -4 to 3"],
] as const) {
  test(`no rule is broken by ${code}: ${text}`, () => {
    assert.deepEqual(broken({ file: "src/a.ts", code, text }), []);
  });
}

test("every sentence follows the rules: node scripts/messages.js --broken lists those that do not", () => {
  const wrong = all.flatMap((one) => {
    const rules = broken(one);
    return rules.length === 0 ? [] : [`${one.file}:${one.line} ${one.text} -> ${rules.join(", ")}`];
  });
  assert.deepEqual(wrong, []);
});

test("every code has a sentence, and advice of the command or a reason why it needs none", () => {
  const codes = new Set(all.map(({ code }) => code));
  for (const code of [...Object.keys(ERROR_CODES), "usage", "data", "note", "help"])
    assert.ok(codes.has(code), code);
  for (const [code, advice] of Object.entries(ADVICE))
    assert.notEqual(advice === null, NEEDS_NO_ADVICE[code] === undefined, code);
});

test("no error of the sources escapes the script", () => {
  const files = new Set(all.map(({ file }) => file));
  // Some of those with errors, and of each kind of folder.
  for (const file of ["core/plan/bounds", "arrays/npy/header", "models/onnx/tensor", "cli/io"])
    assert.equal(files.has(`src/${file}.ts`), file !== "cli/io", file);
  assert.ok(all.length > 1500, `${all.length} sentences`);
});
