/** What a pasted text is; and texts that somebody made to hang the page. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readState } from "../../src/document/read-state.ts";
import { readText } from "../../src/reading/read-text.ts";
import { SUM } from "../support/states.ts";
import { anyText } from "../support/any-text.ts";

const summaryOf = (found: Awaited<ReturnType<typeof readText>>): string =>
  "error" in found
    ? "refused"
    : [
        ...found.choices.map((one) => (one.kind === "node" ? "call" : `array ${one.title}`)),
        ...(found.tensors ?? []).map(({ name }) => name),
      ].join(", ");

// prettier-ignore
const ROWS: readonly (readonly [text: string, summary: string])[] = [
  ["[[1, 2], [3, 4]]", "array "],
  ["indices = np.array([[1], [2]])", "array indices"],
  ["1 2\n3 4", "array "],
  ["x = np.array([0, 1, 2])\ni = np.array([1])", "x, i"],
  ["array([1, 2])\narray([[0], [1]])", "array 1, array 2"],
  ["print(np.array([1, 2]))", "array array 1"],
  [`#${SUM}`, "call"],
  [`https://example.org/play/#${SUM}`, "call"],
  ["#ai.onnx/ScatterND/18;nothing", "refused"],
  ["x = [1, 2,", "refused"],
  ["hello world, this is no program", "refused"],
  ["np.take([0, 1, 2], [0])", "call"],
  ["np.take([0, 1, 2], [0])\nnp.take([0, 1, 2], [2])", "refused"],
];

for (const [text, summary] of ROWS) {
  test(`text: ${text.slice(0, 50)}`, async () => {
    const found = await readText(text);
    assert.equal(summaryOf(found), summary);
    // An array is read again as the input for which it is chosen.
    const isOne =
      summary.startsWith("array") && !summary.startsWith("array array") && !summary.includes(",");
    assert.equal("text" in found, isOne);
  });
}

test("a text that is not read is answered with the reason, and with what is read", async () => {
  for (const [text, sentence] of [
    [
      "y = np.sort([1])",
      /^The text is not read: line 1, column 5: np\.sort\(\[1\]\) is not a call that is read\. The page reads one call of NumPy/,
    ],
    [
      // A column of more numbers than the page shows is no list of arrays to choose from.
      Array.from({ length: 30_000 }, (_, n) => n % 7).join("\n"),
      /^The text is not read: it has 30,000 arrays/,
    ],
  ] as const) {
    const found = await readText(text);
    assert.ok("error" in found);
    assert.match(found.error, sentence);
  }
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
        const found = await readText(text);
        if ("error" in found) return;
        for (const choice of found.choices) if (choice.kind === "node") readState(choice.state);
        assert.notEqual(summaryOf(found), "");
      },
    ),
    { numRuns: 500 },
  );
});
