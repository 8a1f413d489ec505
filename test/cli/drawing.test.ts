/** `ndscatter explain`: where pictures, lists and texts are cut, and how they use the terminal. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { full, tensor, zeros, type Tensor } from "../../src/entries/index.ts";
import { makeFolder, type Surroundings } from "../support/cli.ts";

const { ndscatter, save } = makeFolder();

const vector = (length: number): Tensor => tensor("int32", [length], range(length));
const range = (length: number): number[] => Array.from({ length }, (_, position) => position);
const column = (...values: number[]): Tensor => tensor("int64", [values.length, 1], values);

/** What explain prints of a call of `op` with these inputs, in their order. */
async function explained(
  op: string,
  inputs: readonly Tensor[],
  surroundings: Surroundings & { readonly options?: string } = {},
): Promise<string> {
  const names = inputs.map((input, position) => {
    const name = `in${position}.${input.dtype === "string" ? "pb" : "npy"}`;
    save(name, input);
    return name;
  });
  const { options = "", ...rest } = surroundings;
  const line = ["explain", op, ...names, options].filter((word) => word !== "").join(" ");
  return (await ndscatter(line, rest)).stdout;
}

/** A GatherND of the first element. */
const drawn = (data: Tensor, surroundings?: Surroundings): Promise<string> =>
  explained("GatherND", [data, tensor("int64", [1, 1], [0])], surroundings);

const LARGE = "(too large to draw)";

test("200 cells and 4 axes are drawn, more are not", async () => {
  const rows: readonly (readonly [shape: readonly number[], isDrawn: boolean])[] = [
    [[20, 10], true],
    [[67, 3], false],
    [[2, 1, 2, 3], true],
    [[2, 1, 1, 2, 3], false],
    [[200], true],
    [[201], false],
  ];
  for (const [shape, isDrawn] of rows) {
    const text = await drawn(zeros("int32", shape));
    assert.equal(text.includes(`data: int32[${shape.join(", ")}]\n  ${LARGE}\n`), !isDrawn, text);
  }
});

test("a tensor without elements is drawn as such", async () => {
  assert.match(await drawn(zeros("int32", [2, 0])), /^data: int32\[2, 0\]\n {2}\(no elements\)$/m);
});

test("a tensor of rank 3 is drawn slice by slice", async () => {
  const text = await drawn(tensor("int32", [2, 2, 2], range(8)));
  assert.ok(
    text.includes(`data: int32[2, 2, 2]
  [0, :, :]
  0 |  0*  1*
  1 |  2*  3*
  [1, :, :]
  0 |  4   5
  1 |  6   7
`),
    text,
  );
});

test("a tensor of rank 0 is one cell", async () => {
  const scalar = tensor("int64", [], 2);
  const text = await explained("Gather --domain openvino", [vector(3), scalar, zeros("int64", [])]);
  assert.match(text, /^indices: int64\[\]\n {2}0 \| {2}2$/m);
});

test("a list continues in the next line, a grid is not torn apart", async () => {
  // The label takes 6 characters and each cell 5: two spaces, two digits, and one for the sign of the first.
  const list = await drawn(vector(12), { columns: 31 });
  assert.match(
    list,
    /^ {3}0 \| {3}0\* {3}1 {4}2 {4}3 {4}4\n {3}5 \| {3}5 {4}6 {4}7 {4}8 {4}9\n {2}10 \| {2}10 {3}11$/m,
  );
  const grid = tensor("int32", [2, 5], range(10));
  // Two spaces, one digit, one for the sign: 5 columns of 4, and 5 for the label.
  assert.match(await drawn(grid, { columns: 25 }), /^ {2}1 \| {2}5 {3}6 {3}7 {3}8 {3}9$/m);
  assert.ok((await drawn(grid, { columns: 24 })).includes(LARGE));
  // A list needs room for one cell.
  assert.ok((await drawn(vector(2), { columns: 9 })).includes("  0 |  0*\n  1 |  1\n"));
  assert.ok((await drawn(vector(2), { columns: 8 })).includes(LARGE));
});

const COLOURS: readonly (readonly [surroundings: Surroundings, isColoured: boolean])[] = [
  [{ isTTY: true }, true],
  [{ isTTY: true, env: { TERM: "dumb" } }, false],
  [{ isTTY: true, env: { NO_COLOR: "1" } }, false],
  [{ isTTY: true, env: { NO_COLOR: "" } }, true],
  [{ isTTY: true, env: { FORCE_COLOR: "0" } }, false],
  [{ isTTY: true, env: { FORCE_COLOR: "" } }, true],
  [{ isTTY: false }, false],
  [{ isTTY: false, env: { FORCE_COLOR: "1" } }, true],
  [{ isTTY: false, env: { FORCE_COLOR: "" } }, false],
  [{ isTTY: false, env: { FORCE_COLOR: "1", TERM: "dumb" } }, true],
  [{ isTTY: false, env: { FORCE_COLOR: "1", NO_COLOR: "1" } }, false],
];

for (const [surroundings, isColoured] of COLOURS) {
  const title = `${surroundings.isTTY} ${JSON.stringify(surroundings.env ?? {})}`;
  test(`colours on a terminal: ${title}: ${isColoured}`, async () => {
    const text = await drawn(vector(2), surroundings);
    assert.equal(text.includes("\u001b[32m0\u001b[39m"), isColoured);
    assert.equal(text.includes("0*"), !isColoured);
  });
}

test("bad indices and filled elements have colours of their own", async () => {
  const env = { FORCE_COLOR: "1" };
  const bad = await explained("GatherND", [vector(2), column(5)], { env });
  assert.ok(bad.includes("0 |  \u001b[31m5\u001b[39m\n"), bad);
  assert.ok(bad.includes("\u001b[31mout of range\u001b[39m\n"));
  const inputs = [vector(2), tensor("int64", [1], [5]), tensor("int64", [], [0])];
  const filled = await explained("Gather --domain openvino", inputs, { env });
  assert.ok(filled.includes("output: int32[1]\n  0 |  \u001b[36m0\u001b[39m\n"), filled);
});

test("text of 24 characters is whole, longer text is cut, and an invisible character is escaped", async () => {
  // The quotes count.
  const texts = ["x".repeat(22), "x".repeat(23), "é\u200b\u{1f600}"];
  const text = await drawn(tensor("string", [3, 1], texts));
  assert.ok(text.includes(`"${"x".repeat(22)}"`));
  assert.ok(text.includes(`"${"x".repeat(19)}..."`));
  assert.ok(!text.includes("x".repeat(23)));
  assert.ok(text.includes('"é\\u{200b}\u{1f600}"'), text);
});

test("of many targets, steps, indices and rows the first are shown, and how many are left", async () => {
  const rows: readonly (readonly [count: number, left: string | null])[] = [
    [50, null],
    [51, "and 1 more targets"],
  ];
  for (const [count, left] of rows) {
    const text = await explained("ScatterND", [vector(60), column(...range(count)), vector(count)]);
    assert.ok(text.includes("\noutput[49]\n"));
    assert.ok(!text.includes("\noutput[50]\n"));
    assert.equal(text.endsWith(`\n${left}\n`), left !== null);
  }
  const bad = await explained("GatherND", [vector(2), column(...range(25))]);
  assert.match(bad, /^23 indices are out of range:\n {2}indices\[2, 0\] is 2, .* -2 to 1$/m);
  assert.match(bad, /^ {2}indices\[21, 0\] .*\n {2}and 3 more\n\n/m);
  // Every second row.
  const odd = range(12).map((row) => 2 * row);
  const ranges = await explained("ScatterND", [vector(60), column(...odd), vector(12)]);
  assert.match(ranges, /^rows of output: 0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 2 more ranges$/m);
  const runs = await explained("ScatterND", [vector(60), column(0, 1, 2, 7), vector(4)]);
  assert.match(runs, /^rows of output: 0\.\.2, 7$/m);
});

test("20 steps of a target are shown; the division of a mean is one more", async () => {
  const mean = "ScatterElementsUpdate --attr reduction=mean --attr axis=0";
  const endOf = async (updates: number): Promise<string> =>
    explained(mean, [
      zeros("float32", [1]),
      zeros("int64", [updates]),
      full("float32", [updates], 1),
    ]);
  const whole = await endOf(19);
  assert.ok(whole.endsWith("  divided by 20\n"), whole);
  assert.ok((await endOf(20)).endsWith("indices[19] = 0\n  and 1 more\n"));
  assert.ok((await endOf(22)).endsWith("indices[19] = 0\n  and 3 more\n"));
});

test("50 reads of a gather are shown, and how many are left", async () => {
  const endOf = async (reads: number): Promise<string> =>
    explained("GatherND", [vector(60), column(...range(reads))]);
  assert.ok((await endOf(50)).endsWith("\noutput[49] = data[49]  indices[49] = 49\n"));
  assert.ok((await endOf(51)).endsWith("\noutput[49] = data[49]  indices[49] = 49\nand 1 more\n"));
});

test("what is too large to draw has no marks", async () => {
  const text = await explained("ScatterND", [vector(201), column(1), vector(1)]);
  assert.match(text, /\(too large to draw\)\n\n1 update hits 1 target/);
});

test("one is singular", async () => {
  const one = await explained("ScatterND", [vector(2), column(1), vector(1)]);
  assert.match(
    one,
    /^1 update hits 1 target of output, 0 of them more than once\n1 element of output is from data$/m,
  );
  const gather = await explained("GatherND", [vector(2), column(1)]);
  assert.match(
    gather,
    /^1 read takes 1 target of data, 0 of them more than once\n1 element of data is not read$/m,
  );
  const inputs = [vector(2), tensor("int64", [1], [5]), tensor("int64", [], [0])];
  const filled = await explained("Gather --domain openvino", inputs);
  assert.match(filled, /^1 element of output is 0, because an index is out of range$/m);
  assert.ok(!filled.includes("rows of data"));
});

test("an axis without elements takes no index", async () => {
  const text = await explained("GatherND", [zeros("int32", [0]), column(0)]);
  assert.match(text, /^ {2}indices\[0, 0\] is 0, .* no index$/m);
});

test("a tuple of no indices addresses the whole tensor", async () => {
  const inputs = [vector(2), zeros("int64", [1, 0]), tensor("int32", [1, 2], [7, 8])];
  const text = await explained("ScatterND", inputs);
  assert.ok(text.includes("\noutput\n  [0, 1] -> [7, 8]  updates[0], indices[0] = []\n"), text);
});

test("a slice in a story shows 6 elements, a scalar no brackets", async () => {
  const row = (length: number): Tensor => tensor("int32", [1, length], range(length));
  const six = await explained("ScatterND", [zeros("int32", [1, 6]), column(0), row(6)]);
  assert.ok(six.includes("[0, 0, 0, 0, 0, 0] -> [0, 1, 2, 3, 4, 5]  updates[0]"), six);
  const seven = await explained("ScatterND", [zeros("int32", [1, 7]), column(0), row(7)]);
  assert.ok(seven.includes("-> [0, 1, 2, 3, 4, 5, ...]  updates[0]"), seven);
  const scalar = await explained("ScatterND", [vector(2), column(1), vector(1)]);
  assert.ok(scalar.includes("\n  1 -> 0  updates[0], indices[0] = 1\n"), scalar);
  const tuple = tensor("int64", [1, 2], [0, -1]);
  const pair = await explained("ScatterND", [row(3), tuple, vector(1)]);
  assert.ok(pair.includes("indices[0] = [0, -1], that is [0, 2]\n"), pair);
});

test("an index out of range gives the empty text and false", async () => {
  const rest = [tensor("int64", [1], [5]), tensor("int64", [], [0])];
  const op = "Gather --domain openvino";
  const flags = await explained(op, [tensor("bool", [1], [true]), ...rest]);
  assert.ok(flags.includes("\noutput[0] = false  indices[0] = 5, out of range\n"), flags);
});
