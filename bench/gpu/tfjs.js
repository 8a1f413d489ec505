/**
 * TensorFlow.js on WebGPU, on the same device. TensorFlow.js has int32 indices, no operator of elements, and no scatter
 * into data with a reduction: its users add the result of `scatterND`, which sums into zeros, to their data.
 */

import * as tf from "@tensorflow/tfjs-core";
import { WebGPUBackend } from "@tensorflow/tfjs-backend-webgpu";
import "@tensorflow/tfjs-backend-webgpu/dist/register_all_kernels.js";
import { shapesOf } from "./workloads.js";

/** Sets up the backend on a device. */
export async function startTfjs(device, info) {
  tf.removeBackend("webgpu");
  tf.registerBackend("webgpu", () => new WebGPUBackend(device, info));
  if (!(await tf.setBackend("webgpu"))) throw new Error("it has no WebGPU here");
  await tf.ready();
}

/** @returns {import("./timing.js").GpuContestant | null} null if it lacks the operator */
export function tfjsContestant(row, { data, indices, updates }) {
  if (row.op.endsWith("Elements")) return null;
  const shapes = shapesOf(row);
  const tensors = {
    data: tf.tensor(data, shapes.data, row.dtype),
    indices: tf.tensor(Int32Array.from(indices, Number), shapes.indices, "int32"),
    ...(updates === null ? {} : { updates: tf.tensor(updates, shapes.sequential, row.dtype) }),
  };
  const run = () => tf.tidy(() => operator(row, tensors));
  return {
    name: "tfjs",
    call: () => run().dispose(),
    flush() {
      const backend = tf.backend();
      if (backend.commandEncoder === null) return;
      backend.endComputePassEncoder();
      backend.submitQueue();
    },
    async output() {
      const result = run();
      const { buffer, byteOffset, byteLength } = await result.data();
      result.dispose();
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
    },
    release: () => tf.dispose(tensors),
  };
}

function operator({ op, reduction, axis }, { data, indices, updates }) {
  if (op === "gatherND") return tf.gatherND(data, indices);
  if (op === "gather") return tf.gather(data, indices, axis);
  if (reduction === "none") return tf.tensorScatterUpdate(data, indices, updates);
  return tf.add(data, tf.scatterND(indices, updates, data.shape));
}
