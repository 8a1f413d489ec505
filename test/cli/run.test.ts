/** `ndscatter run`: what it refuses, prints, compares and writes. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { equals, zeros } from "../../src/entries/index.ts";
import { ADDED, DATA, makeCliFolder } from "../support/cli-files.ts";
import { fails, prints, refuses, testRows } from "../support/cli.ts";
import { newestTitle } from "../support/newest.ts";

const folder = makeCliFolder();
const { at, json, load, ndscatter, save } = folder;

const ND = newestTitle("ScatterND");
const LARGE = "run large.onnx --node";
const SUM =
  "run ScatterElementsUpdate line.npy lines.npy line.npy axis.npy --attr reduction=sum --attr";
const ADD = "run add.onnx d.npy i.npy u.npy";

// What is typed wrong.
testRows(folder, [
  refuses("run ScaterND d.npy", /did you mean ScatterND of ai\.onnx\?$/),
  refuses("run scatternd d.npy", /did you mean ScatterND of ai\.onnx\?$/),
  refuses("run ScatterND --opset x", '--opset takes a positive integer, got "x"'),
  refuses("run ScatterND --attr reduction d.npy", /--attr takes NAME=VALUE/),
  refuses("run GatherND --attr batch_dims=1.5", '--attr batch_dims must be an integer, got "1.5"'),
  refuses(
    "run ScatterND --opset 16 --attr reduction=max",
    /^ScatterND-16: .* got "max"; "max" came with version 18$/,
  ),
  refuses(
    "run ScatterND d.npy i.npy",
    `${ND} needs files for data, indices, updates; add updates=FILE`,
  ),
  refuses("run ScatterND d.npy i.npy u.npy y.npy", /y\.npy is one file too many/),
  refuses("run ScatterND x=d.npy", `${ND} has no input x; its inputs are data, indices, updates`),
  refuses(
    "run ScatterND d.npy i.npy u.npy -o out.txt",
    "out.txt must end in .npy or .pb, which determines its format",
  ),
  refuses("run add.onnx --opset 13 d.npy i.npy u.npy", /--opset goes with an operator/),
  refuses(
    `${LARGE} nowhere u.npy`,
    'large.onnx: the model has no node "nowhere"; its scatters and gathers are "middle"',
  ),
  refuses(`${LARGE} midle u.npy`, /no node "midle"; did you mean "middle"\? its scatters/),
  refuses(
    `${LARGE} Relu u.npy`,
    'large.onnx: the model has 2 nodes "Relu"; choose one of "first", "z"',
  ),
]);

// What is read wrong.
testRows(folder, [
  fails(
    "run ScatterND d.npy no.npy u.npy",
    "no.npy: no such file or directory; check the name and the folder",
  ),
  fails(
    "run ScatterND d.npy i.npy linse.npy",
    "linse.npy: no such file or directory; did you mean line.npy?",
  ),
  // Three letters differ from lines.npy, and too many files are there for a list.
  fails(
    "run ScatterND d.npy i.npy mimes2.npy",
    "mimes2.npy: no such file or directory; check the name and the folder",
  ),
  fails("run cut.onnx d.npy", /^cut\.onnx: /),
  fails("run ScatterND cut.npy i.npy u.npy", /^cut\.npy: /),
  fails(
    "run ScatterND d.npy far.npy u.npy",
    `${ND}: indices[1, 0] is 9, but axis 0 of data [4, 2] takes -4 to 3; ` +
      "run ndscatter explain with the same inputs to see every bad index; " +
      'in code, the option bounds accepts such indices: "clip", "drop" or "fill"',
  ),
  fails(
    "run ScatterND d.npy i.npy u.npy -o no/out.npy",
    "no/out.npy: no such file or directory; create the folder first",
  ),
  fails("run large.onnx d.npy u.npy", /^large\.onnx: .*Relu at opset 18/),
  // What cannot be run is said before inputs are asked for.
  fails(
    "run large.onnx",
    /^large\.onnx: the model has operators that this package does not run: .*Relu at opset 18/,
  ),
  fails(
    "run large.onnx --node first",
    /^large\.onnx: .* this package does not run: Relu at opset 18 \(node "first"\); choose one node with --node, .*--with onnxruntime-node$/,
  ),
  fails(
    "explain large.onnx --node first",
    /^large\.onnx: .* this package does not run: Relu at opset 18/,
  ),
  fails(
    "compare large.onnx --node first",
    /^large\.onnx: .* this package does not run: Relu at opset 18/,
  ),
  fails(
    "run ScatterND --debug d.npy far.npy u.npy",
    new RegExp(String.raw`^${ND}: .*\nTensorError: .*\n +at .*[\s\S]*code: 'index-out-of-range'`),
  ),
]);

// What is printed.
testRows(folder, [
  prints("run add.onnx data=d.npy indices=i.npy updates=u.npy", `y: float32[4, 2]\n${ADDED}\n`),
  prints(
    "run ScatterNDUpdate --attr reduction=sum d.npy i32.npy u.pb",
    `output: float32[4, 2]\n${ADDED}\n`,
  ),
  prints(
    `${LARGE} ScatterND d.npy u.npy`,
    /^"\\u001b\[31my": float32\[4, 2\]\ntensor\(\[\[ 1\., {2}2\.\],\n {8}\[10\., 20\.\]/,
  ),
  prints(
    "run ScatterElementsUpdate --attr reduction=mean line.npy lines.npy line.npy axis.npy",
    /1\.6666666, 3\. /,
  ),
  prints(
    "run ScatterElementsUpdate --attr reduction=mean --attr axis=0 line.npy lines.npy line.npy",
    /1\.6666666, 3\. /,
  ),
  // [1, 2, 3] with 1 and 2 added to the second element and 3 to the third, or these sums alone.
  prints(`${SUM} use_init_val=true`, /\[1\., 5\., 6\.\]/),
  prints(`${SUM} use_init_val=false`, /\[1\., 3\., 3\.\]/),
  prints(
    "run Scatter line.npy lines.npy line.npy",
    /^output: float32/,
    "note: Scatter-11 is deprecated: ScatterElements replaces it",
  ),
]);

// Data outside the model's file.
testRows(folder, [
  prints("run model/good.onnx i1.npy", "y: float32[1]\ntensor([3.], dtype=float32)\n"),
  prints("run model/inside.onnx i1.npy", /3\./),
  prints("run GatherND model/good.pb i1.npy", "output: float32[1]\ntensor([2.], dtype=float32)\n"),
  fails(
    "run model/link.onnx i1.npy",
    /"link\.bin" must be in the model's folder, got a path outside it/,
  ),
  fails(
    "run model/sibling.onnx i1.npy",
    /"sibling\.bin" must be in the model's folder, got a path outside it/,
  ),
  fails("run model/out.onnx i1.npy", /"out\/secret\.bin" must be in the model's folder/),
  fails("run model/missing.onnx i1.npy", /"missing\.bin" cannot be read: no such file/),
  fails("run model/folder.onnx i1.npy", /inside must be a file, got a folder/),
  fails(
    "run model/short.onnx i1.npy",
    /weights\.bin ends at byte 12, but its data end at byte 16; the file is truncated/,
  ),
  // Nothing is allocated for 34 GB that are only promised.
  fails(
    "run GatherND model/huge.pb i1.npy",
    /weights\.bin ends at byte 12, but its data end at byte 34359738360; the file is truncated/,
  ),
  fails("run GatherND model/dots.pb i1.npy", /^model\/dots\.pb: .*leads out of the model's folder/),
  prints("run net.xml data=d.npy updates=u.npy", `y: float32[4, 2]\n${ADDED}\n`),
  prints(
    "run net.xml --node scatter d.npy u.pb indices=i32.npy --expect y.npy",
    "y: float32[4, 2]\n  equals y.npy\n",
  ),
  fails(
    "run alone.xml d.npy u.npy",
    'alone.xml: the external data "alone.bin" cannot be read: no such file or directory; put it in the folder of the model (node "scatter")',
  ),
  fails(
    "run model/net.xml d.npy u.npy",
    /^model\/net\.xml: layer 2 "indices" has 8 bytes from byte 0 of the \.bin, which has 7/,
  ),
  fails(
    "run model/leads-out.xml d.npy u.npy",
    /"leads-out\.bin" must be in the model's folder, got a path outside it/,
  ),
  fails("run entity.xml d.npy u.npy", /^entity\.xml: the XML holds "<!DOCTYPE net SYSTEM/),
]);

// What is compared.
testRows(folder, [
  prints(`${ADD} --expect y=y.npy`, "y: float32[4, 2]\n  equals y.npy\n"),
  fails(
    `${ADD} --expect wrong.npy`,
    "y[3, 0] is 37, but wrong.npy has 37.1",
    /differs from wrong\.npy/,
  ),
  fails(
    "run ScatterND nan.npy none.npy none2.npy --expect nan2.npy",
    "output[0] is NaN (bits 0x7fc00001), but nan2.npy has NaN (bits 0x7fc00002)",
    /differs/,
  ),
]);

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
