/** Errors of replaced nodes on a GPU, by an engine that fails on demand. `test/gpu/exact.gpu.ts` runs real ones. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { TensorError } from "../../src/core/errors.ts";
import { FUNCTIONS } from "../../src/core/operators/plain.ts";
import { createExactSession, type CreateGpu, type ExactGpuTensor } from "../../src/entries/onnx.ts";
import { F32, I64, onnxModel } from "../support/node-models.ts";
import { assertRejected } from "../support/refusal.ts";

/** A tensor that a runtime has on a GPU. */
const onGpu = (type: string, ...dims: number[]): object => ({
  ...{ location: "gpu-buffer", gpuBuffer: {}, type, dims },
});

/**
 * An engine whose calls are right at once, and of which one has failed at the end.
 * @param live the tensors that were made and not disposed of
 */
const failing =
  (error: Error, live: Set<ExactGpuTensor>): CreateGpu =>
  () => {
    const compute = (...args: readonly { readonly out?: ExactGpuTensor }[]): ExactGpuTensor => {
      const { out } = args.at(-1) ?? {};
      if (out !== undefined) return out;
      const made: ExactGpuTensor = {
        ...{ dtype: "float32", shape: [2], buffer: {} },
        read: () => Promise.reject(new Error("not read")),
        dispose: () => live.delete(made),
      };
      live.add(made);
      return made;
    };
    const functions = Object.fromEntries(Object.keys(FUNCTIONS).map((name) => [name, compute]));
    return {
      ...(functions as Record<keyof typeof FUNCTIONS, () => ExactGpuTensor>),
      ...{ fromBuffer: compute, upload: compute, dispose() {} },
      done: () => Promise.reject(error),
    };
  };

const model = onnxModel(18, {
  inputs: { x: F32(3), i: I64(2) },
  nodes: [
    { op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["a"] },
    { op: "Gather", name: "again", inputs: ["a", "i"], outputs: ["b"] },
    { op: "ScatterElements", name: "put", inputs: ["b", "i", "a"], outputs: ["y"] },
  ],
  outputs: { y: null },
});

const failure = (op: string): TensorError =>
  new TensorError("index-out-of-range", "indices[0] is 3", { op, at: [0] });

for (const [title, error, names] of [
  ["of an operator that one node has names the node", failure("ScatterElements"), ["put"]],
  ["of an operator that several nodes have names them", failure("Gather"), ["take", "again"]],
  ["of another operator names all nodes", failure("Scatter"), ["take", "again", "put"]],
  ["of the device is as it is", new Error("the device is lost"), null],
] as const) {
  test(`an error on the GPU ${title}`, async () => {
    const live = new Set<ExactGpuTensor>();
    const run = (): Promise<never> => Promise.reject(new Error("not run"));
    const session = await createExactSession(model, {
      ...{ createSession: async () => ({ run }), nodes: "all", gpu: failing(error, live) },
    });
    const running = session.run({ x: onGpu("float32", 3) as never, i: onGpu("int64", 2) as never });
    if (names === null) await assert.rejects(running, error);
    else {
      const facts = { op: error.op, at: [0] };
      const { message } = await assertRejected("index-out-of-range", facts, () => running);
      assert.deepEqual(message.match(/(?<=")\w+(?=")/g), [...names]);
    }
    assert.equal(live.size, 0);
    await session.release();
  });
}
