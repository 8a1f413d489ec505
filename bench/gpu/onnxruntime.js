/** onnxruntime-web on WebGPU: a model of one node, whose inputs and output are buffers of the device. */

import * as ort from "onnxruntime-web/webgpu";
import { modelOf, QUIET } from "../peers/onnx.js";
import { isScatter, shapesOf } from "./workloads.js";

/**
 * The runtime must refuse operations that it cannot run on the GPU, because its CPU would need everything downloaded.
 */
const OPTIONS = {
  ...QUIET,
  executionProviders: ["webgpu"],
  preferredOutputLocation: "gpu-buffer",
  extra: { session: { disable_cpu_ep_fallback: "1" } },
};

/**
 * Returns the device of the runtime, created with its first session. Releasing the last session destroys the device, so
 * this session is kept.
 */
export async function runtimeDevice() {
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = { wasm: new URL("ort-wasm-simd-threaded.asyncify.wasm", location.href) };
  const shapes = { data: [2], indices: [1], output: [1] };
  await ort.InferenceSession.create(
    modelOf({ op: "gather", dtype: "float32" }, shapes, { axis: 0 }),
    OPTIONS,
  );
  return ort.env.webgpu.device;
}

/** @returns {Promise<import("./timing.js").GpuContestant>} throws if the runtime refuses the work */
export async function runtimeContestant(device, row, { data, indices, updates }) {
  const shapes = shapesOf(row);
  const session = await ort.InferenceSession.create(
    modelOf(row, shapes, attributesOf(row)),
    OPTIONS,
  );
  const buffers = [];
  const resident = (values, dataType, dims) => {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = device.createBuffer({ size: values.byteLength, usage });
    device.queue.writeBuffer(buffer, 0, values);
    buffers.push(buffer);
    return ort.Tensor.fromGpuBuffer(buffer, { dataType, dims });
  };
  const feeds = {
    data: resident(data, row.dtype, shapes.data),
    indices: resident(indices, "int64", shapes.indices),
    ...(updates === null ? {} : { updates: resident(updates, row.dtype, shapes.sequential) }),
  };
  return {
    name: "onnxruntime-web",
    async call() {
      const { output } = await session.run(feeds);
      output.dispose();
    },
    async output() {
      const { output } = await session.run(feeds);
      const { buffer, byteOffset, byteLength } = await output.getData(true);
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
    },
    release() {
      void session.release();
      for (const buffer of buffers) buffer.destroy();
    },
  };
}

function attributesOf(row) {
  if (row.op === "gatherND") return { batch_dims: 0 };
  const { axis, reduction } = row;
  return {
    ...(axis === undefined ? {} : { axis }),
    ...(isScatter(row) ? { reduction } : {}),
  };
}
