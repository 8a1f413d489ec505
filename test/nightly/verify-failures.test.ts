/** What `verify` says of models that fail in ONNX Runtime, and how much memory it takes beside weights that nothing uses. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { buildModel, verifyModel, writeModel, type ModelSpec } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { bytes } from "../support/onnx-encoder.ts";
import { externalTensor } from "../support/cli-models.ts";
import { MAIN } from "../support/cli.ts";
import { i64 } from "../support/node-models.ts";
import { GRAPH, MODEL, tensorType, valueInfo } from "../support/onnx-parts.ts";
import { createSession, MODULES, WITHOUT_RUNTIME } from "../support/onnxruntime.ts";
import { scanFile, shadowsFile, twoCallsFile } from "../support/place-models.ts";

const skip = WITHOUT_RUNTIME;
const FLOAT = 1;
const INT64 = 7;
const x = tensor("float32", [4], [1, 2, 3, 4]);
const yes = tensor("bool", [], true);

const modelOf = (opset: number, nodes: ModelSpec["nodes"], last: string): Uint8Array =>
  writeModel(
    buildModel({
      opsets: { "ai.onnx": opset },
      inputs: { x: { dtype: "float32", shape: [4] } },
      constants: { near: i64([2], 1, 2), five: i64([1], 5), u: tensor("float32", [2], [9, 0.5]) },
      nodes,
      outputs: { [last]: null },
    }),
  );

test("the iteration in which a loop fails is named, with the node", { skip }, async () => {
  const feeds = { n: tensor("int64", [], 1000n), c: yes, x };
  const options = { createSession, node: 'Loop "loop" / body / nth' };
  const file = shadowsFile(valueInfo("at", tensorType(INT64)));
  const { nodes, problem } = await verifyModel(file, feeds, options);
  assert.deepEqual([nodes[0].verdict, nodes[0].where], ["wrong", 'iteration 4 of node "loop"']);
  assert.match(problem ?? "", /idx=4/);
});

test("a Scan that is not loaded fails in no iteration", { skip }, async () => {
  const feeds = {
    s: tensor("float32", [2], [1, 2]),
    x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]),
  };
  const { problem } = await verifyModel(scanFile(), feeds, { createSession });
  assert.match(problem ?? "", /^Node \(scan\)/);
});

test("both calls of a function agree", { skip }, async () => {
  const of = (first: number) =>
    tensor(
      "float32",
      [2, 3],
      [1, 2, 3, 4, 5, 6].map((one) => one + first),
    );
  for (const call of [0, 1]) {
    const feeds = { x: of(0), z: of(10) };
    const { nodes, agrees } = await verifyModel(twoCallsFile(), feeds, { createSession, call });
    assert.deepEqual([nodes[0].verdict, agrees], ["equal", true]);
  }
});

test(
  "a model whose tail does not load is not right, and the runtime says why",
  { skip },
  async () => {
    const take = { op: "Gather", name: "take", inputs: ["x", "near"], outputs: ["t"] };
    const tails = [
      [{ op: "Unknown", inputs: ["t"], outputs: ["y"] }, "never"],
      [{ op: "ReduceMean", inputs: ["t"], outputs: ["y"], attributes: { axes: [0] } }, "never"],
      [{ op: "Reshape", inputs: ["t", "five"], outputs: ["y"] }, "as-is"],
    ] as const;
    for (const [tail, expected] of tails) {
      const file = modelOf(18, [take, tail], "y");
      // oxlint-disable-next-line no-await-in-loop
      const { nodes, loads, problem, agrees } = await verifyModel(file, { x }, { createSession });
      assert.deepEqual([nodes[0].verdict, loads, agrees], ["equal", expected, false]);
      assert.match(problem ?? "", new RegExp(tail.op));
    }
  },
);

test(
  "every bfloat16 except NaN comes through a runtime that does not return bfloat16",
  { skip },
  async () => {
    const size = 2 ** 16;
    // ONNX Runtime's Cast of an input to bfloat16 makes all NaNs the same.
    const bits = Array.from({ length: size }, (_, at) => ((at & 0x7fff) > 0x7f80 ? 0 : at));
    const table = tensor("bfloat16", [size], Uint16Array.from(bits));
    const backwards = BigInt64Array.from({ length: size }, (_, at) => BigInt(size - 1 - at));
    const file = writeModel(
      buildModel({
        opsets: { "ai.onnx": 18 },
        inputs: { table, i: { dtype: "int64", shape: [size] } },
        nodes: [{ op: "Gather", inputs: ["table", "i"], outputs: ["t"] }],
        outputs: { t: { dtype: "bfloat16", shape: [size] } },
      }),
    );
    const feeds = { table, i: tensor("int64", [size], backwards) };
    const { nodes, agrees } = await verifyModel(file, feeds, { createSession });
    assert.deepEqual([nodes[0].verdict, agrees], ["equal", true]);
  },
);

test("a Reshape that fails is named once", { skip }, async () => {
  const gathers = ["a", "b", "c"].map((name) => ({
    ...{ op: "Gather", name, inputs: ["flat", "near"], outputs: [`of ${name}`] },
  }));
  const reshape = { op: "Reshape", name: "reshape", inputs: ["x", "five"], outputs: ["flat"] };
  const file = modelOf(13, [reshape, ...gathers], "of c");
  const { nodes, failures } = await verifyModel(file, { x }, { createSession });
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["behind", "behind", "behind"],
  );
  assert.deepEqual(
    failures.map(({ title, behind }) => [title, behind]),
    [["Reshape reshape", ["a", "b", "c"]]],
  );
});

test("what the runtime does with a reduction that it does not know is said", { skip }, async () => {
  const node = { op: "ScatterElements", inputs: ["x", "near", "u"], outputs: ["y"] };
  const file = modelOf(16, [{ ...node, attributes: { reduction: "sum" } }], "y");
  const [{ verdict, diagnoses }] = (await verifyModel(file, { x }, { createSession })).nodes;
  assert.equal(verdict, "wrong");
  assert.deepEqual(
    diagnoses.map(({ id }) => id),
    ["other-reduction"],
  );
});

test(
  "verify beside 2.7 GB of weights takes less than 400 MB more than the runtime",
  { skip },
  (context) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-"));
    context.after(() => fs.rmSync(folder, { recursive: true }));
    const nodes = [
      { op: "Gather", name: "small", inputs: ["x", "near"], outputs: ["y"] },
      { op: "MatMul", name: "large", inputs: ["x", "W"], outputs: ["z"] },
    ];
    const weights = externalTensor("W", FLOAT, [4, 168_750_000], "w.bin");
    const whole = bytes(MODEL.graph, bytes(GRAPH.initializer, [...weights]));
    fs.writeFileSync(
      path.join(folder, "m.onnx"),
      Buffer.concat([modelOf(13, nodes, "y"), Uint8Array.from(whole)]),
    );
    fs.writeFileSync(path.join(folder, "w.bin"), "");
    fs.truncateSync(path.join(folder, "w.bin"), 2.7e9);
    fs.symlinkSync(MODULES, path.join(folder, "node_modules"));
    const report = 'process.on("exit", () => console.error(process.resourceUsage().maxRSS / 1000))';
    const measured = (
      ...line: readonly string[]
    ): { readonly stdout: string; readonly most: number } => {
      const argv = ["--import", `data:text/javascript,${report}`, ...line];
      const { stdout, stderr } = spawnSync(process.execPath, argv, {
        cwd: folder,
        encoding: "utf8",
      });
      // Lines of progress may come before.
      return { stdout, most: Number(stderr.trim().split("\n").at(-1)) };
    };
    const alone = `
    const { InferenceSession } = require("onnxruntime-node");
    const x = { type: "float32", dims: [4], data: new Float32Array(4), location: "cpu" };
    InferenceSession.create("m.onnx", { logSeverityLevel: 4 }).then((session) => session.run({ x }));`;
    const { stdout, most } = measured(MAIN, "verify", "m.onnx", "--random");
    const runtime = measured("-e", alone);
    assert.match(stdout, /\n1 equal\n$/);
    context.diagnostic(`${most} MB, the runtime alone ${runtime.most} MB`);
    assert.ok(most < runtime.most + 400, `${most} MB, the runtime alone ${runtime.most} MB`);
  },
);
