/**
 * `ndscatter conformance`: over ONNX's own test folders, where they are there, and over folders made here that fail in
 * every way a folder can.
 */

import assert from "node:assert/strict";
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { tensor, type Tensor } from "../src/index.ts";
import { buildModel, readModel, readTensor, writeModel, writeTensor } from "../src/onnx/index.ts";

const MAIN = fileURLToPath(new URL("../src/cli/main.js", import.meta.url));
// From build/test: the folder beside the project.
const ONNX_NODE = fileURLToPath(new URL("../../../shared/conformance/onnx-node", import.meta.url));

const conformance = (...args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [MAIN, "conformance", ...args], {
    encoding: "utf8",
    timeout: 60_000,
  });

const ifThere = { skip: !fs.existsSync(ONNX_NODE) && `${ONNX_NODE} is not there` };

test("ONNX's own folders", ifThere, () => {
  const { stdout, stderr, status } = conformance(ONNX_NODE);
  const lines = stdout.trimEnd().split("\n");
  const named = (word: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => /^\S+ +([^:\s]+)/.exec(line)?.[1] ?? line);
  assert.deepEqual(named("FAIL"), []);
  assert.equal(named("ok").length, 29, stdout);
  assert.equal(lines.at(-1), "29 passed, 0 failed, 0 skipped");
  assert.equal(stderr, "");
  assert.equal(status, 0);
});

test("a model that is read is written with the same bytes", ifThere, () => {
  for (const folder of fs.readdirSync(ONNX_NODE)) {
    const bytesOf = (...names: string[]): Uint8Array =>
      new Uint8Array(fs.readFileSync(path.join(ONNX_NODE, folder, ...names)));
    const original = bytesOf("model.onnx");
    const { graph, opsets } = readModel(original);
    assert.ok(graph.nodes.length > 0 && opsets["ai.onnx"] > 8);
    // ONNX's writer puts fields in the order of their numbers, and so does ours.
    assert.deepEqual(writeModel(readModel(original)), original, folder);
    const inputs = fs
      .readdirSync(path.join(ONNX_NODE, folder, "test_data_set_0"))
      .filter((name) => name.startsWith("input_"));
    assert.equal(graph.inputs.length, inputs.length);
    for (const [i, { name, type }] of graph.inputs.entries()) {
      const part = bytesOf("test_data_set_0", `input_${i}.pb`);
      const { dtype, shape } = readTensor(part);
      assert.deepEqual({ dtype, shape }, type);
      assert.deepEqual(writeTensor(readTensor(part), name), part);
    }
  }
});

/** Adds `updates` to a vector; `count` data sets of which the last expects `expected`. */
function makeFolder(folder: string, expected: Tensor, count = 1, op = "ScatterElements"): void {
  const vector = { dtype: "float32", shape: ["N"] } as const;
  const model = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: vector, at: { dtype: "int64", shape: ["M"] } },
    constants: { updates: tensor("float32", [1], [5]) },
    nodes: [
      { op, inputs: ["x", "at", "updates"], outputs: ["y"], attributes: { reduction: "add" } },
    ],
    outputs: { y: vector },
  });
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "model.onnx"), writeModel(model));
  for (let set = 0; set < count; set++) {
    const data = path.join(folder, `test_data_set_${set}`);
    fs.mkdirSync(data);
    const wanted = set === count - 1 ? expected : tensor("float32", [2], [1, 7]);
    fs.writeFileSync(path.join(data, "input_0.pb"), writeTensor(tensor("float32", [2], [1, 2])));
    fs.writeFileSync(path.join(data, "input_1.pb"), writeTensor(tensor("int64", [1], [1])));
    fs.writeFileSync(path.join(data, "output_0.pb"), writeTensor(wanted));
  }
}

test("folders that fail, each in its way", () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-conformance-"));
  const at = (name: string): string => path.join(home, name);
  try {
    const right = tensor("float32", [2], [1, 7]);
    const folders = ["test_1_ok", "test_2_cut", "test_3_few", "test_4_bare", "test_5_gone"];
    for (const name of folders) makeFolder(at(name), right);
    makeFolder(at("test_6_value"), tensor("float32", [2], [1, 6.5]), 11);
    makeFolder(at("test_7_shape"), tensor("float32", [1], [1]));
    makeFolder(at("test_10_other"), right, 1, "Relu");
    fs.writeFileSync(at("test_2_cut/test_data_set_0/input_1.pb"), new Uint8Array([8]));
    fs.rmSync(at("test_3_few/test_data_set_0/input_1.pb"));
    fs.rmSync(at("test_4_bare/test_data_set_0"), { recursive: true });
    fs.rmSync(at("test_5_gone/model.onnx"));
    fs.mkdirSync(at("test_8_nothing"));
    fs.writeFileSync(at("README"), "no folder");

    const { stdout, status } = conformance(home);
    const patterns = [
      /^ok {7}test_1_ok$/,
      /^FAIL {5}test_2_cut: .*input_1\.pb: /,
      /^FAIL {5}test_3_few: test_data_set_0 has 1 input files, but the model has 2 inputs$/,
      /^FAIL {5}test_4_bare: there is no test_data_set_0$/,
      /^FAIL {5}test_5_gone: .*model\.onnx: no such file or directory$/,
      /^FAIL {5}test_6_value: y\[1\] is 7, but test_data_set_10\/output_0\.pb has 6\.5$/,
      /^FAIL {5}test_7_shape: y is float32\[2\], but .* has float32\[1\]$/,
      /^skipped {2}test_10_other: .*Relu at opset 18/,
      /^1 passed, 6 failed, 1 skipped$/,
    ];
    const lines = stdout.trimEnd().split("\n");
    assert.equal(lines.length, patterns.length, stdout);
    for (const [position, pattern] of patterns.entries()) assert.match(lines[position], pattern);
    assert.equal(status, 1);

    const one = conformance("--json", at("test_1_ok"));
    assert.deepEqual(JSON.parse(one.stdout), {
      passed: 1,
      failed: 0,
      skipped: 0,
      folders: [{ name: "test_1_ok", status: "ok" }],
    });
    assert.equal(one.status, 0);
  } finally {
    fs.rmSync(home, { recursive: true });
  }
});
