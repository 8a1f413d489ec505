/**
 * The memory of commands on models with large weights, compared with a script that runs the same model in the runtime.
 * With 270 MB of weights, in the file of the model, in another or in `Constant` nodes, `verify` and `capture` take 30 MB less
 * than the script, because the runtime does not pack the weights, and `run --with` and `fix` take 50 MB more.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { zeros } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { buildModel, writeModel, type ModelSpec } from "../../src/entries/onnx.ts";
import { i64 } from "../support/node-models.ts";
import { MODULES, WITHOUT_RUNTIME as skip } from "../support/onnxruntime.ts";
import { bytes, file, int, text, varint, type Bytes } from "../support/onnx-encoder.ts";
import {
  ATTRIBUTE,
  ATTRIBUTE_TYPE,
  external,
  GRAPH,
  head,
  initializer,
  MODEL,
  NODE,
  TENSOR,
} from "../support/onnx-parts.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-verify-memory-"));
const at = (name: string): string => path.join(home, name);
after(() => fs.rmSync(home, { recursive: true }));

const WIDTH = 2048;
const WEIGHTS = {
  table: [16_384, WIDTH],
  up: [WIDTH, 4 * WIDTH],
  down: [4 * WIDTH, WIDTH],
} as const satisfies Readonly<Record<string, readonly number[]>>;
type Weight = keyof typeof WEIGHTS;
const NAMES = Object.keys(WEIGHTS) as Weight[];
const sizeOf = (name: Weight): number => 4 * WEIGHTS[name][0] * WEIGHTS[name][1];
const ALL = NAMES.reduce((sum, name) => sum + sizeOf(name), 0);

/** @param nodes the nodes that produce the weights; they come before all others */
const model = (nodes: ModelSpec["nodes"]): Uint8Array =>
  writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: {
        ids: { dtype: "int64", shape: [3] },
        cache: { dtype: "float32", shape: [16, WIDTH] },
      },
      constants: { rows: i64([3, 1], 0, 3, 5) },
      nodes: [
        ...nodes,
        { name: "embed", op: "Gather", inputs: ["table", "ids"], outputs: ["x"] },
        { op: "MatMul", inputs: ["x", "up"], outputs: ["wide"] },
        { op: "MatMul", inputs: ["wide", "down"], outputs: ["narrow"] },
        { name: "put", op: "ScatterND", inputs: ["cache", "rows", "narrow"], outputs: ["y"] },
      ],
      outputs: { y: null },
    }),
  );

const headOf = (name: Weight): Bytes => [
  ...head("float32", ...WEIGHTS[name]),
  ...text(TENSOR.name, name),
];

/** Writes parts of a file; a number stands for as many zeros, which take no space on the disk. */
function writeSparse(name: string, parts: readonly (Uint8Array | number)[]): void {
  const descriptor = fs.openSync(at(name), "w");
  let end = 0;
  for (const part of parts) {
    if (typeof part !== "number") fs.writeSync(descriptor, part, 0, part.length, end);
    end += typeof part === "number" ? part : part.length;
  }
  fs.ftruncateSync(descriptor, end);
  fs.closeSync(descriptor);
}

/** A field whose contents end with zeros. */
const before = (field: number, contents: Bytes, zeroCount: number): Bytes => [
  ...varint((field << 3) | 2),
  ...varint(contents.length + zeroCount),
  ...contents,
];

/** The beginning of a tensor, before its data. */
const start = (name: Weight): Bytes => [
  ...headOf(name),
  ...varint((TENSOR.rawData << 3) | 2),
  ...varint(sizeOf(name)),
];

const FILES: Readonly<Record<string, () => void>> = {
  "weights in another file": () => {
    let offset = 0;
    const parts = NAMES.map((name) => {
      const place = { location: "weights", offset: String(offset), length: String(sizeOf(name)) };
      offset += sizeOf(name);
      return initializer(headOf(name), external(place));
    });
    fs.writeFileSync(at("model.onnx"), file(model([]), bytes(MODEL.graph, parts.flat())));
    writeSparse("weights", [ALL]);
  },
  // Two messages after one another are one with the fields of both.
  "weights in the file": () => {
    const parts = NAMES.flatMap((name) => {
      const size = sizeOf(name);
      const graph = before(GRAPH.initializer, start(name), size);
      return [file(before(MODEL.graph, graph, size)), size];
    });
    writeSparse("model.onnx", [...parts, model([])]);
  },
  "weights in Constant nodes": () => {
    const parts = NAMES.flatMap((name) => {
      const size = sizeOf(name);
      const value = [
        ...text(ATTRIBUTE.name, "value"),
        ...int(ATTRIBUTE.type, ATTRIBUTE_TYPE.TENSOR),
        ...before(ATTRIBUTE.t, start(name), size),
      ];
      const made = [...text(NODE.output, name), ...text(NODE.opType, "Constant")];
      const node = [...made, ...before(NODE.attribute, value, size)];
      const graph = before(GRAPH.node, node, size);
      return [file(before(MODEL.graph, graph, size)), size];
    });
    writeSparse("model.onnx", [...parts, model([])]);
  },
};

const PLAIN = `
  const { InferenceSession, Tensor } = require("onnxruntime-node");
  (async () => {
    const session = await InferenceSession.create("model.onnx");
    const cache = new Float32Array(16 * ${WIDTH});
    await session.run({
      ids: new Tensor("int64", BigInt64Array.of(1n, 7n, 300n), [3]),
      cache: new Tensor("float32", cache, [16, ${WIDTH}]),
    });
  })();`;

const PRINT_PEAK =
  'process.on("exit", () => console.error(process.resourceUsage().maxRSS * 1024));';

/** Returns the peak of a Node process, in bytes. */
function peak(...args: readonly string[]): number {
  const preload = `data:text/javascript,${encodeURIComponent(PRINT_PEAK)}`;
  const own = { encoding: "utf8", cwd: home } as const;
  const { status, stderr } = spawnSync(process.execPath, ["--import", preload, ...args], own);
  assert.equal(status, 0, stderr);
  return Number(stderr.trim().split("\n").at(-1));
}

if (skip === false) {
  fs.symlinkSync(MODULES, at("node_modules"));
  fs.writeFileSync(at("ids.npy"), writeNpy(i64([3], 1, 7, 300)));
  fs.writeFileSync(at("cache.npy"), writeNpy(zeros("float32", [16, WIDTH])));
}

const FEEDS = ["ids=ids.npy", "cache=cache.npy"];
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  verify: ["verify", "model.onnx", ...FEEDS.flatMap((one) => ["--feed", one])],
  fix: ["fix", "model.onnx", ...FEEDS.flatMap((one) => ["--feed", one])],
  capture: ["capture", "model.onnx", "--node", "put", "--random", "-o", "case"],
  "run --with": ["run", "model.onnx", "--with", "onnxruntime-node", ...FEEDS, "-o", "y=y.npy"],
};

test("commands beside weights take little more memory than the runtime", { skip }, (context) => {
  FILES["weights in another file"]();
  const plain = peak("--eval", PLAIN);
  assert.ok(plain > ALL / 2, `${plain} bytes`);
  for (const [where, write] of Object.entries(FILES)) {
    write();
    for (const [name, args] of Object.entries(COMMANDS)) {
      const above = peak(MAIN, ...args) - plain;
      const said = `${name}, ${where}: ${Math.round(above / 1e6)} MB above the runtime`;
      context.diagnostic(said);
      assert.ok(above < ALL / 3, said);
    }
  }
});
