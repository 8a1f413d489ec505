/** How `ndscatter run` and `explain` find their target, and bind files to its inputs and outputs. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { test } from "node:test";
import { equals } from "../../src/entries/index.ts";
import { ADDED, DATA, makeCliFolder } from "../support/cli-files.ts";
import { checkResult, fails, prints, refuses, runCommand, testRows } from "../support/cli.ts";
import { newestTitle } from "../support/newest.ts";

const folder = makeCliFolder();
const { at, load, ndscatter } = folder;

const ADD = "run add.onnx d.npy i.npy u.npy";

fs.copyFileSync(at("add.onnx"), at("ScatterND"));
fs.copyFileSync(at("add.onnx"), at("model_file"));
fs.copyFileSync(at("net.xml"), at("upper.XML"));
fs.copyFileSync(at("net.bin"), at("upper.bin"));
fs.copyFileSync(at("d.npy"), at("UPPER.NPY"));

const SUM = `y: float32[4, 2]\n${ADDED}\n`;

// The target.
testRows(folder, [
  // The name of an operator is the operator, even beside a file of that name.
  prints("run ScatterND d.npy i.npy u.npy", /^output: float32\[4, 2\]\n/),
  prints("run ./ScatterND d.npy i.npy u.npy", SUM),
  prints("run model_file d.npy i.npy u.npy", SUM),
  prints("run upper.XML d.npy u.npy", SUM),
  refuses("run NoSuchOperator d.npy", /NoSuchOperator/),
  refuses("run ScatterND --domain openvino d.npy", /openvino/),
  refuses(
    "run ScatterND --node y d.npy",
    "--node needs a model, but ScatterND is an operator; for a file with this name, write ./ScatterND",
  ),
  refuses(
    "run add.onnx --domain ai.onnx d.npy",
    "--domain goes with an operator, but add.onnx is a model, which has its own",
  ),
  refuses(
    "run add.onnx --attr reduction=mul d.npy",
    "--attr goes with an operator, but add.onnx is a model, which has its own",
  ),
]);

// One node of a model: by its name, else by a value that it makes, else by its operator.
testRows(folder, [
  prints(
    "run large.onnx --node middle r=d.npy updates=u.npy",
    /^"\\u001b\[31my": float32\[4, 2\]\n/,
  ),
  prints("run made.onnx --node y d.npy", /^y: float32\[2\]\ntensor\(\[3\., 4\.\]/),
  // The value that a Constant makes may be left out or given.
  prints("run made.onnx --node take data=d.npy which=i0.npy", /^y: float32\[1, 2\]/),
  prints("explain made.onnx d.npy", /\noutput = data\[1\] {2}indices = 1\n$/),
  fails("run two.onnx --node r d.npy", /^two\.onnx: .*Relu at opset 18/),
  refuses("run two.onnx --node GatherND d.npy", /has 2 nodes "GatherND"; choose one of "y", "z"$/),
  refuses(
    "run many.onnx --node no d.npy",
    new RegExp(
      `its scatters and gathers are ${Array.from({ length: 20 }, (_, n) => `"out${n}"`).join(", ")} and 5 more$`,
    ),
  ),
  refuses(
    "explain many.onnx d.npy i.npy",
    /^many\.onnx must have one scatter or gather, got 25; .*"out19" and 5 more$/,
  ),
  refuses("explain copy.onnx d.npy u.npy", "copy.onnx must have one scatter or gather, got none"),
  refuses(
    "run unnamed.onnx --node take d.npy i.npy -o a.npy -o b.npy",
    "b.npy is one file too many; the outputs of GatherND take of unnamed.onnx are y",
  ),
  // One file for a value that the node takes twice: [1, 2, 3] scattered to places 1, 1, 2.
  prints(
    "run self.onnx --node self line.npy lines.npy",
    /^y: float32\[3\]\ntensor\(\[1\., 2\., 3\.\]/,
  ),
  prints("run self.onnx x=line.npy at=lines.npy", /tensor\(\[1\., 2\., 3\.\]/),
]);

// Files that are no ONNX models, read whole by run and in parts by inspect.
const TEXT = "text; name a model, or get the file again";
const OTHER_FILES = {
  "image.onnx": ["\u0089PNG\r\n\u001a\n\0\0\0\rIHDR", "a PNG image; name a model"],
  "text.onnx": ["# Größe\n\nA text.\n", TEXT],
  "json.onnx": ['{ "model": 1 }\n', TEXT],
  "none.onnx": ["", "an empty file; get it again"],
  "archive.onnx": [
    "PK\u0003\u0004\u0014\0\0\0",
    "a ZIP archive, such as PyTorch's .pt; export it as ONNX (torch.onnx.export)",
  ],
  "net.onnx": [
    "<?xml version='1.0'?><net/>",
    "an XML file; the name of an OpenVINO IR must end in .xml",
  ],
  "lite.onnx": ["\u001c\0\0\0TFL3", "a TensorFlow Lite model; export it as ONNX (tf2onnx)"],
  "pointer.onnx": [
    "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    "the text that Git LFS stores in its place; get the model (git lfs pull)",
  ],
} as const;

for (const [name, [content, what]] of Object.entries(OTHER_FILES)) {
  const isBytes = what !== TEXT;
  fs.writeFileSync(at(name), content, isBytes ? "latin1" : "utf8");
  const sentence = `${name}: the file must be an ONNX model, got ${what}`;
  testRows(folder, [fails(`run ${name} d.npy`, sentence), fails(`inspect ${name}`, sentence)]);
}
fs.copyFileSync(at("d.npy"), at("array.onnx"));
testRows(folder, [
  fails(
    "run array.onnx d.npy",
    "array.onnx: the file must be an ONNX model, got a NumPy array (.npy); name a model",
  ),
  // A model that ends too early is a broken one.
  fails("inspect cut.onnx", /^cut\.onnx: the file is truncated or damaged/),
]);

// Nodes in bodies and functions, by name, value and path.
for (const [name, row] of [
  ["t1", "3., 4."],
  ['If "choose" / then_branch / take', "3., 4."],
  ['If "choose" / then_branch / If "again" / then_branch / made index', "5., 6."],
  ["_if_else_branch_GatherND", "3., 4."],
] as const) {
  test(`run places.onnx --node ${name}`, async () => {
    const args = ["run", "places.onnx", "--node", name, "d.npy"];
    const { stdout, stderr } = await runCommand(folder.home, args);
    assert.ok(stdout.includes(row), stderr);
  });
}

testRows(folder, [
  prints(
    "explain places.onnx --node l carried=d.npy i=i0.npy",
    /\noutput\[0\] = data\[0\] {2}indices\[0\] = 0\n$/,
  ),
  refuses(
    "explain places.onnx",
    /must have one scatter or gather, got 9; choose one with --node: If "choose" \/ then_branch \/ "take", /,
  ),
  refuses(
    "run places.onnx --node take d.npy",
    /has 2 nodes "take"; choose one of If "choose" \/ then_branch \/ "take", /,
  ),
  refuses("run places.onnx --node t1", /needs files for x, i; add x=FILE$/),
  fails(
    "run places.onnx --node second q=d.npy I=one.npy",
    /"axis" is unknown, because each call of the function sets it with its attribute "where"/,
  ),
]);

test("an empty name is no node's", async () => {
  const { stderr, status } = await ndscatter("run many.onnx d.npy --node=");
  assert.match(
    stderr,
    /^ndscatter: many\.onnx: the model has no node ""; its scatters and gathers are "out0", /,
  );
  assert.equal(status, 2);
});

// Files and names.
testRows(folder, [
  prints("run add.onnx updates=u.npy d.npy i.npy", SUM),
  prints("run add.onnx ./d.npy i.npy updates=./u.npy", SUM),
  prints("run add.onnx UPPER.NPY i.npy u.npy", SUM),
  refuses(
    "run add.onnx data=d.npy data=d.npy i.npy u.npy",
    "the input data has two files; give only one",
  ),
  refuses(`${ADD} -o y=a.npy -o y=b.npy`, "the output y has two files; give only one"),
  refuses(`${ADD} -o x=a.npy`, "add.onnx has no output x; its outputs are y"),
  refuses(`${ADD} -o a.npy -o b.npy`, "b.npy is one file too many; the outputs of add.onnx are y"),
  refuses("run bare.onnx d.npy", "d.npy is one file too many; the inputs of bare.onnx are none"),
  refuses("run bare.onnx q=d.npy", "bare.onnx has no input q; its inputs are none"),
  prints("run bare.onnx", "t: int64[]\ntensor(5, dtype=int64)\n"),
  // The longest name that fits is not needed: a name may contain a `=`.
  prints(
    "run odd.onnx a=b=one1.npy --expect y=one1.npy",
    /^y: float32\[\]\n {2}equals one1\.npy\nt: string\[\]\n/,
  ),
  prints("run odd.onnx ./x=y.npy", /^y: float32\[1\]\ntensor\(\[9\.\]/),
  refuses("run odd.onnx x=y.npy", 'odd.onnx has no input x; its inputs are "a=b"'),
  refuses(
    "run GatherND d.npy",
    `${newestTitle("GatherND")} needs files for data, indices; add indices=FILE`,
  ),
  refuses(
    "run GatherND",
    `${newestTitle("GatherND")} needs files for data, indices; add data=FILE indices=FILE`,
  ),
  refuses(`${ADD} -o d.txt`, "d.txt must end in .npy or .pb, which determines its format"),
  refuses(
    `${ADD} -o d.zarr[1:2]`,
    "d.zarr[1:2] must end in .npy or .pb, which determines its format; a Zarr array needs --memory, such as --memory 1G",
  ),
  refuses("run GatherND d.txt i.npy", "d.txt must end in .npy or .pb, which determines its format"),
]);

test("a path that begins with a slash may contain a =", async () => {
  const { stdout } = await ndscatter(`run odd.onnx ${at("x=y.npy")}`);
  assert.match(stdout, /^y: float32\[1\]\n/);
});

// What is compared.
testRows(folder, [
  fails(
    "run GatherND complex.npy both.npy --expect complex2.npy",
    "output[1] is [3, 4], but complex2.npy has [3, -4]",
    "output: complex64[2]\n  differs from complex2.npy\n  why: nothing known explains it\n",
  ),
  fails(
    "run odd.onnx one1.npy --expect y=one2.npy",
    "y is 1, but one2.npy has 2",
    /^y: float32\[\]\n {2}differs from one2\.npy\nt: string\[\]\n/,
  ),
  fails(
    "run copy.onnx d.npy u.npy --expect y=u.npy --expect z=d.npy",
    "y is float32[4, 2], but u.npy has float32[2, 2]; z is float32[2, 2], but d.npy has float32[4, 2]",
    /^y: .*\n {2}differs from u\.npy\nz: .*\n {2}differs from d\.npy\n$/,
  ),
  fails(
    `${ADD} --expect no.npy`,
    "no.npy: no such file or directory; check the name and the folder",
  ),
]);

test("a result that differs is written all the same", async () => {
  const line = `${ADD} -o y=differs.npy --expect wrong.npy`;
  const { status, stdout } = await ndscatter(line);
  const why = "  differs from wrong.npy\n  why: nothing known explains it\n";
  assert.equal(stdout, `y: float32[4, 2]\n  written to differs.npy\n${why}`);
  assert.equal(status, 1);
  assert.ok(equals(load("differs.npy"), ADDED));
});

test("a model and an expected result are never replaced, an input only by its own type", async () => {
  fs.copyFileSync(at("add.onnx"), at("model.npy"));
  const rows = [
    refuses(
      "run ./model.npy d.npy i.npy u.npy -o model.npy",
      "the output model.npy is a file that the command reads; give another output",
    ),
    refuses(
      "run GatherND d.npy one.npy -o d.npy",
      "the output d.npy is float32[2], so it cannot replace the input data, float32[4, 2]; give another output",
    ),
    prints(
      "run copy.onnx d.npy u.npy -o z=UPPER.NPY",
      /^y: .*\n.*\n.*\n.*\n.*\nz: float32\[2, 2\]\n/,
    ),
  ];
  for (const row of rows) checkResult(await ndscatter(row.line), row);
  assert.ok(equals(load("d.npy"), DATA));
});

test("a pipe is no file, and is not waited for", async () => {
  spawnSync("mkfifo", [at("pipe.npy")]);
  const row = fails(
    "run GatherND pipe.npy i.npy",
    "pipe.npy must be a file, got a pipe or a device; name a file",
  );
  checkResult(await ndscatter(row.line), row);
  const written = fails(
    `${ADD} -o pipe.npy`,
    "pipe.npy must be a file, got a pipe or a device; name a file",
  );
  checkResult(await ndscatter(written.line), written);
});
