/**
 * Gradients and TensorFlow.js: the same numbers, bit for bit except for the sign of a zero, which TensorFlow.js makes of
 * a product with 0. Sums of three or more parts that are not exact differ by rounding, because its sums are doubles.
 * Of indexed operators, TensorFlow.js has the gradients of `gather` and `unsortedSegmentSum` only, so others are written
 * with these two. The tests after the comparisons list where it fails or differs, and fail when it is mended.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { vjp } from "../../src/core/functions.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom, seedOf } from "../support/random.ts";
import {
  assertGradients,
  extremeCall,
  gatherCall,
  gatherElementsCall,
  gatherNDCall,
  productCall,
  segmentCall,
} from "../support/tfjs-calls.ts";
import {
  float32,
  gradientsIn,
  int32,
  tfjsOn,
  WITHOUT_TFJS,
  type TfTensor,
  type Tfjs,
} from "../support/tfjs.ts";

const skip = WITHOUT_TFJS;
const seed = seedOf("gradients-tfjs");

/** The kernel of `unsortedSegmentSum`, which the gradient of `gather` runs, is missing from the wasm backend. */
const COMPARISONS = [
  ["gather", gatherCall, 300, ["cpu"]],
  ["gatherND", gatherNDCall, 300, ["cpu"]],
  ["gatherElements", gatherElementsCall, 300, ["cpu"]],
  ["scatters with sums, and without a reduction", segmentCall, 400, ["cpu"]],
  ["scatters with max and min", extremeCall, 200, ["cpu", "wasm"]],
  ["scatters with mul", productCall, 100, ["cpu", "wasm"]],
] as const;

for (const [name, make, count, backends] of COMPARISONS) {
  for (const backend of backends) {
    test(
      `the gradients of ${name}: ${count} calls in TensorFlow.js, ${backend}`,
      { skip },
      async () => {
        const tf = await tfjsOn(backend);
        const random = randomFrom(seed);
        for (let call = 0; call < count; call++) assertGradients(tf, make(tf, random));
      },
    );
  }
}

const DATA = float32([1, 2, 3, 4]);
const GRADIENT = float32([1, 10, 100, 1000]);
const TWO = float32([5, 6]);

/** The gradients here, in the order of the inputs; null for indices. */
const ours = (...given: Parameters<typeof vjp>) =>
  vjp(...given).map((one) => one && [...(one.data as Float32Array)]);

const theirs = (...given: Parameters<typeof gradientsIn>) =>
  gradientsIn(...given).map((one) => [...one]);

const tuples = (...values: number[]): Tensor =>
  tensor("int32", [values.length, 1], values) as Tensor;

const gatherOf =
  (tf: Tfjs, ...indices: number[]) =>
  (x: TfTensor) =>
    tf.gather(x, int32(tf, indices));

/** Gradients that a backend lacks, the sentences of its errors, and the gradients here. */
const LACKING = [
  [
    "gatherND",
    /gradient function not found for GatherNd/,
    (tf: Tfjs) => (x: TfTensor) => tf.gatherND(x, int32(tf, [2, 2], [2, 1])),
    [DATA],
    TWO,
    () => ours({ function: "gatherND" }, [DATA, tuples(2, 2)], TWO),
    [[0, 0, 11, 0], null],
  ],
  [
    "scatterND",
    /gradient function not found for ScatterNd/,
    (tf: Tfjs) => (u: TfTensor) => tf.scatterND(int32(tf, [2, 0], [2, 1]), u, [4]),
    [TWO],
    GRADIENT,
    () => {
      const options = { reduction: "add" };
      const inputs = [zeros("float32", [4]), tuples(2, 0), TWO];
      return ours({ function: "scatterND", options }, inputs, GRADIENT, { argnums: 2 });
    },
    [null, null, [100, 1]],
  ],
  [
    "tensorScatterUpdate",
    /gradient function not found for TensorScatterUpdate/,
    (tf: Tfjs) => (x: TfTensor, u: TfTensor) =>
      tf.tensorScatterUpdate(x, int32(tf, [2, 0], [2, 1]), u),
    [DATA, TWO],
    GRADIENT,
    () => ours({ function: "scatterND" }, [DATA, tuples(2, 0), TWO], GRADIENT),
    [[0, 10, 0, 1000], null, [100, 1]],
  ],
  [
    "sparseToDense",
    /gradient function not found for SparseToDense/,
    (tf: Tfjs) => (u: TfTensor) => tf.sparseToDense(int32(tf, [0, 2]), u, [4]),
    [TWO],
    GRADIENT,
    () => ours({ function: "scatterND" }, [DATA, tuples(0, 2), TWO], GRADIENT),
    [[0, 10, 0, 1000], null, [1, 100]],
  ],
] as const;

for (const backend of ["cpu", "wasm"] as const) {
  test(`operators without gradients in TensorFlow.js, ${backend}`, { skip }, async () => {
    const tf = await tfjsOn(backend);
    for (const [name, error, call, inputs, gradient, found, expected] of LACKING) {
      assert.throws(() => theirs(tf, call(tf), inputs, gradient), error, name);
      assert.deepEqual(found(), expected, name);
    }
  });
}

test("the wasm backend has no gradients of gathers", { skip }, async () => {
  const tf = await tfjsOn("wasm");
  const missing = /Kernel 'UnsortedSegmentSum' not registered for backend 'wasm'/;
  assert.throws(() => theirs(tf, gatherOf(tf, 0, 1), [DATA], TWO), missing);
});

test("two batch axes, or a negative number of them", { skip }, async () => {
  const tf = await tfjsOn("cpu");
  const data = zeros("float32", [2, 2, 3]);
  const positions = [0, 1, 0, 2, 1, 1, 2, 0];
  const indices = tensor("int32", [2, 2, 2], positions) as Tensor;
  const gradient = tensor("float32", [2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]) as Tensor;
  for (const batchDims of [2, -1]) {
    const call = (x: TfTensor) => tf.gather(x, int32(tf, positions, [2, 2, 2]), 2, batchDims);
    assert.throws(
      () => theirs(tf, call, [data], gradient),
      /must match the product of shape 2,2,8/,
    );
    const node = { function: "gather", options: { axis: 2, batchDims } } as const;
    assert.deepEqual(ours(node, [data, indices], gradient), [
      [1, 2, 0, 3, 0, 4, 0, 11, 0, 8, 0, 7],
      null,
    ]);
  }
});

test("indices outside their axis", { skip }, async () => {
  const tf = await tfjsOn("cpu");
  const outside = (index: number) => new RegExp(`the index value ${index} is not in \\[0, 3\\]`);
  for (const index of [-1, 4]) {
    assert.throws(() => theirs(tf, gatherOf(tf, 0, index), [DATA], TWO), outside(index));
  }
  assert.deepEqual(ours({ function: "gather" }, [DATA, [0, -1]], TWO), [[5, 0, 0, 6], null]);
  for (const [bounds, last] of [
    ["fill", 0],
    ["clip", 6],
  ] as const) {
    const node = { function: "gather", options: { bounds } } as const;
    assert.deepEqual(ours(node, [DATA, [0, 4]], TWO), [[5, 0, 0, last], null]);
  }
  // A segment beyond the last one is skipped, but its gradient fails; a negative one is skipped by both.
  const sum = (last: number) => (x: TfTensor) => tf.unsortedSegmentSum(x, int32(tf, [0, last]), 4);
  const skipped = tf.tidy(() => [...sum(4)(tf.tensor([5, 6], [2])).dataSync()]);
  assert.deepEqual(skipped, [5, 0, 0, 0]);
  assert.throws(() => theirs(tf, sum(4), [TWO], GRADIENT), outside(4));
  assert.deepEqual(theirs(tf, sum(-1), [TWO], GRADIENT), [[1, 0]]);
  const options = { reduction: "add", bounds: "drop" };
  const inputs = [DATA, tuples(0, 4), TWO];
  assert.deepEqual(ours({ function: "scatterND", options }, inputs, GRADIENT)[2], [1, 0]);
});

test("a gradient for the indices of gather is an error", { skip }, async () => {
  const tf = await tfjsOn("cpu");
  tf.tidy(() => {
    const inputs = [tf.tensor([1, 2], [2]), int32(tf, [0, 1])];
    const both = tf.grads((x, indices) => tf.gather(x, indices));
    const error = /gradient of input indices must have 'float32' dtype, but has 'int32'/;
    assert.throws(() => both(inputs, tf.tensor([1, 2], [2])), error);
  });
});

test("an infinity or a NaN in the gradient of a gather spreads to all rows", { skip }, async () => {
  const tf = await tfjsOn("cpu");
  for (const value of [Infinity, NaN]) {
    const gradient = float32([5, value]);
    const spread = theirs(tf, gatherOf(tf, 0, 1), [DATA], gradient);
    assert.deepEqual(spread, [[NaN, value, NaN, NaN]]);
    assert.deepEqual(ours({ function: "gather" }, [DATA, [0, 1]], gradient), [
      [5, value, 0, 0],
      null,
    ]);
  }
});

test("sums of the gradient of a gather are doubles, which are rounded once", { skip }, async () => {
  const tf = await tfjsOn("cpu");
  const half = 2 ** -24;
  const gradient = float32([1, half, half]);
  assert.deepEqual(theirs(tf, gatherOf(tf, 0, 0, 0), [DATA], gradient), [[1 + 2 * half, 0, 0, 0]]);
  assert.deepEqual(ours({ function: "gather" }, [DATA, [0, 0, 0]], gradient)[0], [1, 0, 0, 0]);
});

test("max and min: ties, NaN, and infinite gradients", { skip }, async () => {
  const nan = [float32([NaN]), tuples(0), float32([7])];
  for (const backend of ["cpu", "wasm"] as const) {
    const tf = await tfjsOn(backend);
    const same = [float32([5]), float32([5])];
    // Here, the two operands share the gradient by default; the comparisons above cover other values of `ties`.
    assert.deepEqual(theirs(tf, tf.maximum, same, float32([8])), [[8], [0]]);
    const max = (...inputs: TfTensor[]) => tf.max(tf.concat(inputs, 0), 0, true);
    assert.deepEqual(theirs(tf, max, same, float32([8])), [[8], [8]]);
    assert.deepEqual(theirs(tf, tf.maximum, [nan[0], nan[2]], float32([8])), [[0], [0]]);
    assert.deepEqual(theirs(tf, max, [nan[0], nan[2]], float32([8])), [[0], [0]]);
    const apart = [float32([5]), float32([7])];
    assert.deepEqual(theirs(tf, tf.maximum, apart, float32([Infinity])), [[NaN], [Infinity]]);
    // A product with 0 has the sign of the gradient.
    assert.deepEqual(theirs(tf, tf.maximum, apart, float32([-8])), [[-0], [-8]]);
  }
  const node = { function: "scatterND", options: { reduction: "max" } } as const;
  const scattered = (data: number, update: number, gradient: number) =>
    ours(node, [float32([data]), tuples(0), float32([update])], float32([gradient]));
  assert.deepEqual(scattered(5, 5, 8), [[4], null, [4]]);
  assert.deepEqual(scattered(NaN, 7, 8), [[8], null, [0]]);
  assert.deepEqual(scattered(5, 7, Infinity), [[0], null, [Infinity]]);
  assert.deepEqual(scattered(5, 7, -8), [[0], null, [-8]]);
});

test("gradients of gradients", { skip }, async () => {
  const tf = await tfjsOn("cpu");
  const seeds = float32([1, 10, 100]);
  // The gradient of a gather's gradient is a gather, and that of a sum's gradient is a sum.
  const [gathered] = tf.tidy(() => {
    const data = tf.tensor([1, 2, 3, 4], [4]);
    const inner = tf.grads(gatherOf(tf, 2, 2, 0));
    const twice = tf.grads((gradient) => inner([data], gradient)[0]);
    return twice([tf.tensor([1, 2, 3], [3])], tf.tensor([1, 10, 100, 1000], [4])).map((one) => [
      ...one.dataSync(),
    ]);
  });
  const [summed] = tf.tidy(() => {
    const updates = tf.tensor([1, 2, 3], [3]);
    const inner = tf.grads((u) => tf.unsortedSegmentSum(u, int32(tf, [2, 2, 0]), 4));
    const twice = tf.grads((gradient) => inner([updates], gradient)[0]);
    const outer = tf.tensor([1, 10, 100], [3]);
    return twice([tf.tensor([1, 2, 3, 4], [4])], outer).map((one) => [...one.dataSync()]);
  });
  const add = { function: "scatterND", options: { reduction: "add" } } as const;
  const inputs = [zeros("float32", [4]), tuples(2, 2, 0), seeds];
  assert.deepEqual(ours(add, inputs, GRADIENT)[2], gathered);
  assert.deepEqual(ours({ function: "gatherND" }, [DATA, tuples(2, 2, 0)], seeds)[0], summed);
});
