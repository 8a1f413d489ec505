/** Appends the rows that a model makes to the cache that the model reads, in place. */

import { equals, scatterND, tensor } from "ndscatter";
import { buildModel, writeModel } from "ndscatter/onnx";
import { InferenceSession, Tensor } from "onnxruntime-node";

const cache = new Tensor("float32", new Float32Array(8), [4, 2]);
cache.data.set([1, 2]);

// Stands for a decoder: its next row is the sum of all rows so far.
const decoder = await load({
  opsets: { "ai.onnx": 18 },
  inputs: { cache: { dtype: "float32", shape: [4, 2] } },
  constants: { axes: tensor("int64", [1], [0]) },
  nodes: [{ op: "ReduceSum", inputs: ["cache", "axes"], outputs: ["next"] }],
  outputs: { next: { dtype: "float32", shape: [1, 2] } },
});
for (const position of [1, 2, 3]) {
  const { next } = await decoder.run({ cache });
  scatterND(cache, [[position]], next, { out: cache });
  console.log(`row ${position}: ${next.data}`);
}
console.log(`cache: ${cache.data}`);

// The same call in the runtime, for the last row.
const update = await load({
  opsets: { "ai.onnx": 18 },
  inputs: {
    data: { dtype: "float32", shape: [4, 2] },
    indices: { dtype: "int64", shape: [1, 1] },
    updates: { dtype: "float32", shape: [1, 2] },
  },
  nodes: [{ op: "ScatterND", inputs: ["data", "indices", "updates"], outputs: ["output"] }],
  outputs: { output: { dtype: "float32", shape: [4, 2] } },
});
const { output } = await update.run({
  data: new Tensor("float32", [1, 2, 1, 2, 2, 4, 0, 0], [4, 2]),
  indices: new Tensor("int64", [3n], [1, 1]),
  updates: new Tensor("float32", [4, 8], [1, 2]),
});
console.log(`the runtime's ScatterND gives the same bits: ${equals(output, cache)}`);

function load(model) {
  return InferenceSession.create(writeModel(buildModel(model)));
}
