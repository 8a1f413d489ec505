/** `ndscatter ops` and `ndscatter infer`, which read no files. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { operators } from "../src/index.ts";
import { fails, inOrder, makeFolder, prints, refuses, testRows } from "./support/cli.ts";

const folder = makeFolder();
const { json } = folder;

testRows(folder, [
  prints(
    "ops",
    /^domain +operator +version .*\nai\.onnx +ScatterND +11 [\s\S]*\nopenvino +ScatterNDUpdate +15 .*\n/,
  ),
  prints(
    "ops ScatterND --opset 17",
    inOrder(
      /^ScatterND-16\n\nname +ScatterND\n/,
      /reduction: one of none, add, mul \(default none\)/,
      /indices: tensor\(int64\)/,
      /tensor\(float\)/,
    ),
  ),
  prints(
    "ops ScatterNDUpdate --opset 4",
    /^ScatterNDUpdate-3\n[\s\S]*opset4\n[\s\S]* T: boolean, f16, [\s\S]*Tind: i32, i64\n/,
  ),
  prints(
    "ops ScatterND --diff 13 18",
    inOrder(
      /^ScatterND-13 -> ScatterND-18\n/,
      /\+ attributes\.reduction: one of none, add, mul, max, min \(default none\)\n$/,
    ),
  ),
  refuses("ops ScatterND --diff 13", "--diff takes two opsets, such as --diff 13 18, got 1"),
  prints("ops GatherND", /\n\nopenvino has one too: --domain openvino\n$/),
]);

testRows(folder, [
  prints("infer ScatterND --opset 18 float32[N,4,5] int64[M,2] float32[M,5]", "float32[N, 4, 5]\n"),
  prints("infer GatherND float32[?,4] int64[...]", "float32[...]\n"),
  refuses(
    "infer ScatterND float32[4] int64[1] float32[-1]",
    /^"-1" in "float32\[-1\]" is no dimension/,
  ),
]);

const GATHER = "infer Gather --domain openvino";

// The axis where it is an input: a value, or a type.
testRows(folder, [
  prints(`${GATHER} --attr axis=1 float32[2,N,3] int32[4]`, "float32[2, 4, 3]\n"),
  prints(`${GATHER} float32[2,N,3] int32[4] int64[]`, "float32[?, ?, ?]\n"),
  fails(
    `${GATHER} --attr axis=3 float32[2,N,3] int32[4]`,
    /^Gather-8: axis is 3, but data of rank 3/,
  ),
  refuses(
    `${GATHER} --attr axis=1 float32[2] int32[4] int64[]`,
    "Gather-8 needs 2 types (data, indices), got 3",
  ),
]);

const JSON_ROWS: readonly (readonly [line: string, expected: unknown])[] = [
  ["ops", JSON.parse(JSON.stringify(operators()))],
  [
    "ops ScatterND --diff 11 13",
    {
      from: "ScatterND-11",
      to: "ScatterND-13",
      changes: [
        { kind: "changed", path: "sinceVersion", from: 11, to: 13 },
        { kind: "added", path: "typeConstraints.T.types.bfloat16", value: "bfloat16" },
      ],
    },
  ],
  [
    "infer GatherND float32[N,?] int64[1]",
    { outputs: [{ name: "output", dtype: "float32", shape: [null] }] },
  ],
];

for (const [line, expected] of JSON_ROWS) {
  test(`ndscatter ${line} --json`, async () => assert.deepEqual(await json(line), expected));
}
