/** Runs what the README shows: its code, its commands, its error and its table of operators. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { isTensorError } from "../src/errors.ts";
import { scatterND } from "../src/functions.ts";
import { writeNpy } from "../src/npy/index.ts";
import {
  buildModel,
  convertModel,
  writeModel,
  writeTensor,
  type Model,
} from "../src/onnx/index.ts";
import { writeIR } from "../src/openvino/index.ts";
import { run } from "../src/call/run.ts";
import { DTYPE_NAMES } from "../src/tensor/dtype.ts";
import { equals, tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import {
  assertPrints,
  blocksOf,
  inFolder,
  ndscatter,
  read,
  ROOT,
  runBlock,
} from "./support/documents.ts";

const readme = read("README.md");

/** The block of TypeScript that has `text` in it. */
function blockWith(text: string): string {
  const found = blocksOf(readme, "ts").filter((block) => block.includes(text));
  assert.equal(found.length, 1, text);
  return found[0];
}

/** What the blocks take for granted: the tensors of the first one, and a model that scatters them. */
const BEFORE = `
import * as core from "ndscatter";
import * as onnx from "ndscatter/onnx";
import * as openvino from "ndscatter/openvino";
const T = core.tensor;
`;
const TENSORS = `
const data = T("float32", [4, 3], new Float32Array(12).fill(1));
const indices = T("int64", [3, 1], [1, 3, 1]);
const updates = T("float32", [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
`;
const MODEL = `
const modelBytes = onnx.writeModel(onnx.buildModel({
  opsets: { "": 16 },
  inputs: {
    data: { dtype: "float32", shape: [4, 3] },
    indices: { dtype: "int64", shape: [3, 1] },
    updates: { dtype: "float32", shape: [3, 3] },
  },
  nodes: [{ op: "ScatterND", inputs: ["data", "indices", "updates"], outputs: ["y"] }],
  outputs: { y: null },
}));
`;

test("the table of operators is the registry's", async () => {
  const { renewed }: { renewed: () => string } = await import(path.join(ROOT, "scripts/readme.js"));
  assert.equal(readme, renewed(), "run node scripts/readme.js");
});

test("it counts the data types", () => {
  assert.ok(readme.includes(`all ${DTYPE_NAMES.length} data types`));
});

test("the picture at its top has the values of its first example", async () => {
  const { values } = await runBlock("readme-picture", blockWith("const sums"), {
    exported: ["sums"],
  });
  const rows = [...readme.matchAll(/^(\d) │.*(\d) │ +(\d+) +(\d+) +(\d+) │/gm)];
  assert.deepEqual(
    rows.map(([, , , ...row]) => row.map(Number)),
    (values["sums"] as Tensor).toArray(),
  );
});

test("the example of the library prints what it says", async () => {
  const code = blockWith("const sums");
  const { values, printed } = await runBlock("readme-library", code, {
    exported: ["data", "sums"],
  });
  const [, row] = /row 1 is (\[.*\])/.exec(code) ?? [];
  const [, gathered] = /\.toArray\(\)\); \/\/ (.*)/.exec(code) ?? [];
  const [sums, picked] = printed as [Tensor<"float32">, number[]];
  assert.deepEqual((sums.toArray() as number[][])[1], JSON.parse(row));
  assert.deepEqual(picked, JSON.parse(gathered));
  // In place: the last update of row 1 wins.
  assert.deepEqual((values["data"] as Tensor).toArray(), [
    [0, 0, 0],
    [7, 8, 9],
    [0, 0, 0],
    [4, 5, 6],
  ]);
});

test("a node and models of both formats run as it shows", async () => {
  const { values } = await runBlock("readme-node", blockWith("const outputs"), {
    before: `${BEFORE}${TENSORS}${MODEL}
      const net = onnx.convertModel(onnx.readModel(modelBytes), { domain: "openvino" }).model;
      const { xml, bin } = openvino.writeIR(net);`,
    exported: ["data", "indices", "updates", "output", "outputs", "same"],
  });
  const { data, indices, updates, output, outputs, same } = values as Record<string, Tensor> & {
    outputs: Record<string, Tensor>;
    same: Record<string, Tensor>;
  };
  assert.deepEqual(output.toArray(), [
    [1, 1, 1],
    [7, 16, 27],
    [1, 1, 1],
    [4, 5, 6],
  ]);
  const expected = scatterND(
    data as Tensor<"float32">,
    indices as Tensor<"int64">,
    updates as Tensor<"float32">,
  );
  assert.ok(equals(outputs["y"], expected));
  assert.ok(equals(same["y"], expected));
});

test("the plain functions, inspect and convert run as it shows", async () => {
  const code = blockWith("tensorScatter(");
  const { values } = await runBlock("readme-family", code, {
    before: `${BEFORE}${MODEL}
      const [table, ids] = [T("float32", [2, 2], [1, 2, 3, 4]), T("int64", [2], [1, 9])];
      const [means, targets, values] = [T("float32", [1, 2], [1, 2]), [[0, 0], [0, 7]], [[3, 4], [5, 6]]];
      const cache = T("float32", [1, 4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
      const keys = T("float32", [1, 2, 2], [9, 9, 9, 9]);
      const positions = T("int64", [1], [3]);`,
    exported: ["cache", "nodes", "xml"],
  });
  assert.deepEqual((values["cache"] as Tensor).toArray(), [
    [
      [9, 9],
      [3, 4],
      [5, 6],
      [9, 9],
    ],
  ]);
  assert.equal((values["nodes"] as unknown[]).length, 1);
  assert.match(String(values["xml"]), /type="ScatterNDUpdate"/);
});

test("an engine runs as it shows", async () => {
  const { values } = await runBlock("readme-engine", blockWith("createEngine("), {
    before: `${BEFORE}
      const positions = [[0, 1], [7, 4095]];
      const keys = core.full("float32", [2, 64], 3);`,
    exported: ["cache", "engine"],
  });
  const cache = values["cache"] as Tensor<"float32">;
  assert.deepEqual([cache.data[64], cache.data[cache.size - 1], cache.data[0]], [3, 3, 0]);
  (values["engine"] as { dispose(): void }).dispose();
});

test("what it shows of explain is what explain says", async () => {
  const code = blockWith("explain(");
  const { printed } = await runBlock("readme-explain", code, { before: `${BEFORE}${TENSORS}` });
  const [, sentence] = /shapes\[0\]\.sentence\); \/\/ (.*)/.exec(code) ?? [];
  // Two updates of the cell, the targets with the most updates, and the sentence.
  assert.equal(printed.length, 4);
  assert.equal(printed[3], sentence);
});

test("the error it shows is the error that is thrown", () => {
  const shown = blocksOf(readme, "text").find((block) => block.startsWith("TensorError: "));
  const [first, fields] = (shown ?? "").split("\n");
  const inputs = [
    zeros("float32", [8, 3]),
    tensor("int64", [3, 1], [0, 1, 9]),
    zeros("float32", [3, 3]),
  ];
  assert.throws(
    () => run({ op: "ScatterND", opset: 16 }, inputs),
    (error) => {
      assert.ok(isTensorError(error));
      const { name, message, ...facts } = error;
      assert.equal(first, `${name}: ${message}`);
      assert.deepEqual({ ...facts }, JSON.parse(fields.replaceAll(/(\w+):/g, '"$1":')));
      return true;
    },
  );
});

const D = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
const I = tensor("int64", [3, 1], [1, 3, -3]);
const U = tensor("float32", [3, 2], [10, 20, 30, 40, 0.5, 0]);

/** A model that scatters, between others where it is a larger one. */
const scatterModel = (isLarge: boolean): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: D, indices: I, updates: U },
    nodes: [
      {
        op: "ScatterND",
        name: "scatter_7",
        inputs: ["data", "indices", "updates"],
        outputs: ["y"],
      },
      ...(isLarge ? [{ op: "Relu", inputs: ["y"], outputs: ["z"] }] : []),
    ],
    outputs: { [isLarge ? "z" : "y"]: { dtype: "float32", shape: [4, 2] } },
  });

/** The files that the commands name. */
function writeFiles(folder: string): void {
  const { xml, bin } = writeIR(convertModel(scatterModel(false), { domain: "openvino" }).model);
  const suite = "onnx/backend/test/data/node/test_scatternd";
  const output = scatterND(D, I, U);
  const files = {
    "d.npy": writeNpy(D),
    "i.npy": writeNpy(I),
    "u.npy": writeNpy(U),
    "y.npy": writeNpy(output),
    "model.onnx": writeModel(scatterModel(false)),
    "big.onnx": writeModel(scatterModel(true)),
    "net.xml": xml,
    "net.bin": bin,
    [`${suite}/model.onnx`]: writeModel(scatterModel(false)),
    [`${suite}/test_data_set_0/input_0.pb`]: writeTensor(D),
    [`${suite}/test_data_set_0/input_1.pb`]: writeTensor(I),
    [`${suite}/test_data_set_0/input_2.pb`]: writeTensor(U),
    [`${suite}/test_data_set_0/output_0.pb`]: writeTensor(output),
  };
  for (const [name, bytes] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), bytes);
  }
}

test("its commands run, and print what it shows", () =>
  inFolder(async (folder) => {
    writeFiles(folder);
    const lines = [...readme.matchAll(/^ndscatter (.*?)(?: +#.*)?$/gm)].map(([, line]) => line);
    assert.equal(lines.length, 11);
    for (const line of lines) {
      const { status, stdout, stderr } = await ndscatter(line, folder);
      assert.equal(status, 0, `${line}\n${stdout}${stderr}`);
    }
    const made = ["out.npy", "m13.onnx"];
    assert.deepEqual(
      made.filter((name) => fs.existsSync(path.join(folder, name))),
      made,
    );
    const shown = blocksOf(readme, "text").filter((block) => block.startsWith("$ ndscatter "));
    const statuses = await Promise.all(shown.map((block) => assertPrints(block, folder)));
    assert.deepEqual(statuses, [[0]]);
  }));
