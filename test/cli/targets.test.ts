/** How `ndscatter run` and `explain` find their target, and bind files to its inputs and outputs. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { test } from "node:test";
import { equals } from "../../src/entries/index.ts";
import { ADDED, DATA, makeCliFolder } from "../support/cli-files.ts";
import { checkResult, fails, prints, refuses, runCommand } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";

const folder = makeCliFolder();
const { at, load, ndscatter } = folder;

const ADD = "run add.onnx d.npy i.npy u.npy";

fs.copyFileSync(at("add.onnx"), at("ScatterND"));
fs.copyFileSync(at("add.onnx"), at("model_file"));
fs.copyFileSync(at("net.xml"), at("upper.XML"));
fs.copyFileSync(at("net.bin"), at("upper.bin"));
fs.copyFileSync(at("d.npy"), at("UPPER.NPY"));

testTranscript(folder, "targets", "The target");

testTranscript(
  folder,
  "targets",
  "One node of a model, by its name, else by its output, else by its operator",
);

// Files that are not ONNX models; run reads a file whole, and inspect in parts.
const OTHER_FILES = {
  "image.onnx": "\u0089PNG\r\n\u001a\n\0\0\0\rIHDR",
  "json.onnx": '{ "model": 1 }\n',
  "none.onnx": "",
  "archive.onnx": "PK\u0003\u0004\u0014\0\0\0",
  "net.onnx": "<?xml version='1.0'?><net/>",
  "page.onnx": "<!DOCTYPE html>\n<html><body>Not found</body></html>",
  "lite.onnx": "\u001c\0\0\0TFL3",
  "pointer.onnx": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
};
for (const [name, content] of Object.entries(OTHER_FILES)) {
  fs.writeFileSync(at(name), content, "latin1");
}
fs.writeFileSync(at("text.onnx"), "# Größe\n\nA text.\n");
fs.copyFileSync(at("d.npy"), at("array.onnx"));
testTranscript(folder, "targets", "Files that are not ONNX models");

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

testTranscript(folder, "targets", "Nodes in bodies and functions");

test("an empty name is no node's", async () => {
  const { stderr, status } = await ndscatter("run many.onnx d.npy --node=");
  assert.match(
    stderr,
    /^ndscatter: many\.onnx: the model has no node ""; its scatters and gathers are "out0", /,
  );
  assert.equal(status, 2);
});

testTranscript(folder, "targets", "Files and names");

test("a path that begins with a slash may contain a =", async () => {
  const { stdout } = await ndscatter(`run odd.onnx ${at("x=y.npy")}`);
  assert.match(stdout, /^y: float32\[1\]\n/);
});

testTranscript(folder, "targets", "Comparisons");

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
