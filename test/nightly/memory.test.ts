/**
 * How much memory a process comes to need at its peak: for results of 50 MB, 109 MB for 10,000 of them; to inspect models
 * of 3 GB, 66 MB.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildModel, writeModel } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { bytes, file, int, text, varint, type Bytes } from "../support/onnx-encoder.ts";
import { layer, net } from "../support/ir.ts";

const ENTRY = new URL("../../src/entries/index.js", import.meta.url).href;

/** `RESULTS=10000` asks for more of them, which takes 25 seconds. */
const RESULTS = Number(process.env["RESULTS"] ?? 500);
const ELEMENTS = 12_500_000;

/** Makes results that differ in one element, does that with each, and prints the peak in megabytes. */
const program = (results: number, then: string): string => `
  const { createEngine, zeros } = await import(${JSON.stringify(ENTRY)});
  const engine = createEngine();
  const data = zeros("float32", [${ELEMENTS}]);
  for (let i = 1; i <= ${results}; i++) {
    const result = engine.scatterND(data, [[i]], [i]);
    const view = result.data;
    if (view[i] !== i || view[i - 1] !== 0) throw new Error("result " + i + " is wrong");
    ${then}
  }
  console.log(process.resourceUsage().maxRSS / 1000);`;

function peak(results: number, then = ""): number {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program(results, then)],
    { encoding: "utf8", timeout: 600_000 },
  );
  assert.match(stdout, /^[\d.]+\n$/, stderr);
  return Number(stdout);
}

test(`${RESULTS} results that are disposed of need less than 500 MB`, (context) => {
  const emptied = 'if (view.length !== 0) throw new Error("a view outlives its result");';
  const megabytes = peak(RESULTS, `result.dispose(); ${emptied}`);
  context.diagnostic(`${megabytes} MB`);
  assert.ok(megabytes < 500, `${megabytes} MB`);
});

test("results that are left to the garbage collector stay bounded", (context) => {
  // 5 GB in all.
  const megabytes = peak(100);
  context.diagnostic(`${megabytes} MB`);
  assert.ok(megabytes < 2000, `${megabytes} MB`);
});

const MAIN = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-memory-"));
const at = (name: string): string => path.join(home, name);
after(() => fs.rmSync(home, { recursive: true }));

/** Node cannot read as much at once. */
const WEIGHTS = 3 * 2 ** 30;
const ROWS = WEIGHTS / 16;

/** A file whose parts lie at places of their own. What is between them takes no room on the disk. */
function writeSparse(name: string, size: number, parts: ReadonlyMap<number, Uint8Array>): void {
  const descriptor = fs.openSync(at(name), "w");
  for (const [position, part] of parts) fs.writeSync(descriptor, part, 0, part.length, position);
  fs.ftruncateSync(descriptor, size);
  fs.closeSync(descriptor);
}

const INDICES = new Uint8Array(new BigInt64Array([0n, BigInt(ROWS)]).buffer);
const MODEL = writeModel(
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { updates: { dtype: "float32", shape: [2, 4] } },
    constants: { repeated: tensor("int64", [2, 1], [1, 1]) },
    nodes: [
      { op: "ScatterND", name: "first", inputs: ["w", "indices", "updates"], outputs: ["y"] },
      { op: "ScatterND", name: "second", inputs: ["w", "repeated", "updates"], outputs: ["z"] },
    ],
    outputs: { y: null },
  }),
);

const header = (name: string, dataType: number, ...dims: number[]): Bytes => [
  ...dims.flatMap((dim) => int(1, dim)),
  ...int(2, dataType),
  ...text(8, name),
];

/** Two messages after one another are one with the fields of both, so the weights come in a graph of their own. */
function writeSingle(): void {
  const tensorHead = file(header("w", 1, ROWS, 4), varint((9 << 3) | 2), varint(WEIGHTS));
  const tensorTag = file(varint((5 << 3) | 2), varint(tensorHead.length + WEIGHTS));
  const inner = tensorTag.length + tensorHead.length + WEIGHTS;
  const head = file(varint((7 << 3) | 2), varint(inner), tensorTag, tensorHead);
  const indices = bytes(7, bytes(5, [...header("indices", 7, 2, 1), ...bytes(9, INDICES)]));
  const tail = file(MODEL, indices);
  const end = head.length + WEIGHTS;
  writeSparse(
    "single.onnx",
    end + tail.length,
    new Map([
      [0, head],
      [end, tail],
    ]),
  );
}

function writeExternal(): void {
  const external = (head: Bytes, ...entries: [string, string][]): Bytes =>
    bytes(
      7,
      bytes(5, [
        ...head,
        ...entries.flatMap(([key, value]) => bytes(13, [...text(1, key), ...text(2, value)])),
        ...int(14, 1),
      ]),
    );
  const model = file(
    MODEL,
    external(header("w", 1, ROWS, 4), ["location", "w.bin"]),
    external(header("indices", 7, 2, 1), ["location", "w.bin"], ["offset", String(WEIGHTS)]),
  );
  fs.writeFileSync(at("external.onnx"), model);
  writeSparse("w.bin", WEIGHTS + 16, new Map([[WEIGHTS, INDICES]]));
}

function writeIR(): void {
  const constant = (
    id: number,
    name: string,
    type: string,
    shape: string,
    offset: number,
    size: number,
  ) =>
    layer(id, {
      type: "Const",
      name,
      data: `element_type="${type}" shape="${shape}" offset="${offset}" size="${size}"`,
      outputs: [`${type.toUpperCase()} ${shape}`],
    });
  const types = [`FP32 ${ROWS},4`, "I64 2,1", "FP32 2,4"];
  const scatter = (id: number, name: string) =>
    layer(id, {
      type: "ScatterNDUpdate",
      name,
      version: "opset4",
      inputs: types,
      outputs: [types[0]],
    });
  const layers = [
    constant(0, "w", "f32", `${ROWS},4`, 0, WEIGHTS),
    constant(1, "indices", "i64", "2,1", WEIGHTS, 16),
    constant(2, "repeated", "i64", "2,1", WEIGHTS + 16, 16),
    constant(3, "updates", "f32", "2,4", 0, 32),
    scatter(4, "first"),
    scatter(5, "second"),
  ];
  const edges = ["0:0 4:0", "1:0 4:1", "3:0 4:2", "0:0 5:0", "2:0 5:1", "3:0 5:2"];
  fs.writeFileSync(at("ir.xml"), net(layers, edges));
  writeSparse(
    "ir.bin",
    WEIGHTS + 32,
    new Map([
      [WEIGHTS, INDICES],
      [WEIGHTS + 16, new Uint8Array(16)],
    ]),
  );
}

const PRINT_PEAK =
  'process.on("exit", () => console.error(process.resourceUsage().maxRSS / 1000));';

for (const [name, write] of Object.entries({
  "single.onnx": writeSingle,
  "external.onnx": writeExternal,
  "ir.xml": writeIR,
})) {
  test(`${name} with weights of 3 GB is inspected in less than 200 MB`, (context) => {
    write();
    const preload = `data:text/javascript,${encodeURIComponent(PRINT_PEAK)}`;
    const args = ["--import", preload, MAIN, "inspect", "--json", at(name)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    assert.match(stderr, /^[\d.]+\n$/, stderr);
    assert.equal(status, 1);
    const { nodes }: { nodes: { name: string; findings: { id: string; got?: number }[] }[] } =
      JSON.parse(stdout);
    assert.deepEqual(
      nodes.map((node) => [node.name, node.findings.map(({ id, got }) => [id, got])]),
      [
        ["first", [["index-out-of-range", ROWS]]],
        ["second", [["repeated-target", undefined]]],
      ],
    );
    context.diagnostic(`${stderr.trim()} MB`);
    assert.ok(Number(stderr) < 200, `${stderr} MB`);
  });
}
