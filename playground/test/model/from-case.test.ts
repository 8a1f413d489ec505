/** A folder of `ndscatter capture`: its node with the inputs that it had, and what the runtime gave. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { run, tensor, zeros } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { buildModel, writeModel, writeTensor } from "ndscatter/onnx";
import { isCase } from "../../src/reading/file-kinds.ts";
import { fromCase } from "../../src/reading/from-case.ts";
import type { NamedFile } from "../../src/reading/npz.ts";
import type { FileChoice } from "../../src/reading/from-file.ts";
import { readState } from "../../src/document/read-state.ts";

const DATA = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
const INDICES = tensor("int64", [3, 1], [1, -1, 1]);
const UPDATES = tensor("float32", [3, 2], [10, 20, 30, 40, 50, 60]);
/** The first update of row 1 stayed. */
const GAVE = tensor("float32", [4, 2], [1, 2, 10, 20, 5, 6, 30, 40]);

/** As capture writes it: inputs have the operator's names, and the output has no shape. */
const NODE = writeModel(
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: {
      data: { dtype: "float32", shape: [4, 2] },
      indices: { dtype: "int64", shape: [3, 1] },
      updates: { dtype: "float32", shape: [3, 2] },
    },
    nodes: [
      {
        op: "ScatterND",
        name: "append",
        inputs: ["data", "indices", "updates"],
        outputs: ["output"],
      },
    ],
    outputs: { output: null },
  }),
);

const FILES: readonly NamedFile[] = [
  { name: "case/data.npy", bytes: writeNpy(DATA) },
  { name: "case/indices.npy", bytes: writeNpy(INDICES) },
  { name: "case/node.onnx", bytes: NODE },
  { name: "case/runtime.0.npy", bytes: writeNpy(GAVE) },
  { name: "case/updates.npy", bytes: writeNpy(UPDATES) },
];

type NodeChoice = Extract<FileChoice, { kind: "node" }>;

async function nodeOf(
  files: readonly NamedFile[],
): Promise<{ choice: NodeChoice; remarks: readonly string[] }> {
  const found = await fromCase(files);
  assert.ok("choices" in found, "error" in found ? found.error : "");
  assert.equal(found.choices.length, 1);
  const [choice] = found.choices;
  assert.ok(choice.kind === "node");
  return { choice, remarks: found.remarks };
}

const without = (...names: string[]): NamedFile[] =>
  FILES.filter(({ name }) => names.every((one) => !name.includes(one)));

test("a case: the call that was captured, and what the runtime gave", async () => {
  const { choice, remarks } = await nodeOf(FILES);
  assert.deepEqual(remarks, []);
  assert.deepEqual(choice.remarks, []);
  assert.equal(choice.title, 'ScatterND-18 "append"');
  const { node, inputs, faults } = readState(choice.state);
  assert.deepEqual(faults, []);
  assert.deepEqual(
    inputs.map((one) => one?.toArray()),
    [DATA, INDICES, UPDATES].map((one) => one.toArray()),
  );
  assert.deepEqual(run(node, inputs)[0].toArray(), [
    [1, 2],
    [50, 60],
    [5, 6],
    [30, 40],
  ]);
  assert.deepEqual(choice.actual, {
    dtype: "float32",
    shape: [4, 2],
    values: ["1", "2", "10", "20", "5", "6", "30", "40"],
  });
});

test("the order and the folders of the files do not matter", async () => {
  const others = FILES.map(({ name, bytes }) => ({
    name: name.replace("case/", "C:\\x\\"),
    bytes,
  }));
  assert.deepEqual(await nodeOf(others.toReversed()), await nodeOf(FILES));
});

test("a case of a node that failed has no output of the runtime", async () => {
  const { choice } = await nodeOf(without("runtime"));
  assert.equal(choice.actual, undefined);
  assert.equal(choice.state.inputs[0]?.values[0], "1");
});

test("an input without its file is zeros, and a file that cannot be read is named", async () => {
  const broken = { name: "data.npy", bytes: new Uint8Array(3) };
  const large = { name: "updates.npy", bytes: writeNpy(zeros("float32", [200, 200])) };
  const { choice, remarks } = await nodeOf([...without("data", "updates"), broken, large]);
  assert.equal(choice.remarks.length, 1);
  assert.match(
    choice.remarks[0],
    /^The model has no values for data and updates, so they are zeros here\. /,
  );
  assert.deepEqual(choice.state.inputs[0]?.shape, [4, 2]);
  assert.match(remarks[0], /^data\.npy cannot be read: .*NPY/);
  assert.match(remarks[1], /^updates\.npy cannot be read: .*20,000/);
});

test("files that are for no input are named", async () => {
  const { remarks } = await nodeOf([...FILES, { name: "mask.npy", bytes: writeNpy(DATA) }]);
  assert.deepEqual(remarks, ["No node has an input mask, so the file is not used."]);
});

test("a tensor may be a .pb", async () => {
  const pb = { name: "indices.pb", bytes: writeTensor(INDICES) };
  const { choice } = await nodeOf([...without("indices"), pb]);
  assert.deepEqual(choice.state.inputs[1]?.values, ["1", "-1", "1"]);
});

test("of a model of several nodes, what the runtime gave is not used", async () => {
  const two = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: { dtype: "float32", shape: [4, 2] } },
    constants: { indices: INDICES, updates: UPDATES },
    nodes: [
      { op: "ScatterND", inputs: ["data", "indices", "updates"], outputs: ["a"] },
      { op: "ScatterND", inputs: ["a", "indices", "updates"], outputs: ["b"] },
    ],
    outputs: { b: null },
  });
  const files = [{ name: "node.onnx", bytes: writeModel(two) }, ...without("node")];
  const found = await fromCase(files);
  assert.ok("choices" in found);
  assert.equal(found.choices.length, 2);
  assert.ok(found.choices.every((choice) => choice.kind === "node" && choice.actual === undefined));
  assert.ok(found.remarks.includes("No node has an input runtime.0, so the file is not used."));
});

test("which files may be a case", () => {
  assert.ok(isCase(FILES.map(({ name }) => name)));
  assert.ok(isCase(["a.xml", "a.bin", "data.npy"]));
  assert.ok(isCase(["a.onnx", "a.onnx.data"]));
  for (const names of [["a.onnx"], ["a.npy", "b.npy"], ["a.onnx", "b.onnx", "c.npy"], []]) {
    assert.ok(!isCase(names), names.join());
  }
});

test("no bytes throw", async () => {
  const changed = fc
    .tuple(fc.nat(FILES.length - 1), fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 }))
    .map(([at, place, other]) => {
      const bytes = FILES[at].bytes.slice();
      bytes.set(other, Math.min(place % bytes.length, bytes.length - other.length));
      return FILES.with(at, { name: FILES[at].name, bytes });
    });
  const random = fc.array(
    fc.record({
      name: fc.constantFrom(
        "node.onnx",
        "m.xml",
        "data.npy",
        "indices.pb",
        "m.bin",
        "__proto__.npy",
      ),
      bytes: fc.uint8Array(),
    }),
    { maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, random), async (files) => {
      const found = await fromCase(files);
      if ("error" in found) assert.ok(found.error.length > 0);
      else for (const choice of found.choices) if (choice.kind === "node") readState(choice.state);
    }),
    { numRuns: 300 },
  );
});
