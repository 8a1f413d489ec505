/** `ndscatter inspect`: reports, statuses, and files that cannot be read. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { makeCliFolder } from "../support/cli-files.ts";
import { attributesOfEveryType, nestedBodies } from "../support/cli-models.ts";
import { fails, inOrder, prints, testRows } from "../support/cli.ts";

const folder = makeCliFolder();
const { at, json, ndscatter } = folder;

const CLEAN = `\
large.onnx: ai.onnx 18, 3 nodes, 1 scatter/gather

ScatterND-18  1 node  float32
1 node has no finding; --all shows every node

0 wrong, 0 risky
`;

const LARGE = `\
large.onnx: ai.onnx 18, 3 nodes, 1 scatter/gather

ScatterND-18  middle
  data     r              float32[N, 2]
  indices  indices        int64[2, 1]    constant [[1], [3]]
  updates  updates        float32[2, 2]
  output   "\\u001b[31my"  float32[N, 2]

ScatterND-18  1 node  float32

0 wrong, 0 risky
`;

const REPEATED =
  "1 of 2 updates repeat the target of an earlier update; the first is indices[1], which repeats indices[0]";

const FAULTY = `\
faulty.onnx: ai.onnx 16, com.example 1, 3 nodes, 2 scatter/gather

GatherND-13  mode=clip
  data     data  float32[\\u001bN, 2]
  indices  far   int64[2, 2]          constant [[0, 1], [1, 2]]
  output   g     float32[2]
  wrong: attribute-unknown: unknown attribute "mode"; its attributes are batch_dims
  wrong: index-out-of-range: indices[1, 1] is 2, but axis 1 of data [\\u001bN, 2] takes -2 to 1

ScatterND-16  sum  reduction=add
  data     r        float32[\\u001bN, 2]
  indices  twice    int64[2, 1]          constant [[1], [1]]
  updates  updates  float32[2, 2]
  output   y        float32[\\u001bN, 2]
  risky: repeated-target-reduced: ${REPEATED}

GatherND-13   1 node  float32  2 wrong
ScatterND-16  1 node  float32  1 risky

2 wrong, 1 risky
`;

testRows(folder, [
  prints("inspect large.onnx", CLEAN),
  prints("inspect --all large.onnx", LARGE),
  fails("inspect faulty.onnx", null, FAULTY),
  prints("inspect risky.onnx", /0 wrong, 1 risky\n$/),
  fails("inspect --strict risky.onnx", null, /0 wrong, 1 risky\n$/),
  fails("inspect --strict --json risky.onnx", null, /"severity": "risky"/),
  fails(
    "inspect ir.xml",
    null,
    inOrder(
      /^ir\.xml: 1 node, 1 scatter\/gather\n\nScatterNDUpdate-3 {2}s\n/,
      /\n {2}indices {2}i {2}int32\[1, 1\] {2}constant \[\[-1\]\]\n/,
      /wrong: negative-index-not-taken: indices\[0, 0\] is -1/,
    ),
  ),
  prints(
    "inspect bare.xml",
    /note: indices-not-checked: .*pass the \.bin to readIR[\s\S]*\n0 wrong, 0 risky, 1 note\n$/,
  ),
  fails(
    "inspect cut.onnx",
    /^cut\.onnx: the file is truncated or damaged; get it again: byte \d+ begins a part/,
  ),
  fails("inspect no.onnx", "no.onnx: no such file or directory; check the name and the folder"),
]);

fs.writeFileSync(at("every.onnx"), attributesOfEveryType());
fs.writeFileSync(at("deep.onnx"), nestedBodies(20));
fs.copyFileSync(at("ir.xml"), at("upper.XML"));
fs.copyFileSync(at("ir.bin"), at("upper.bin"));

testRows(folder, [
  fails("inspect upper.XML", null, /negative-index-not-taken/),
  prints("inspect risky.onnx --json", /"severity": "risky"/),
  prints(
    "inspect deep.onnx",
    /^deep\.onnx: ai\.onnx 13, 17 nodes, 0 scatter\/gather\n\n\w+: graph-too-deep: [^\n]*\n\n0 wrong, /,
  ),
  prints("inspect two.onnx", /^two\.onnx: ai\.onnx 18, 3 nodes, 2 scatter\/gather\n/),
]);

test("nodes are printed with their attributes, their place and what is left out", async () => {
  const { stdout } = await ndscatter("inspect --all every.onnx");
  const facts = [
    "every.onnx: ai.onnx 13, 6 nodes, 5 scatter/gather",
    'GatherND-13  f=1.5  i=2  s="two words"  t="tensor of float32"  ints=[1, 2]  strings=["a", "b"]  ts="2 tensors"',
    'type=TYPE_PROTO  ref="@outer"',
    '  in If "z" / then_branch\n  data     data     ?\n',
    "GatherND-13\n  wrong: input-count: ",
    "GatherND-13\n  data  data  ?\n  wrong: input-count: ",
    "  data     data      ?\n  indices  left out\n  output   q         ?\n",
  ];
  for (const fact of facts) assert.ok(stdout.includes(fact), `${fact} in ${stdout}`);
});

test("inspect --json has attributes as values", async () => {
  const report = (await json("inspect every.onnx")) as {
    file: string;
    counts: { wrong: number };
    nodes: { attributes: unknown; path: unknown; inputs: unknown }[];
  };
  assert.equal(report.file, "every.onnx");
  assert.deepEqual(report.nodes[0].attributes, {
    f: 1.5,
    i: 2,
    s: "two words",
    t: "tensor of float32",
    ints: [1, 2],
    strings: ["a", "b"],
    ts: "2 tensors",
    type: "TYPE_PROTO",
    ref: "@outer",
  });
  assert.deepEqual(report.nodes[1].path, ['If "z"', "then_branch"]);
  assert.deepEqual(report.nodes[2].inputs, []);
});
