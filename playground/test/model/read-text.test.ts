/** What a pasted text is; and texts that somebody made to hang the page. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readState } from "../../src/document/read-state.ts";
import { readText } from "../../src/reading/read-text.ts";
import { SUM } from "../support/states.ts";
import { anyText } from "../support/any-text.ts";

type Row = readonly [text: string, choices: number, tensors: readonly string[], isRead: boolean];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["[[1, 2], [3, 4]]", 0, [""], true],
  ["indices = np.array([[1], [2]])", 0, ["indices"], true],
  ["1 2\n3 4", 0, [""], true],
  ["x = np.array([0, 1, 2])\ni = np.array([1])", 0, ["x", "i"], true],
  ["array([1, 2])\narray([[0], [1]])", 0, ["array 1", "array 2"], true],
  [`#${SUM}`, 1, [], true],
  [`https://example.org/play/#${SUM}`, 1, [], true],
  ["#ai.onnx/ScatterND/18;nothing", 0, [], false],
  ["x = [1, 2,", 0, [], false],
  ["hello world, this is no program", 0, [], false],
  ["np.take([0, 1, 2], [0])", 1, [], true],
  ["np.take([0, 1, 2], [0])\nnp.take([0, 1, 2], [2])", 0, [], false],
];

for (const [text, choices, tensors, isRead] of ROWS) {
  test(`text: ${text.slice(0, 50)}`, async () => {
    const content = await readText(text);
    assert.equal(content.choices.length, choices);
    assert.deepEqual(
      content.tensors.map(({ name }) => name),
      tensors,
    );
    assert.equal(content.error === null, isRead, content.error ?? "");
  });
}

test("a text that is not read is answered with the reason, and with what is read", async () => {
  const { error } = await readText("y = np.sort([1])");
  assert.match(
    error ?? "",
    /^line 1, column 5: np\.sort\(\[1\]\) is not a call that is read\. The page reads one call of NumPy/,
  );
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
  ["digits", repeated("1")],
  ["colons", `x[${repeated(":")}]`],
  ["methods", `x.at${repeated("[i].at")}`],
  ["objects", `x = {${repeated("a: 1,")}}`],
  ["a message", `updates shape: {${repeated("1,")}`],
  ["ranges", `idx=${repeated("1")}`],
] as const) {
  // Each takes less than a second; quadratic time would be hours, and the limit of the whole run ends it.
  test(`a text of 1.9 million characters, of ${name} only, is read`, async () => {
    assert.ok(Object.keys(await readText(text)).length > 0);
  });
}

test("no text throws, and every call of it is a state", async () => {
  const pieces = fc.constantFrom(
    ..."x y = == ( ) [ ] { } , : . - + * @ ' \" # \n \\ 1 2.5 -1 None".split(" "),
    ...'array dtype= ... Float32Array np.array( torch.gather( x.at [i] .add( .set( tf.gather( helper.make_node( "ScatterND" run( dtype=np.int64 axis=1 new '.split(
      " ",
    ),
    "x = np.array([[0, 0], [0, 0]])\n",
    "i = np.array([[1], [0]])\n",
    "x[i] = x\n",
    "x[i] += 1\n",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        anyText(),
        fc.array(pieces).map((all) => all.join("")),
        fc.array(pieces).map((all) => all.join(" ")),
      ),
      async (text) => {
        const { choices, tensors, error } = await readText(text);
        for (const choice of choices) if (choice.kind === "node") readState(choice.state);
        assert.ok(choices.length + tensors.length > 0 !== (error !== null));
      },
    ),
    { numRuns: 500 },
  );
});

test("a column of more numbers than the page shows is no list of arrays to choose from", async () => {
  const found = await readText(Array.from({ length: 30_000 }, (_, n) => n % 7).join("\n"));
  assert.deepEqual(found.tensors, []);
  assert.match(found.error ?? "", /^it has 30,000 arrays/);
});
