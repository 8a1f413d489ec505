/** The memory that gradients take. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { vjp } from "../../src/core/functions.ts";
import { REDUCTIONS } from "../../src/core/tensor/dtype.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";

test("updates alone take no memory of data's size", () => {
  const size = 2 ** 24;
  const data = zeros("float32", [size]);
  const gradient = zeros("float32", [size]);
  gradient.data[size / 2] = 2;
  gradient.data[5] = 6;
  const indices = tensor("int64", [3, 1], [size / 2, 5, 5]);
  const inputs = [data, indices, tensor("float32", [3], [1, 2, 3])];
  const expected = {
    none: [2, 0, 6],
    add: [2, 6, 6],
    sub: [-2, -6, -6],
    mean: [1, 2, 2],
    mul: [0, 0, 0],
    max: [2, 0, 6],
    min: [0, 0, 0],
  };
  for (const reduction of REDUCTIONS) {
    const node = { function: "scatterND", options: { reduction } } as const;
    const before = process.memoryUsage().arrayBuffers;
    const [none, , updates] = vjp(node, inputs, gradient, { argnums: 2 });
    const taken = process.memoryUsage().arrayBuffers - before;
    assert.ok(taken < 2 ** 16, `${reduction}: ${taken} bytes`);
    assert.equal(none, null);
    assert.deepEqual([...(updates as Tensor<"float32">).data], expected[reduction], reduction);
  }
});
