/**
 * Makes the example files: `npm run build && node examples/make.js`. The files are committed, and a test compares them
 * with what this script makes.
 */

import fs from "node:fs";
import { tensor, zeros } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { buildModel, writeModel } from "ndscatter/onnx";

const HEADS = 2;
const POSITIONS = 6;
const WIDTH = 4;

/**
 * Keys of earlier tokens. The digits of each number are its head, position and place, so that a wrong element shows
 * where it came from. Zeros are free positions.
 */
const keys = Array.from({ length: HEADS }, (_, head) =>
  Array.from({ length: POSITIONS }, (_, position) =>
    Array.from({ length: WIDTH }, (_, place) =>
      position < 3 ? head + position / 10 + place / 100 : 0,
    ),
  ),
);

/** A graph of five nodes: its edges, each from a source to a target, and two features of each node. */
const edges = [
  [0, 1],
  [2, 1],
  [3, 1],
  [1, 4],
  [0, 4],
  [4, 0],
  [2, 3],
];
const features = [
  [1, 10],
  [2, 20],
  [3, 30],
  [4, 40],
  [5, 50],
];

/** The files by name: models, and one tensor for each input of a model. */
// prettier-ignore
export const files = {
  "kv-cache.onnx": model(
    "ScatterND",
    {
      cache: ["float32", [HEADS, "positions", WIDTH]],
      where: ["int64", ["heads", 2]],
      key: ["float32", ["heads", WIDTH]],
    },
    { new_cache: ["float32", [HEADS, "positions", WIDTH]] },
    { reduction: "none" },
  ),
  "kv-cache.cache.npy": npy("float32", [HEADS, POSITIONS, WIDTH], keys),
  "kv-cache.where.npy": npy("int64", [HEADS, 2], [[0, 3], [1, 3]]),
  "kv-cache.key.npy": npy("float32", [HEADS, WIDTH], [[0.3, 0.31, 0.32, 0.33], [1.3, 1.31, 1.32, 1.33]]),

  "graph-sum.onnx": model(
    "ScatterElements",
    { sums: ["float32", ["nodes", 2]], targets: ["int64", ["edges", 2]], messages: ["float32", ["edges", 2]] },
    { new_sums: ["float32", ["nodes", 2]] },
    { axis: 0, reduction: "add" },
  ),
  "graph-sum.sums.npy": writeNpy(zeros("float32", [features.length, 2])),
  "graph-sum.targets.npy": npy("int64", [edges.length, 2], edges.map(([, target]) => [target, target])),
  "graph-sum.messages.npy": npy("float32", [edges.length, 2], edges.map(([source]) => features[source])),

  "batched-lookup.onnx": model(
    "GatherND",
    { tables: ["int32", ["batch", "rows", 2]], ids: ["int64", ["batch", "picks", 1]] },
    { rows_picked: ["int32", ["batch", "picks", 2]] },
    { batch_dims: 1 },
  ),
  "batched-lookup.tables.npy": npy("int32", [2, 3, 2], [
    [[10, 11], [20, 21], [30, 31]],
    [[-10, -11], [-20, -21], [-30, -31]],
  ]),
  "batched-lookup.ids.npy": npy("int64", [2, 2, 1], [[[2], [0]], [[1], [-1]]]),

  // The model of docs/my-model-fails.md: of its four positions one is repeated and one is out of range.
  "failing.onnx": model(
    "ScatterND",
    { cache: ["float32", [4, 3]], rows: ["float32", [4, 3]] },
    { new_cache: ["float32", [4, 3]] },
    {},
    { name: "append", inputs: ["cache", "positions", "rows"] },
    { positions: tensor("int64", [4, 1], [1, -1, 4, 1]) },
  ),
  // Its other model: the graph makes the positions, from a start that is one too far.
  "decode.onnx": writeModel(
    buildModel({
      opsets: { "": 18 },
      inputs: {
        cache: { dtype: "float32", shape: [4, 2] },
        start: { dtype: "int64", shape: [] },
        rows: { dtype: "float32", shape: [3, 2] },
      },
      constants: { steps: tensor("int64", [3, 1], [0, 1, 2]) },
      nodes: [
        { op: "Add", name: "advance", inputs: ["steps", "start"], outputs: ["positions"] },
        { op: "ScatterND", name: "append", inputs: ["cache", "positions", "rows"], outputs: ["filled"] },
        { op: "Relu", name: "clean", inputs: ["filled"], outputs: ["new_cache"] },
      ],
      outputs: { new_cache: { dtype: "float32", shape: [4, 2] } },
    }),
  ),
  "decode.cache.npy": npy("float32", [4, 2], [[1, 1], [2, 2], [3, 3], [4, 4]]),
  "decode.start.npy": npy("int64", [], 2),
  "decode.rows.npy": npy("float32", [3, 2], [[10, 11], [20, 21], [30, 31]]),
  // What a backend gives that leaves the third row out, because its position lies outside.
  "decode.elsewhere.npy": npy("float32", [4, 2], [[1, 1], [2, 2], [10, 11], [20, 21]]),

  // A model for each row of docs/known-faults.md.
  "faults/half-sum.onnx": fault("ScatterND", 18, "float16", { reduction: "add" }, [1e-3, 1000, 1]),
  "faults/half-max.onnx": fault("ScatterND", 18, "float16", { reduction: "max" }, [0.5, NaN, 2]),
  "faults/bool-max.onnx": fault("ScatterND", 18, "bool", { reduction: "max" }, [false, true, false]),
  "faults/nan-max.onnx": fault("ScatterND", 18, "float32", { reduction: "max" }, [NaN, 5, 7]),
  "faults/lost-updates.onnx": manyUpdates(),
  "faults/string-gather.onnx": writeModel(
    buildModel({
      opsets: { "": 13 },
      inputs: { indices: { dtype: "int64", shape: [2] } },
      constants: { words: tensor("string", [3, 2], [["a", "b"], ["c", "d"], ["e", "f"]].flat()) },
      nodes: [{ op: "Gather", name: "look", inputs: ["words", "indices"], outputs: ["y"] }],
      outputs: { y: { dtype: "string", shape: [2, 2] } },
    }),
  ),
  "faults/unknown-reduction.onnx": fault("ScatterND", 16, "float32", { reduction: "sum" }, [1, 2, 4]),
  "faults/older-opset.onnx": fault("ScatterElements", 16, "int32", { reduction: "max" }, [1, 9, 4]),
  "faults/narrow-indices.onnx": fault("ScatterND", 18, "float32", {}, [1, 2, 4], "int32"),
  "faults/deprecated-scatter.onnx": fault("Scatter", 13, "float32", { axis: 0 }, [1, 2, 4]),
  "faults/newer-opset.onnx": fault("ScatterND", 27, "float32", { reduction: "add" }, [1, 2, 4]),
};

/** Returns a node on an input of 4 elements, with three updates, of which two have one target. */
function fault(op, opset, dtype, attributes, updates, indexType = "int64") {
  const shape = op === "ScatterND" ? [3, 1] : [3];
  const whole = indexType === "int64" ? [1n, 3n, 1n] : [1, 3, 1];
  return writeModel(
    buildModel({
      opsets: { "": opset },
      inputs: { data: { dtype, shape: [4] } },
      constants: {
        indices: tensor(indexType, shape, whole),
        updates: tensor(dtype, [3], updates),
      },
      nodes: [
        { op, name: "scatter", inputs: ["data", "indices", "updates"], outputs: ["y"], attributes },
      ],
      outputs: { y: { dtype, shape: [4] } },
    }),
  );
}

/** 40,000 rows that are added into 8. The model computes indices and updates, so the file is small. */
function manyUpdates() {
  const scalar = (dtype, value) => tensor(dtype, [], value);
  return writeModel(
    buildModel({
      opsets: { "": 18 },
      inputs: { data: { dtype: "float32", shape: [8, 16] } },
      constants: {
        zero: scalar("int64", 0n),
        one: scalar("int64", 1n),
        rows: scalar("int64", 40_000n),
        cells: scalar("int64", 8n),
        prime: scalar("int64", 1999n),
        last: tensor("int64", [1], [1n]),
        width: tensor("int64", [2], [1n, 16n]),
      },
      nodes: [
        { op: "Range", inputs: ["zero", "rows", "one"], outputs: ["numbers"] },
        { op: "Mod", inputs: ["numbers", "cells"], outputs: ["targets"] },
        { op: "Unsqueeze", inputs: ["targets", "last"], outputs: ["indices"] },
        { op: "Mod", inputs: ["numbers", "prime"], outputs: ["remainders"] },
        { op: "Cast", inputs: ["remainders"], outputs: ["floats"], attributes: { to: 1 } },
        { op: "Unsqueeze", inputs: ["floats", "last"], outputs: ["column"] },
        { op: "Expand", inputs: ["column", "width"], outputs: ["updates"] },
        {
          op: "ScatterND",
          name: "scatter",
          inputs: ["data", "indices", "updates"],
          outputs: ["y"],
          attributes: { reduction: "add" },
        },
      ],
      outputs: { y: { dtype: "float32", shape: [8, 16] } },
    }),
  );
}

function model(op, inputs, outputs, attributes, more = {}, constants = {}) {
  const types = (values) =>
    Object.fromEntries(
      Object.entries(values).map(([name, [dtype, shape]]) => [name, { dtype, shape }]),
    );
  const [given, made] = [Object.keys(inputs), Object.keys(outputs)];
  const node = { op, inputs: given, outputs: made, attributes, ...more };
  return writeModel(
    buildModel({
      opsets: { "": 18 },
      inputs: types(inputs),
      outputs: types(outputs),
      constants,
      nodes: [node],
    }),
  );
}

function npy(dtype, shape, values) {
  return writeNpy(tensor(dtype, shape, values));
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const [name, bytes] of Object.entries(files)) {
    fs.writeFileSync(new URL(name, import.meta.url), bytes);
  }
}
