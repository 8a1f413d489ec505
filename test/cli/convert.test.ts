/** `ndscatter convert`: what it writes, reports and refuses. The rows rely on the files of those before them. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { NEWEST_OPSETS } from "../../src/entries/index.ts";
import { DATA, makeCliFolder } from "../support/cli-files.ts";
import { gatherFarIndex } from "../support/cli-models.ts";
import { checkResult, fails, inOrder, prints, refuses, testRows } from "../support/cli.ts";
import { newestTitle } from "../support/newest.ts";

const folder = makeCliFolder();
const { at, json, load, ndscatter } = folder;

const ND_UPDATE = newestTitle("ScatterNDUpdate", "openvino");
const EQUAL = "y: float32[4, 2]\n  equals y.npy\n";

testRows(folder, [
  prints("convert large.onnx --opset 16 -o l16.onnx", "l16.onnx: 0 nodes changed\n"),
  prints(
    "convert add.onnx -o add.xml",
    `add.xml: 1 node changed\n  the ScatterND that makes "y": ScatterND-18 to ${ND_UPDATE}\n`,
  ),
  prints("run add.xml d.npy i.npy u.npy --expect y.npy", EQUAL),
  prints(
    "convert add.xml --opset 16 -o back.onnx",
    new RegExp(String.raw`^back\.onnx: 1 node changed\n.*${ND_UPDATE} to ScatterND-16\n$`),
  ),
  prints("run back.onnx d.npy i.npy u.npy --expect y.npy", EQUAL),
  fails(
    "convert add.onnx --opset 13 -o no.onnx",
    'add.onnx: the ScatterND that makes "y" cannot be converted to opset 13 of ai.onnx: ' +
      'ScatterND-13 has no reduction "add"; opset 16 supports it',
  ),
  fails(
    "convert large.onnx -o no.xml",
    /^large\.onnx: only models with this package's operators can be converted to openvino, but the model has Relu 2; choose another --opset, or convert a single node with --node$/,
  ),
  refuses(
    "convert add.onnx --opset 16 -o no.npy",
    "the output must end in .onnx or .xml, which determines the format, got no.npy",
  ),
  refuses("convert add.onnx -o no.onnx", "an ONNX model needs --opset, such as --opset 18"),
  refuses("convert add.onnx --opset x -o no.onnx", '--opset takes a positive integer, got "x"'),
  refuses(
    "convert add.onnx --opset 99 -o no.onnx",
    `opset 99 of ai.onnx is unknown to this package; the newest known opset is ${NEWEST_OPSETS["ai.onnx"]}`,
  ),
  refuses(
    "convert add.onnx --opset 16 -o ./add.onnx",
    "the output ./add.onnx is a file that the command reads; give another output",
  ),
  fails(
    "convert no.onnx --opset 16 -o nothing.onnx",
    "no.onnx: no such file or directory; check the name and the folder",
  ),
]);

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

testRows(folder, [
  prints(
    "convert many.onnx -o many.xml",
    `many.xml: 25 nodes changed\n  25 nodes: GatherND-13 to ${newestTitle("GatherND", "openvino")}\n`,
  ),
  prints(
    "convert elements.onnx --opset 10 -o e10.onnx --force",
    inOrder(
      /^e10\.onnx: 1 node changed\n.*ScatterElements-18 to Scatter-9\n1 node left unchanged and unchecked: Other 1/,
      /\nnote: .*"r" is not declared; Scatter-9 accepts all data types of ScatterElements-18 except bfloat16\n$/,
    ),
  ),
  fails(
    "convert elements.onnx --opset 10 -o none.onnx",
    /^elements\.onnx: 2 nodes cannot be converted to opset 10 of ai\.onnx: the Other that makes "r": this package does not know the versions/,
  ),
  prints("convert in.ONNX --opset 16 -o OUT.ONNX", /^OUT\.ONNX: [01] nodes? changed\n/),
  // Without data in other files a model may go anywhere.
  prints("convert add.onnx --opset 16 -o model/moved.onnx", "model/moved.onnx: 0 nodes changed\n"),
  prints("convert in.ONNX --opset 15 -o NET.XML", /^NET\.XML: 1 node changed\n/),
  prints("run NET.XML d.npy i.npy u.npy --expect y.npy", EQUAL),
  refuses(
    "convert m.bin -o m.xml",
    "the output m.bin is a file that the command reads; give another output",
  ),
  refuses(
    "convert add.xml -o ./add.xml",
    "the output ./add.xml is a file that the command reads; give another output",
  ),
  refuses("convert add.onnx --opset 0 -o no.onnx", '--opset takes a positive integer, got "0"'),
  fails(
    "convert add.onnx -o no/no.xml",
    "no/no.xml: no such file or directory; create the folder first",
  ),
]);

testRows(folder, [
  prints("convert add.onnx --node y -o one.onnx", "one.onnx: 0 nodes changed\n"),
  prints("run one.onnx d.npy i.npy u.npy --expect y.npy", EQUAL),
  prints("convert add.onnx --node y --opset 16 -o one16.onnx", "one16.onnx: 0 nodes changed\n"),
  prints("convert add.onnx --node y -o one.xml", /^one\.xml: 1 node changed\n/),
  prints("run one.xml d.npy i.npy u.npy --expect y.npy", EQUAL),
  refuses(
    "convert add.xml --node y -o none.onnx",
    "a node of an IR needs --opset, such as --opset 18",
  ),
  prints("convert add.xml --node y --opset 18 -o two.onnx", /^two\.onnx: 1 node changed\n/),
  prints("run two.onnx d.npy i.npy u.npy --expect y.npy", EQUAL),
  fails(
    "convert large.onnx --node midle -o none.onnx",
    /^large\.onnx: .* no node "midle"; did you mean/,
  ),
  fails(
    "convert places.onnx --node second -o none.onnx",
    /cannot be extracted: its attribute axis depends on the caller/,
  ),
]);

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
