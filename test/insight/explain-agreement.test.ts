/** For random calls, in every way in which indices address data, replaying the story gives the bits of `run`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { explain } from "../../src/insight/explain/explain.ts";
import { DTYPE_NAMES, reductionsOf, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import { checkAgreement } from "../support/agreement.ts";
import { i64, onnx, openvino } from "../support/calls.ts";
import { randomFrom, randomIndices, randomTensor, seedOf, type Random } from "../support/random.ts";

const seed = seedOf("explain-agreement");

/** Random calls of every way in which indices address data. */
const RANDOM: Readonly<
  Record<string, (dtype: DType, random: Random) => [NodeSpec, (Tensor | undefined)[]]>
> = {
  "tuples of a scatter": (dtype, random) => {
    const dims = [1 + random(3), 1 + random(3), random(4)];
    const k = random(3);
    const reductions = reductionsOf(dtype).filter((one) => one !== "sub" && one !== "mean");
    const reduction = reductions[random(reductions.length)];
    const lead = [random(5), 1 + random(2)];
    const indices = randomIndices("int64", [...lead, k], (p) => dims[p % k], random);
    const updates = randomTensor(dtype, [...lead, ...dims.slice(k)], random);
    return [
      onnx("ScatterND", 18, { reduction }),
      [randomTensor(dtype, dims, random), indices, updates],
    ];
  },
  "elements of a scatter": (dtype, random) => {
    const dims = [1 + random(4), 1 + random(4)];
    const axis = random(2);
    const shape = dims.map((dim, d) => (d === axis ? random(6) : 1 + random(dim)));
    const words = { add: "sum", mul: "prod", max: "max", min: "min", mean: "mean", none: "none" };
    const reductions = reductionsOf(dtype).filter((one) => one !== "sub");
    const reduction = words[reductions[random(reductions.length)] as keyof typeof words];
    const indices = randomIndices("int32", shape, () => dims[axis], random);
    const inputs = [randomTensor(dtype, dims, random), indices, randomTensor(dtype, shape, random)];
    const node = openvino("ScatterElementsUpdate", 12, {
      reduction,
      use_init_val: random(2) === 0,
    });
    return [node, [...inputs, i64([1], [axis])]];
  },
  sequences: (dtype, random) => {
    const [batch, dim] = [1 + random(3), 1 + random(4)];
    const length = random(dim + 1);
    const shape = [batch, 2, length, 2];
    const starts = i64(
      [batch],
      Array.from({ length: batch }, () => random(9)),
    );
    const data = randomTensor(dtype, [batch, 2, dim, 2], random);
    const node = onnx("TensorScatter", 24, { mode: "circular" });
    return [node, [data, randomTensor(dtype, shape, random), starts]];
  },
  "tuples of a gather": (dtype, random) => {
    const dims = [2, 1 + random(2), 1 + random(3), random(3)];
    const batchDims = random(3);
    const k = 1 + random(2);
    const shape = [...dims.slice(0, batchDims), random(4), k];
    const indices = randomIndices(
      "int32",
      shape,
      (p) => Math.max(dims[batchDims + (p % k)], 1),
      random,
    );
    // An axis without elements takes no index.
    const data = randomTensor(
      dtype,
      dims.map((dim, d) => (d < batchDims + k ? Math.max(dim, 1) : dim)),
      random,
    );
    return [openvino("GatherND", 8, { batch_dims: batchDims }), [data, indices]];
  },
  "slices of a gather, some out of range": (dtype, random) => {
    const dims = [2, 1 + random(3), 3, 1 + random(2)];
    const batchDims = random(2);
    const axis = batchDims + random(3);
    const shape = [...dims.slice(0, batchDims), random(4), 2];
    const values = Array.from({ length: product(shape) }, () => random(9) - 4);
    const inputs = [randomTensor(dtype, dims, random), i64(shape, values), i64([], [axis])];
    return [openvino("Gather", 8, { batch_dims: batchDims }), inputs];
  },
};

for (const [what, callOf] of Object.entries(RANDOM)) {
  test(`${what}: replaying the explanation gives the bits of run`, () => {
    const random = randomFrom(seed);
    const explained = new Set<DType>();
    for (const dtype of DTYPE_NAMES) {
      for (let round = 0; round < 12; round++) {
        const [node, inputs] = callOf(dtype, random);
        const explanation = explain(node, inputs);
        // Versions have their own data types.
        if (isTensorError(explanation.error, "dtype")) continue;
        assert.equal(explanation.error, null);
        checkAgreement(node, inputs, explanation);
        explained.add(dtype);
      }
    }
    assert.ok(explained.size >= 13, `${explained.size} data types`);
  });
}
