/** `ndscatter explain`: pictures, histories and their JSON. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { full, zeros } from "../../src/entries/index.ts";
import { makeCliFolder } from "../support/cli-files.ts";
import { testTranscript } from "../support/transcripts.ts";
import { newestOf, newestTitle } from "../support/newest.ts";

const folder = makeCliFolder();
const { json, ndscatter, save } = folder;

const ND = newestTitle("ScatterND");

testTranscript(folder, "explain", "ndscatter explain");

const EXPLAIN_ADD = "explain ScatterND --attr reduction=add d.npy twice.npy u3.npy";

const SCATTER_TEXT = `${ND}

updates is indices.shape[:-1] ++ data.shape[1:] = [3] ++ [2] = [3, 2]
output is data.shape = [4, 2]

data: float32[4, 2]
  0 |  1  2
  1 |  3  4
  2 |  5  6
  3 |  7  8

indices: int64[3, 1]
  0 |   1
  1 |   3
  2 |  -3

updates: float32[3, 2]
  0 |   10   20
  1 |   30   40
  2 |  0.5   -0

output: float32[4, 2]
  0 |     1       2
  1 |  13.5**    24**
  2 |     5       6
  3 |    37*     48*

* addressed once, ** addressed more than once

3 updates hit 2 targets of output, 1 of them more than once
4 elements of output are from data
most often: output[1] 2 times
rows of output: 1, 3

output[1]
  [3, 4] -> [13, 24]      add updates[0], indices[0] = 1
  [13, 24] -> [13.5, 24]  add updates[2], indices[2] = -3, that is 1
output[3]
  [7, 8] -> [37, 48]  add updates[1], indices[1] = 3
`;

test("a scatter is drawn with what hits it, and explained step by step", async () => {
  const plain = await ndscatter(EXPLAIN_ADD);
  assert.equal(plain.stdout, SCATTER_TEXT);
  const coloured = await ndscatter(EXPLAIN_ADD, { env: { FORCE_COLOR: "1" } });
  const green = (word: string): string => `\u001b[32m${word}\u001b[39m`;
  const yellow = (word: string): string => `\u001b[33m${word}\u001b[39m`;
  const picture = [
    "  0 |     1     2",
    `  1 |  ${yellow("13.5")}    ${yellow("24")}`,
    "  2 |     5     6",
    `  3 |    ${green("37")}    ${green("48")}`,
    "",
    `${green("addressed once")}, ${yellow("addressed more than once")}`,
  ];
  assert.ok(coloured.stdout.includes(picture.join("\n")), coloured.stdout);
  for (const env of [{ NO_COLOR: "1", FORCE_COLOR: "1" }, { FORCE_COLOR: "0" }, { CI: "1" }]) {
    assert.equal((await ndscatter(EXPLAIN_ADD, { env })).stdout, plain.stdout);
  }
});

test("of many steps the first are shown, and how many are left", async () => {
  save("many.npy", zeros("int64", [20]));
  save("ones.npy", full("float32", [20], 1));
  const line =
    "explain ScatterElementsUpdate --attr reduction=mean line.npy many.npy ones.npy axis.npy";
  const { stdout } = await ndscatter(line);
  assert.ok(
    stdout.endsWith(
      "\n  19 -> 20  add updates[18], indices[18] = 0\n  20 -> 21  add updates[19], indices[19] = 0\n  and 1 more\n",
    ),
    stdout,
  );
});

test("a gather is drawn slice by slice, zeros and all", async () => {
  const { stdout } = await ndscatter("explain Gather --domain openvino cube.npy i4.npy axis.npy");
  assert.ok(
    stdout.endsWith(`output: int32[2, 2, 1, 3]
  [0, 0, :, :]
  0 |  4   5   6
  [0, 1, :, :]
  0 |  0~  0~  0~
  [1, 0, :, :]
  0 |  4   5   6
  [1, 1, :, :]
  0 |  0~  0~  0~

** addressed more than once, ~ 0 for an index out of range

4 reads take 1 target of data, 1 of them more than once
3 elements of data are not read
6 elements of output are 0, because an index is out of range
most often: data[1] 2 times
rows of data: 1

output[0, 0] = data[1]  indices[0, 0] = 1
output[0, 1] = 0        indices[0, 1] = 7, out of range
output[1, 0] = data[1]  indices[1, 0] = -1, that is 1
output[1, 1] = 0        indices[1, 1] = 9, out of range
`),
    stdout,
  );
});

test("text in a picture is cut, and sends nothing to the terminal", async () => {
  const { stdout } = await ndscatter("explain GatherND text.pb i0.npy");
  assert.ok(!stdout.includes("\u001b"));
  assert.ok(stdout.includes('  1 |  "xxxxxxxxxxxxxxxxxxx..."\n'), stdout);
});

/** An update whose index was found in place `order` of the indices. */
const from = (order: number, index: number, place: number) => ({
  at: [order],
  index: { at: [order], given: [index], axes: [0], places: [place] },
});
const step = { kind: "update", by: "none" };

const SCATTER_FACTS = {
  operator: {
    name: "ScatterND",
    domain: "ai.onnx",
    sinceVersion: newestOf("ScatterND").sinceVersion,
  },
  inputs: [
    { name: "data", role: "data", dtype: "float32", shape: [4, 2] },
    { name: "indices", role: "indices", dtype: "int64", shape: [3, 1] },
    { name: "updates", role: "updates", dtype: "float32", shape: [3, 2] },
  ],
  shapes: [
    {
      of: "updates",
      terms: [
        { text: "indices.shape[:-1]", shape: [3] },
        { text: "data.shape[1:]", shape: [2] },
      ],
      expected: [3, 2],
      got: [3, 2],
      fits: true,
      sentence: "updates is indices.shape[:-1] ++ data.shape[1:] = [3] ++ [2] = [3, 2]",
    },
    {
      of: "output",
      terms: [{ text: "data.shape", shape: [4, 2] }],
      expected: [4, 2],
      got: null,
      fits: true,
      sentence: "output is data.shape = [4, 2]",
    },
  ],
  error: null,
  badCount: 0,
  badIndices: [],
  output: {
    name: "output",
    dtype: "float32",
    shape: [4, 2],
    values: [
      [1, 2],
      [0.5, -0],
      [5, 6],
      [30, 40],
    ],
  },
  kind: "scatter",
  reduction: "none",
  includeSelf: true,
  addressed: 1,
  summary: {
    count: 3,
    targets: 2,
    repeats: 1,
    most: [{ coordinates: [1], count: 2 }],
    rows: [
      [1, 1],
      [3, 3],
    ],
    rowRanges: 2,
    untouched: 4,
    filled: 0,
  },
  targets: [
    {
      coordinates: [1],
      count: 2,
      steps: [
        { ...step, order: 0, ...from(0, 1, 1), before: [3, 4], update: [10, 20], after: [10, 20] },
        {
          ...step,
          order: 2,
          ...from(2, -3, 1),
          before: [10, 20],
          update: [0.5, -0],
          after: [0.5, -0],
        },
      ],
    },
    {
      coordinates: [3],
      count: 1,
      steps: [
        { ...step, order: 1, ...from(1, 3, 3), before: [7, 8], update: [30, 40], after: [30, 40] },
      ],
    },
  ],
};

test("explain --json has all facts of a scatter", async () => {
  assert.deepEqual(await json("explain ScatterND d.npy twice.npy u3.npy"), SCATTER_FACTS);
});

test("explain --json has the division of a mean", async () => {
  const mean = "explain ScatterElementsUpdate --attr reduction=mean";
  const { targets } = (await json(`${mean} line.npy lines.npy line.npy axis.npy`)) as {
    targets: { coordinates: unknown; count: number; steps: object[] }[];
  };
  assert.equal(targets[0].count, 2);
  assert.equal(targets[0].steps.length, 3);
  // (2 + 1 + 2) / 3, rounded to float32.
  const after = Math.fround(5 / 3);
  const division = { kind: "division", divisor: 3, before: 5, after };
  assert.deepEqual(targets[0].steps[2], division);
});

test("explain --json has the reads of a gather, and the errors of a failure", async () => {
  const gathered = await json("explain GatherND odd3.npy i0.npy");
  assert.deepEqual(pick(gathered, "kind", "output", "targets", "reads"), {
    kind: "gather",
    output: { name: "output", dtype: "float64", shape: [1], values: ["NaN"] },
    targets: [{ coordinates: [0], count: 1 }],
    reads: [{ at: [0], index: { at: [0], given: [0], axes: [0], places: [0] }, target: [0] }],
  });
  const failed = await json("explain ScatterND d.npy far.npy u.npy");
  const { message } = (failed as { error: { message: string } }).error;
  assert.ok(message.startsWith(`${ND}: indices[1, 0] is 9, `), message);
  const bad = { input: "indices", at: [1, 0], axis: 0, got: 9, expected: [-4, 3] };
  assert.deepEqual(pick(failed, "error", "badCount", "badIndices", "output"), {
    error: { code: "index-out-of-range", message, op: "ScatterND", opset: 18, size: 4, ...bad },
    badCount: 1,
    badIndices: [{ ...bad, sentence: message }],
    output: null,
  });
});

const pick = (value: unknown, ...names: readonly string[]): object =>
  Object.fromEntries(Object.entries(value as object).filter(([name]) => names.includes(name)));
