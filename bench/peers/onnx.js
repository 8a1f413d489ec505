/** A workload as a model of one node and as the feeds of a session, for both packages of ONNX Runtime. */

import { buildModel, writeModel } from "../../dist/onnx/index.js";

/** Session options: the benchmark itself reports what the runtime refuses, so stderr need not repeat it. */
export const QUIET = { logSeverityLevel: 4 };

const OPS = { scatterND: "ScatterND", scatterElements: "ScatterElements", gatherND: "GatherND" };

function modelOf(row, { updates, shapes }) {
  const type = (dtype, shape) => ({ dtype, shape });
  const inputs = {
    data: type(row.dtype, shapes.data),
    indices: type("int64", shapes.indices),
    ...(updates === null ? {} : { updates: type(row.dtype, shapes.sequential) }),
  };
  const attributes =
    row.op === "gatherND"
      ? { batch_dims: row.batchDims }
      : { reduction: row.reduction, ...(row.axis === undefined ? {} : { axis: row.axis }) };
  return writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs,
      outputs: { output: type(row.dtype, shapes.output) },
      nodes: [{ op: OPS[row.op], inputs: Object.keys(inputs), outputs: ["output"], attributes }],
    }),
  );
}

/**
 * Makes a session once and calls `run` for each call, with tensors over the benchmark's arrays. The result is dropped:
 * its elements are in a JavaScript array already, and the tensor holds nothing else.
 * @param {any} ort onnxruntime-node or onnxruntime-web
 * @param {object} options of the session
 */
export async function contestant(ort, options, row, inputs) {
  // Refused here, before the runtime refuses: version 1.30 does so when it runs, and in an instance of onnxruntime-web
  // with two threads a worker then throws some calls later, which ends the process.
  if (row.dtype === "float16" && (row.reduction ?? "none") !== "none") {
    throw new Error("it has no float16 with a reduction");
  }
  const session = await ort.InferenceSession.create(modelOf(row, inputs), options);
  const { data, indices, updates, shapes } = inputs;
  const feeds = {
    data: new ort.Tensor(row.dtype, data, shapes.data),
    indices: new ort.Tensor("int64", indices, shapes.indices),
    ...(updates === null ? {} : { updates: new ort.Tensor(row.dtype, updates, shapes.sequential) }),
  };
  return {
    call: () => session.run(feeds),
    output: async () => (await session.run(feeds)).output.data,
    release: () => session.release(),
  };
}
