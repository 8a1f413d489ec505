/** Compiles and runs the calls of `docs/frameworks.md`. The peers run the calls of the frameworks. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMEWORK_INPUTS, FRAMEWORK_ROWS, printResult } from "../support/frameworks.ts";
import { programsOf, runProgram } from "../support/snippets.ts";

const [imports, ...inputs] = FRAMEWORK_INPUTS.split("\n");

/** The declarations that a call uses. */
const inputsOf = (call: string): string => {
  const words = new Set(call.match(/\w+/g));
  return inputs.filter((line) => words.has(/^const (\w+)/.exec(line)?.[1] ?? "")).join("\n");
};

// Each call gets new inputs, because some calls change them.
const program = [
  imports,
  "const show = ({ shape, data }: { shape: readonly number[]; data: ArrayLike<unknown> }) =>",
  "  console.log(JSON.stringify([shape, Array.from(data, String)]));",
  ...FRAMEWORK_ROWS.map(({ ours }) => `{\n${inputsOf(ours)}\nshow(${ours});\n}`),
].join("\n");

const folders = programsOf("frameworks", () => [program]);

test("the calls of docs/frameworks.md compile, and return what the page says", () => {
  const printed = runProgram(folders().get(program) ?? "")
    .trimEnd()
    .split("\n")
    .map((line) => printResult(...(JSON.parse(line) as [number[], string[]])));
  assert.deepEqual(
    FRAMEWORK_ROWS.map(({ framework, name }, at) => `${framework}, ${name}: ${printed[at]}`),
    FRAMEWORK_ROWS.map(({ framework, name, result }) => `${framework}, ${name}: ${result}`),
  );
});

test("a call that changes its data in a framework changes it here", () => {
  for (const { name, theirs, ours } of FRAMEWORK_ROWS) {
    const isInPlace = /_\(|\.at\(| = |^np\.put/.test(theirs.replace("inplace=False", ""));
    assert.equal(ours.includes("out: m"), isInPlace, name);
  }
});
