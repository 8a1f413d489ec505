/** `ndscatter run`: what it refuses, prints, compares and writes. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { equals, zeros } from "../../src/entries/index.ts";
import { NEWEST_OPSETS } from "../../src/entries/operators.ts";
import { readModel, writeModel } from "../../src/entries/onnx.ts";
import { ADDED, DATA, makeCliFolder } from "../support/cli-files.ts";
import { checkResult, fails } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";
import { newestTitle } from "../support/newest.ts";

const folder = makeCliFolder();
const { at, json, load, ndscatter, save } = folder;

const ND = newestTitle("ScatterND");

const ADD = "run add.onnx d.npy i.npy u.npy";

testTranscript(folder, "run", "Arguments that are refused");

testTranscript(folder, "run", "Files that are refused");

test("--debug adds the error with its stack and its code", async () => {
  const line = "run ScatterND --debug d.npy far.npy u.npy";
  const text = String.raw`^${ND}: .*\nTensorError: .*\n +at .*[\s\S]*code: 'index-out-of-range'`;
  checkResult(await ndscatter(line), fails(line, new RegExp(text)));
});

testTranscript(folder, "run", "Output");

testTranscript(folder, "run", "Data outside the file of the model");

testTranscript(folder, "run", "Comparisons with expected values");

test("results are written by the ending of the name, beside nothing else", async () => {
  for (const name of ["out.npy", "out.pb"]) {
    const result = await ndscatter(`${ADD} -o y=${name} --expect y.npy`);
    assert.equal(result.stdout, `y: float32[4, 2]\n  written to ${name}\n  equals y.npy\n`);
    assert.ok(equals(load(name), ADDED));
  }
  assert.deepEqual(
    fs.readdirSync(folder.home).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("an output updates an input in place, but replaces nothing else that was read", async () => {
  save("cache.npy", DATA);
  fs.symlinkSync("cache.npy", at("alias.npy"));
  const update = "run add.onnx alias.npy i.npy u.npy -o";
  assert.equal((await ndscatter(`${update} cache.npy`)).status, 0);
  assert.ok(equals(load("alias.npy"), ADDED));
  assert.ok(fs.lstatSync(at("alias.npy")).isSymbolicLink());
  for (const line of [`${update} i.npy`, `${update} y.npy --expect y.npy`]) {
    const result = await ndscatter(line);
    assert.match(result.stderr, /^ndscatter: the output .*; give another output$/m);
    assert.equal(result.status, 2);
  }
  assert.deepEqual(load("i.npy").shape, [2, 1]);
});

test("after an error an output is what it was", async () => {
  save("kept.npy", DATA);
  assert.equal((await ndscatter("run ScatterND d.npy far.npy u.npy -o kept.npy")).status, 1);
  assert.ok(equals(load("kept.npy"), DATA));
});

const output = (facts: object): object => ({ outputs: [{ name: "output", ...facts }] });

const JSON_ROWS: readonly (readonly [line: string, facts: object])[] = [
  [
    "run GatherND odd.npy all.npy",
    { dtype: "float64", shape: [4], values: ["NaN", "-Infinity", -0, 0.1] },
  ],
  [
    "run GatherND long.npy i2.npy",
    { dtype: "int64", shape: [2], values: ["9223372036854775807", "-1"] },
  ],
  ["run GatherND d.npy one.npy -o row.npy", { dtype: "float32", shape: [2], file: "row.npy" }],
  [
    "run GatherND d.npy one.npy --expect y.npy",
    {
      dtype: "float32",
      shape: [2],
      expected: "y.npy",
      equal: false,
      difference: { at: null, got: "float32[2]", expected: "float32[4, 2]" },
    },
  ],
];

for (const [line, facts] of JSON_ROWS) {
  test(`ndscatter ${line} --json`, async () => {
    assert.deepEqual(await json(line), output(facts));
  });
}

const EMPTY_ROWS: readonly (readonly [shape: readonly number[], values: unknown])[] = [
  [
    [2, 0],
    [[], []],
  ],
  [[0, 2], []],
  // With the list around them 100,000 lists, and one more.
  [[99_999, 0], Array.from({ length: 99_999 }, () => [])],
  [[100_000, 0], []],
  // A file of 192 bytes asks for 4.8 million lists.
  [[...Array.from({ length: 14 }, () => 3), 0, 2], []],
];

for (const [shape, values] of EMPTY_ROWS) {
  test(`--json of shape ${shape.join(", ")}`, async () => {
    save("shape.npy", zeros("float32", shape));
    const report = (await json("run copy.onnx shape.npy d.npy")) as {
      outputs: { name: string; shape: unknown; values: unknown }[];
    };
    assert.deepEqual(report.outputs[0], { name: "y", dtype: "float32", shape, values });
    assert.deepEqual(report.outputs[1].values, DATA.toArray());
    const { output } = (await json("explain Gather shape.npy none1.npy --attr axis=-1")) as {
      output: { values: unknown };
    };
    assert.deepEqual(output.values, values);
  });
}

test("run and explain note an opset that is newer than known", async () => {
  const add = readModel(fs.readFileSync(at("add.onnx")));
  const opset = NEWEST_OPSETS["ai.onnx"] + 1;
  fs.writeFileSync(at("newer.onnx"), writeModel({ ...add, opsets: { "ai.onnx": opset } }));
  const plain = await ndscatter(ADD);
  for (const command of ["run", "explain"]) {
    const line = `${command} newer.onnx d.npy i.npy u.npy`;
    const { status, stderr, stdout } = await ndscatter(line);
    assert.match(stderr, new RegExp(`^ndscatter: note: opset ${opset} .*\n$`));
    assert.equal(status, 0);
    if (command === "run") assert.equal(stdout, plain.stdout);
    assert.equal((await ndscatter(line.replace("newer", "add"))).stderr, "");
  }
});
