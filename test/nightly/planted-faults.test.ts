/**
 * Models that go wrong in ONNX Runtime, each found by one command: what the graph computes, threads that race, an opset that
 * does not fit, and a sum in a wider type. And the commands of my-model-fails.md that need the runtime.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { buildModel, writeModel, type ModelSpec } from "../../src/entries/onnx.ts";
import { full, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { makeFolder, type Folder, type Result } from "../support/cli.ts";
import { assertPrints, blocksOf, needsRuntime, read, ROOT } from "../support/documents.ts";
import { F16, F32, I64, i64 } from "../support/node-models.ts";
import { MODULES, WITHOUT_RUNTIME } from "../support/onnxruntime.ts";

const skip = WITHOUT_RUNTIME;

/** A folder with ONNX Runtime, or with a runtime that is made of it. */
function folderWith(source?: string): Folder {
  const folder = makeFolder();
  if (source === undefined) fs.symlinkSync(MODULES, folder.at("node_modules"));
  else {
    const place = "node_modules/onnxruntime-node";
    fs.mkdirSync(folder.at(place), { recursive: true });
    fs.writeFileSync(
      folder.at(`${place}/package.json`),
      '{ "type": "module", "exports": "./index.js" }',
    );
    fs.writeFileSync(folder.at(`${place}/index.js`), source);
  }
  return folder;
}

interface Fault {
  readonly model: ModelSpec;
  readonly feeds: Readonly<Record<string, Tensor>>;
  readonly options?: string;
  /** The runtime; ONNX Runtime itself by default. */
  readonly runtime?: string;
  readonly says: readonly RegExp[];
}

const scatter = (reduction: string, op = "ScatterND") => ({
  op,
  name: "sum",
  inputs: ["sums", "targets", "messages"],
  outputs: ["y"],
  attributes: { reduction },
});

const EDGES = 2_000_000;
const NODES = 16;

/** ONNX Runtime, but sums of float16 are made of float32 and rounded once. */
const WIDE = `
import { createRequire } from "node:module";
import { readModel, writeModel } from ${JSON.stringify(pathToFileURL(path.join(ROOT, "build/src/entries/onnx.js")).href)};
const runtime = createRequire(${JSON.stringify(`${MODULES}/`)})("onnxruntime-node");
const cast = (from, to, type) => ({
  name: "", op: "Cast", domain: "ai.onnx", inputs: [from], outputs: [to], attributes: { to: { type: "int", value: type } },
});
export const InferenceSession = {
  create(bytes, options) {
    const model = readModel(bytes);
    const [sum] = model.graph.nodes;
    const [sums, targets, messages] = sum.inputs;
    const [y] = sum.outputs;
    model.graph.nodes = [
      cast(sums, "wide sums", 1),
      cast(messages, "wide messages", 1),
      { ...sum, inputs: ["wide sums", targets, "wide messages"], outputs: ["wide y"] },
      cast("wide y", y, 10),
    ];
    return runtime.InferenceSession.create(writeModel(model), options);
  },
};
`;

/** ONNX Runtime, but of 8 threads some lose updates, as threads do that race; how many is another number each time. */
const RACING = `
import { createRequire } from "node:module";
const runtime = createRequire(${JSON.stringify(`${MODULES}/`)})("onnxruntime-node");
let lost = 0;
export const InferenceSession = {
  async create(bytes, options) {
    const session = await runtime.InferenceSession.create(bytes, { ...options, intraOpNumThreads: 1 });
    if (options.intraOpNumThreads !== 8) return session;
    return {
      async run(feeds) {
        const { y } = await session.run(feeds);
        lost += 1000;
        return { y: { type: y.type, dims: y.dims, data: y.data.map((sum, at) => sum - (at % 3) * lost) } };
      },
    };
  },
};
`;

const FAULTS: Readonly<Record<string, Fault>> = {
  "an index that the graph makes is out of range": {
    model: {
      opsets: { "ai.onnx": 18 },
      inputs: { x: F32(4), start: I64(2) },
      nodes: [
        { op: "Mul", inputs: ["start", "start"], outputs: ["i"] },
        { op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["t"] },
        { op: "Relu", inputs: ["t"], outputs: ["y"] },
      ],
      outputs: { y: null },
    },
    feeds: { x: tensor("float32", [4], [1, 2, 3, 4]), start: i64([2], 1, 3) },
    says: [/wrong: Gather-13 take: indices\[1\] /, /indices element out of data bounds/],
  },
  "threads that race lose updates": {
    model: {
      opsets: { "ai.onnx": 18 },
      inputs: { sums: F32(NODES), targets: I64(EDGES, 1), messages: F32(EDGES) },
      nodes: [scatter("add")],
      outputs: { y: null },
    },
    feeds: {
      sums: full("float32", [NODES], 0),
      targets: tensor(
        "int64",
        [EDGES, 1],
        BigInt64Array.from({ length: EDGES }, (_, at) => BigInt((7 * at) % NODES)),
      ),
      messages: full("float32", [EDGES], 1),
    },
    options: "--threads 1,8 --runs 2",
    runtime: RACING,
    says: [
      /differs: ScatterND-18 sum: y\[1\] \D*124000\D*125000;/,
      /8 threads, run 1, 8 threads, run 2;/,
      /\(lost-updates, .*\b10\b.*onnxruntime-cpu\)/,
    ],
  },
  "the model claims an opset without the reduction": {
    model: {
      opsets: { "ai.onnx": 13 },
      inputs: { sums: F32(4), targets: I64(2, 1), messages: F32(2) },
      nodes: [scatter("add")],
      outputs: { y: null },
    },
    feeds: {
      sums: full("float32", [4], 0),
      targets: i64([2, 1], 0, 1),
      messages: full("float32", [2], 1),
    },
    says: [/wrong: ScatterND-13 sum: .*"reduction"/, /Unrecognized attribute: reduction/],
  },
  "float16 is summed in float32": {
    model: {
      opsets: { "ai.onnx": 18 },
      inputs: { sums: F16(2), targets: I64(6), messages: F16(6) },
      nodes: [scatter("add", "ScatterElements")],
      outputs: { y: null },
    },
    // From 2048 on a float16 has no odd numbers: each step alone is lost.
    feeds: {
      sums: full("float16", [2], 1),
      targets: i64([6], 0, 0, 0, 0, 1, 1),
      messages: tensor("float16", [6], [2048, 1, 1, 1, 1, 1]),
    },
    runtime: WIDE,
    says: [
      /differs: ScatterElements-18 sum: y\[0\] \D*2052\D*2048/,
      /\(wide-accumulation, .*torch-scatter-reduce\)/,
    ],
  },
};

for (const [title, { model, feeds, options = "", runtime, says }] of Object.entries(FAULTS)) {
  test(title, { skip }, async () => {
    const folder = folderWith(runtime);
    fs.writeFileSync(folder.at("m.onnx"), writeModel(buildModel(model)));
    for (const [name, value] of Object.entries(feeds)) folder.save(`${name}.npy`, value);
    const given = Object.keys(feeds).map((name) => `--feed ${name}=${name}.npy`);
    const line = ["verify m.onnx", ...given, options].join(" ").trim();
    const { status, stdout, stderr }: Result = await folder.ndscatter(line);
    assert.deepEqual([status, stderr], [1, ""]);
    for (const one of says) assert.match(stdout, one);
  });
}

// Threads race when they happen to, so this says how often, and holds what is found to be lost updates and nothing else.
test("ONNX Runtime's own threads", { skip }, async (t) => {
  const folder = folderWith();
  const { model, feeds } = FAULTS["threads that race lose updates"];
  fs.writeFileSync(folder.at("m.onnx"), writeModel(buildModel(model)));
  for (const [name, value] of Object.entries(feeds)) folder.save(`${name}.npy`, value);
  const given = Object.keys(feeds).map((name) => `--feed ${name}=${name}.npy`);
  const { status, stdout } = await folder.ndscatter(
    ["verify m.onnx", ...given, "--threads 1,8 --runs 3"].join(" "),
  );
  t.diagnostic(stdout.split("\n", 2).join(" "));
  if (status === 0) assert.match(stdout, /\n1 equal\n$/);
  else assert.match(stdout, /8 threads, run \d[^]*\(lost-updates, /);
});

test(
  "the commands of my-model-fails.md that need a runtime print what it shows",
  { skip },
  async () => {
    const folder = folderWith();
    fs.symlinkSync(path.join(ROOT, "examples"), folder.at("examples"));
    const blocks = blocksOf(read("docs/my-model-fails.md"), "text").filter(needsRuntime);
    const statuses: unknown[] = [];
    for (const block of blocks) {
      // What a block captures the next one explains.
      // oxlint-disable-next-line no-await-in-loop
      statuses.push(await assertPrints(block, folder.home));
    }
    assert.deepEqual(statuses, [[1], [2, 0], [0, 1], [1], [0]]);
  },
);
