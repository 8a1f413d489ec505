/** What a pasted text is; and texts that somebody made to hang the page. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readState } from "../../src/document/read-state.ts";
import { fromHash } from "../../src/document/hash.ts";
import { placeOf, readText } from "../../src/reading/read-text.ts";
import { SUM } from "../support/states.ts";
import { anyText } from "../support/any-text.ts";

const found = fromHash(SUM);
assert.ok("state" in found);
const BASE = found.state;

type Row = readonly [text: string, choices: number, tensors: readonly string[], marks: number];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["[[1, 2], [3, 4]]", 0, [""], 0],
  ["indices = np.array([[1], [2]])", 0, ["indices"], 0],
  ["1 2\n3 4", 0, [""], 0],
  ["x = np.arange(3)\ni = np.array([1])", 0, ["x", "i"], 0],
  ["array([1, 2])\narray([[0], [1]])", 0, ["array 1", "array 2"], 0],
  [`#${SUM}`, 1, [], 0],
  [`https://example.org/play/#${SUM}`, 1, [], 0],
  ["#ai.onnx/ScatterND/18;nothing", 0, [], 1],
  ["x = [1, 2,", 0, [], 1],
  ["hello world, this is no program", 0, [], 1],
  ["np.take(np.arange(3), [0])\nnp.take(np.arange(3), [2])", 2, [], 0],
];

for (const [text, choices, tensors, marks] of ROWS) {
  test(`text: ${text.slice(0, 50)}`, () => {
    const content = readText(text, BASE);
    assert.equal(content.choices.length, choices);
    assert.deepEqual(
      content.tensors.map(({ name }) => name),
      tensors,
    );
    assert.equal(content.marks.length, marks);
  });
}

test("lines and columns begin at 1", () => {
  const text = "ab\ncd\n\ne";
  assert.deepEqual(
    [0, 1, 3, 4, 7].map((at) => placeOf(text, at)),
    [
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 2, column: 1 },
      { line: 2, column: 2 },
      { line: 4, column: 1 },
    ],
  );
});

test("later lines go on with the output of a call", () => {
  const { choices } = readText(
    "x = torch.zeros(2)\ny = x.scatter(0, torch.tensor([1]), torch.tensor([5.]))\nz = torch.gather(y, 0, torch.tensor([1, 1]))",
    BASE,
  );
  assert.equal(choices.length, 2);
  const last = choices.at(-1);
  assert.ok(last?.kind === "node");
  assert.deepEqual(last.state.inputs[0]?.values, ["0", "5"]);
});

const LONG = 1_900_000;
const repeated = (text: string): string => text.repeat(Math.floor(LONG / text.length));

for (const [name, text] of [
  ["brackets", repeated("[")],
  ["pairs of brackets", repeated("[]")],
  ["assignments", repeated("a=")],
  ["names", repeated("x\n")],
  ["dots", `x${repeated(".a")}`],
  ["calls", `x = f${repeated("()")}`],
  ["sums", `x = 1${repeated("+1")}`],
  ["signs", `x = ${repeated("-")}1`],
  ["new", `x = ${repeated("new ")}`],
  ["commas", `x = (${repeated("1,")})`],
  ["lines", repeated("\n")],
  ["blanks", `x${repeated(" ")}= 1`],
  ["comments", repeated("# a\n")],
  ["slashes", repeated("/")],
  ["quotes", repeated("'")],
  ["backslashes", `'${repeated("\\")}`],
  ["open comments", repeated("/*")],
  ["loops", repeated("for i in x:\n")],
  ["digits", repeated("1")],
  ["zeros of one name", `x = np.zeros(20000)\n${repeated("y = [x, x, x]\n")}`],
  ["copies", `x = np.zeros(20000)\n${repeated("x = x.T\n")}`],
  [
    "calls that copy",
    `x = np.zeros(20000)\ni = np.arange(20000)\n${repeated("x = x[i]\n").slice(0, 20_000)}`,
  ],
  ["colons", `x[${repeated(":")}]`],
  ["a header", `# ndscatter: ai.onnx/ScatterND/18${repeated(";a=b")}`],
  ["a message", `updates shape: {${repeated("1,")}`],
  ["ranges", `idx=${repeated("1")}`],
  ["prompts", repeated(">>> ")],
] as const) {
  // Each takes less than a second; quadratic time would be hours, and the limit of the whole run ends it.
  test(`a text of 1.9 million characters, of ${name} only, is read`, () => {
    assert.ok(Object.keys(readText(text, BASE)).length > 0);
  });
}

test("no text throws, and every call of it is a state", () => {
  const pieces = fc.constantFrom(
    ..."x y = == ( ) [ ] { } , : . - + * @ ' \" # \n \\ 1 2.5 -1 None".split(" "),
    ...'np.array torch.gather x.at [i] .add( .set( tf.gather( np.take( helper.make_node( "ScatterND" run( dtype=np.int64 axis=1 for in def return : np.add.at( lambda \n \n    \n>>> '.split(
      " ",
    ),
    "x = np.zeros((2, 2))\n",
    "i = np.array([[1], [0]])\n",
    "np.zeros(",
    "x[i] = x\n",
    "x[i] += 1\n",
    "for at in np.ndindex(i.shape[:-1]):\n    x[tuple(i[at])] = x[at]\n",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        anyText(),
        fc.array(pieces).map((all) => all.join("")),
        fc.array(pieces).map((all) => all.join(" ")),
      ),
      (text) => {
        const { choices, marks } = readText(text, BASE);
        for (const choice of choices) if (choice.kind === "node") readState(choice.state);
        for (const { start, end } of marks) assert.ok(start >= 0 && end > start);
      },
    ),
    { numRuns: 500 },
  );
});

test("a column of more numbers than the page shows is no list of arrays to choose from", () => {
  const found = readText(Array.from({ length: 30_000 }, (_, n) => n % 7).join("\n"), BASE);
  assert.deepEqual(found.tensors, []);
  assert.match(found.marks[0].sentence, /^the text contains 30,000 arrays/);
});
