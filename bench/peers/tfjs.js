/**
 * TensorFlow.js on its WebAssembly backend. Its tensors are in the backend's memory and are created outside the timing.
 * A call is the operator and `dataSync`, which brings the result to JavaScript as ONNX Runtime's `run` does.
 * TensorFlow.js has only float32 data with int32 indices, no ScatterElements, and no reduction except the sum of
 * `scatterND` into zeros, which its users add to their data.
 */

export async function load() {
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-wasm");
  await tf.setBackend("wasm");
  await tf.ready();
  return [
    {
      name: "tfjs wasm",
      prepare: (row, inputs) => contestant(tf, row, inputs),
    },
  ];
}

function contestant(tf, row, { data, indices, updates, shapes }) {
  if (row.dtype !== "float32" || row.op === "scatterElements" || row.reduction === "max")
    return null;
  const tensors = {
    data: tf.tensor(data, shapes.data),
    indices: tf.tensor(Int32Array.from(indices, Number), shapes.indices, "int32"),
    ...(updates === null ? {} : { updates: tf.tensor(updates, shapes.sequential) }),
  };
  const run = () => {
    // `tidy` must not return the elements: it would search them for tensors, at 30 ns a byte.
    const result = tf.tidy(() => operator(tf, row, tensors));
    const elements = result.dataSync();
    result.dispose();
    return elements;
  };
  return {
    call: run,
    output: run,
    release: () => tf.dispose(tensors),
  };
}

function operator(tf, row, { data, indices, updates }) {
  if (row.op === "gatherND") {
    if (row.batchDims === 0) return tf.gatherND(data, indices);
    return tf.gather(data, tf.reshape(indices, indices.shape.slice(0, -1)), 1, row.batchDims);
  }
  if (row.reduction === "none") return tf.tensorScatterUpdate(data, indices, updates);
  return tf.add(data, tf.scatterND(indices, updates, data.shape));
}
