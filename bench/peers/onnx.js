/** A workload as a model of one node and as the feeds of a session, for both packages of ONNX Runtime. */

import { buildModel, writeModel } from "../../dist/entries/onnx.js";

/** Session options: the benchmark itself reports refusals of the runtime, so stderr need not repeat them. */
export const QUIET = { logSeverityLevel: 4 };

const OPS = {
  scatterND: "ScatterND",
  scatterElements: "ScatterElements",
  gatherND: "GatherND",
  gatherElements: "GatherElements",
  gather: "Gather",
};

/**
 * Returns a model of one node.
 * @param {{ op: keyof typeof OPS, dtype: string }} row
 * @param {import("../workloads.js").Shapes} shapes
 * @param {Record<string, unknown>} attributes
 */
export function modelOf({ op, dtype }, shapes, attributes) {
  const type = (of, shape) => ({ dtype: of, shape });
  const inputs = {
    data: type(dtype, shapes.data),
    indices: type("int64", shapes.indices),
    ...(op.startsWith("scatter") ? { updates: type(dtype, shapes.sequential) } : {}),
  };
  return writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs,
      outputs: { output: type(dtype, shapes.output) },
      nodes: [{ op: OPS[op], inputs: Object.keys(inputs), outputs: ["output"], attributes }],
    }),
  );
}

function attributesOf({ op, reduction, axis, batchDims }) {
  if (op === "gatherND") return { batch_dims: batchDims };
  return { reduction, ...(axis === undefined ? {} : { axis }) };
}

/**
 * Makes a session once and calls `run` for each call, with tensors over the benchmark's arrays. The result is dropped:
 * its elements are in a JavaScript array already, and the tensor has no other memory.
 * @param {any} ort onnxruntime-node or onnxruntime-web
 * @param {object} options of the session
 */
export async function contestant(ort, options, row, inputs) {
  // The refusal comes here, before the runtime's own: version 1.30 refuses only at run time, and in an instance of
  // onnxruntime-web with two threads a worker then throws some calls later, which ends the process.
  if (row.dtype === "float16" && (row.reduction ?? "none") !== "none") {
    throw new Error("it has no float16 with a reduction");
  }
  const { data, indices, updates, shapes } = inputs;
  const model = modelOf(row, shapes, attributesOf(row));
  const session = await ort.InferenceSession.create(model, options);
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
