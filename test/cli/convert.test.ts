/** `ndscatter convert`: what it writes, reports and refuses. The rows rely on the files of those before them. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { DATA, makeCliFolder } from "../support/cli-files.ts";
import { gatherFarIndex } from "../support/cli-models.ts";
import { checkResult, fails, refuses } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";

const folder = makeCliFolder();
const { at, json, load, ndscatter } = folder;

testTranscript(folder, "convert", "ONNX models in another opset");

test("a model with data in other files is written beside them, or as an IR", async () => {
  fs.mkdirSync(at("out"));
  fs.writeFileSync(at("far.onnx"), gatherFarIndex("far.bin"));
  fs.writeFileSync(at("far.bin"), new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0]));
  const elsewhere = await ndscatter("convert far.onnx --opset 11 -o out/far.onnx");
  assert.equal(elsewhere.status, 1);
  assert.equal(
    elsewhere.stderr,
    "ndscatter: far.onnx has data in far.bin, in the same folder; write far.onnx to that folder, .\n",
  );
  assert.deepEqual(fs.readdirSync(at("out")), []);
  // The .bin of an IR would replace the model's own data.
  const own = "the output far.bin is a file that the command reads; give another output";
  for (const line of ["convert far.onnx -o far.xml", "convert far.onnx --node y -o far.xml"])
    checkResult(await ndscatter(line), refuses(line, own));
  assert.equal((await ndscatter("convert far.onnx --opset 11 -o far11.onnx")).status, 0);
  assert.equal((await ndscatter("convert far.onnx -o out/far.xml")).status, 0);
  assert.deepEqual(fs.readdirSync(at("out")).sort(), ["far.bin", "far.xml"]);
  for (const model of ["far11.onnx", "out/far.xml"]) {
    const result = await ndscatter(`run ${model} d.npy -o row.npy`);
    assert.equal(result.stderr, "");
    assert.deepEqual(load("row.npy").toArray(), [(DATA.toArray() as number[][])[2]]);
  }
});

fs.copyFileSync(at("add.onnx"), at("m.bin"));
fs.copyFileSync(at("add.onnx"), at("in.ONNX"));

testTranscript(folder, "convert", "To and from OpenVINO");

testTranscript(folder, "convert", "Refused conversions");

test("of an IR both files are written or none", async () => {
  fs.mkdirSync(at("half.bin"));
  const row = fails(
    "convert add.onnx -o half.xml",
    "half.bin must be a file, got a folder; name a file",
  );
  checkResult(await ndscatter(row.line), row);
  assert.ok(!fs.existsSync(at("half.xml")));
});

test("an opset of OpenVINO is a limit", async () => {
  const { status, stderr } = await ndscatter("convert add.onnx --opset 4 -o old.xml");
  // ScatterNDUpdate-3, the only version up to opset 4, has no reduction.
  assert.equal(status, 1);
  assert.match(stderr, /ScatterNDUpdate-3 has no reduction/);
  const newest = await ndscatter("convert add.onnx --opset 15 -o new.xml");
  assert.match(newest.stdout, /ScatterND-18 to ScatterNDUpdate-15\n$/);
});

test("names of a model do not reach the terminal as they are", async () => {
  const { stdout } = await ndscatter("convert elements.onnx --opset 10 -o e10.onnx --force");
  assert.ok(stdout.includes("[31m"));
  assert.ok(!stdout.includes("\u001b"));
});

test("convert --json", async () => {
  assert.deepEqual(await json("convert large.onnx --opset 13 -o l13.onnx"), {
    output: "l13.onnx",
    irVersion: 7,
    opsets: { "ai.onnx": 13 },
    changes: [],
    unchecked: {},
    notes: [],
  });
});
