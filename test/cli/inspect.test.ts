/** `ndscatter inspect`: reports, statuses, and files that cannot be read. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { makeCliFolder } from "../support/cli-files.ts";
import { attributesOfEveryType, nestedBodies } from "../support/cli-models.ts";
import { testTranscript } from "../support/transcripts.ts";

const folder = makeCliFolder();
const { at, json, ndscatter } = folder;

testTranscript(folder, "inspect", "Findings");

fs.writeFileSync(at("every.onnx"), attributesOfEveryType());
fs.writeFileSync(at("deep.onnx"), nestedBodies(20));
fs.copyFileSync(at("ir.xml"), at("upper.XML"));
fs.copyFileSync(at("ir.bin"), at("upper.bin"));

testTranscript(folder, "inspect", "Findings as data");

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
