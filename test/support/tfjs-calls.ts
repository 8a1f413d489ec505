/** Random calls with gradients, each with the same call in TensorFlow.js. */

import assert from "node:assert/strict";
import { type FunctionSpec } from "../../src/core/call/vjp.ts";
import { vjp } from "../../src/core/functions.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { Random } from "./random.ts";
import { float32, gradientsIn, int32, type TfTensor, type Tfjs } from "./tfjs.ts";

/** A call here and in TensorFlow.js. */
export interface Comparison {
  readonly node: FunctionSpec;
  readonly inputs: readonly Tensor[];
  readonly outputGradient: Tensor;
  readonly ties?: "all" | "first" | "last";
  /** The same call as a function of data, or of data and updates. */
  readonly call: (...inputs: TfTensor[]) => TfTensor;
}

type Shape = readonly number[];

const list = <T = number>(count: number, make: (p: number) => T): T[] =>
  Array.from({ length: count }, (_, p) => make(p));

/** Numbers whose sums are exact, or numbers with all bits of float32. */
export function randomFloats(shape: Shape, random: Random, kind: "whole" | "any"): Tensor {
  const value = (): number =>
    kind === "whole" ? random(7) - 3 : Math.fround((random(2 ** 24) - 2 ** 23) / 1000);
  return float32(list(product(shape), value), shape);
}

const randomKind = (random: Random): "whole" | "any" => (random(2) === 0 ? "whole" : "any");

/** Indices below `dimOf(p)`, a quarter of them counted from the end. TensorFlow.js gets `positive`. */
function indicesFor(shape: Shape, dimOf: (p: number) => number, random: Random) {
  const positive = list(product(shape), (p) => random(dimOf(p)));
  const values = positive.map((index, p) => (random(4) === 0 ? index - dimOf(p) : index));
  return { positive, indices: tensor("int32", shape, values) as Tensor };
}

const randomShape = (rank: number, random: Random): number[] => list(rank, () => 1 + random(4));

/** Size of the axes from `from` to before `to`. */
const sizeOf = (dims: Shape, from: number, to = dims.length): number =>
  product(dims.slice(from, to));

/** `gather`, which both have. TensorFlow.js has gradients for one batch axis or none. */
export function gatherCall(tf: Tfjs, random: Random): Comparison {
  const dims = randomShape(1 + random(4), random);
  const rank = dims.length;
  const batchDims = rank > 1 && random(3) === 0 ? 1 : 0;
  const axis = batchDims + random(rank - batchDims);
  const own = randomShape(random(3), random);
  const shape = [...dims.slice(0, batchDims), ...own];
  const { positive, indices } = indicesFor(shape, () => dims[axis], random);
  const output = [...dims.slice(0, axis), ...own, ...dims.slice(axis + 1)];
  const written = random(2) === 0 ? axis : axis - rank;
  return {
    node: { function: "gather", options: { axis: written, batchDims } },
    inputs: [zeros("float32", dims), indices],
    outputGradient: randomFloats(output, random, randomKind(random)),
    call: (x) => tf.gather(x, int32(tf, positive, shape), written, batchDims),
  };
}

/** `gatherND` as a gather of rows, whose numbers the tuples determine. */
export function gatherNDCall(tf: Tfjs, random: Random): Comparison {
  const dims = randomShape(1 + random(4), random);
  const batchDims = dims.length > 1 && random(3) === 0 ? 1 : 0;
  const k = 1 + random(dims.length - batchDims);
  const own = randomShape(random(3), random);
  const shape = [...dims.slice(0, batchDims), ...own, k];
  const { positive, indices } = indicesFor(shape, (p) => dims[batchDims + (p % k)], random);
  const perBatch = product(own);
  const rows = list(positive.length / k, (p) => {
    const tuple = positive.slice(p * k, (p + 1) * k);
    const batch = batchDims === 0 ? 0 : Math.floor(p / perBatch);
    return tuple.reduce((row, index, d) => row * dims[batchDims + d] + index, batch);
  });
  const rest = dims.slice(batchDims + k);
  const output = [...shape.slice(0, -1), ...rest];
  return {
    node: { function: "gatherND", options: { batchDims } },
    inputs: [zeros("float32", dims), indices],
    outputGradient: randomFloats(output, random, randomKind(random)),
    call: (x) => {
      const table = tf.reshape(x, [sizeOf(dims, 0, batchDims + k), product(rest)]);
      return tf.reshape(tf.gather(table, int32(tf, rows)), output);
    },
  };
}

/** `gatherElements` as a gather from the flat data. */
export function gatherElementsCall(tf: Tfjs, random: Random): Comparison {
  const dims = randomShape(1 + random(3), random);
  const axis = random(dims.length);
  const shape = dims.map((dim, d) => 1 + random(d === axis ? 6 : dim));
  const { positive, indices } = indicesFor(shape, () => dims[axis], random);
  const offsets = positive.map((index, p) =>
    dims.reduce((offset, dim, d) => {
      const coordinate = Math.floor(p / sizeOf(shape, d + 1)) % shape[d];
      return offset * dim + (d === axis ? index : coordinate);
    }, 0),
  );
  return {
    node: { function: "gatherElements", options: { axis } },
    inputs: [zeros("float32", dims), indices],
    outputGradient: randomFloats(shape, random, randomKind(random)),
    call: (x) => tf.gather(tf.reshape(x, [product(dims)]), int32(tf, offsets, shape)),
  };
}

const SUMS = ["add", "sub", "mean", "none"] as const;

/**
 * A scatter of rows, with the sum of the updates of each row: `unsortedSegmentSum` skips a negative index, which is
 * beyond the axis here. Without a reduction no index repeats; `includeSelf: false` replaces the rows that have updates.
 */
export function segmentCall(tf: Tfjs, random: Random): Comparison {
  const [rows, ...rest] = randomShape(1 + random(3), random);
  const reduction = SUMS[random(SUMS.length)];
  const includeSelf = reduction === "sub" || reduction === "none" || random(2) === 0;
  const ids = list(reduction === "none" ? rows : 1 + random(8), (p) =>
    random(5) === 0 ? -1 : reduction === "none" ? p : random(rows),
  );
  const counts = list(rows, (row) => ids.filter((id) => id === row).length);
  const hits = counts.flatMap((count) => list(product(rest), () => (count > 0 ? 1 : 0)));
  const shape = [rows, ...rest];
  const tuples = ids.map((id) => (id < 0 ? -1 - rows : id));
  const kind = randomKind(random);
  return {
    node: { function: "scatterND", options: { reduction, includeSelf, bounds: "drop" } },
    inputs: [
      randomFloats(shape, random, kind),
      tensor("int32", [ids.length, 1], tuples) as Tensor,
      randomFloats([ids.length, ...rest], random, kind),
    ],
    outputGradient: randomFloats(shape, random, kind),
    call: (data, updates) => {
      const sums = tf.unsortedSegmentSum(updates, int32(tf, ids), rows);
      const start = includeSelf && reduction !== "none" ? 1 : 0;
      const divisors = counts.map((count) => Math.max(1, count + start));
      const column = tf.tensor(divisors, [rows, ...rest.map(() => 1)]);
      const total =
        start === 0 ? sums : reduction === "sub" ? tf.sub(data, sums) : tf.add(data, sums);
      const result = reduction === "mean" ? tf.div(total, column) : total;
      return start === 1 ? result : tf.where(tf.tensor(hits, shape, "bool"), result, data);
    },
  };
}

/**
 * A maximum or minimum with several updates of each cell, on small whole numbers that tie often. TensorFlow.js's `max`
 * gives each of the equal operands the gradient, and its `maximum` the first one only.
 */
export function extremeCall(tf: Tfjs, random: Random): Comparison {
  const columns = 1 + random(4);
  const count = 1 + random(5);
  const reduction = random(2) === 0 ? "max" : "min";
  const ties = (["all", "first", "last"] as const)[random(3)];
  const pair = reduction === "max" ? tf.maximum : tf.minimum;
  return {
    ...denseCall({ reduction }, columns, count, random),
    ties,
    call: (data, updates) => {
      if (ties === "all") return tf[reduction](tf.concat([data, updates], 0), 0, true);
      const rows = list(count, (row) => tf.slice(updates, [row, 0], [1, columns]));
      const ofTwo = (a: TfTensor, b: TfTensor) => (ties === "first" ? pair(a, b) : pair(b, a));
      return rows.reduce(ofTwo, data);
    },
  };
}

/** A product with several updates of each cell. The numbers are whole, so the order of the factors does not matter. */
export function productCall(tf: Tfjs, random: Random): Comparison {
  const columns = 1 + random(4);
  return {
    ...denseCall({ reduction: "mul" }, columns, 1 + random(5), random),
    call: (data, updates) => tf.prod(tf.concat([data, updates], 0), 0, true),
  };
}

/** A scatter of `count` updates into each cell of a row. */
function denseCall(options: object, columns: number, count: number, random: Random) {
  const [one, all] = [
    [1, columns],
    [count, columns],
  ];
  return {
    node: { function: "scatterElements", options: { ...options, axis: 0 } },
    inputs: [
      randomFloats(one, random, "whole"),
      zeros("int32", all),
      randomFloats(all, random, "whole"),
    ],
    outputGradient: randomFloats(one, random, "whole"),
  } as const;
}

/**
 * Compares the gradients of a call: an element that is the sum of up to two parts is equal, and others differ by at most
 * the rounding of a sum.
 */
export function assertGradients(tf: Tfjs, comparison: Comparison): void {
  const { node, inputs, outputGradient, call, ties } = comparison;
  const differentiable = inputs.filter(({ dtype }) => dtype === "float32");
  const expected = gradientsIn(tf, call, differentiable, outputGradient);
  const found = vjp(node, inputs, outputGradient, { ties }).filter((one) => one !== null);
  const bounds = inputs.length === 2 ? boundsOf(comparison) : null;
  assert.equal(found.length, expected.length);
  for (const [at, ours] of found.entries()) {
    assert.equal(ours.size, expected[at].length);
    for (const [p, theirs] of expected[at].entries()) {
      const own = Number(ours.data[p]);
      const isEqual = own === theirs || Math.abs(own - theirs) <= (bounds?.[p] ?? 0);
      if (isEqual) continue;
      const sentence = `gradient ${at} at ${p} is ${own}, TensorFlow.js's is ${theirs}`;
      assert.fail(`${JSON.stringify(node)}, ${inputs.join(", ")}, ${outputGradient}: ${sentence}`);
    }
  }
}

/** The largest differences of the sums in a gather's gradient: n * eps * (sum of sizes), and 0 for up to two parts. */
function boundsOf({ node, inputs, outputGradient }: Comparison): number[] {
  const gradientFor = (gradient: Tensor) => [
    ...((vjp(node, inputs, gradient)[0] as Tensor).data as Float32Array),
  ];
  const { shape } = outputGradient;
  const sizes = [...(outputGradient.data as Float32Array)].map(Math.abs);
  const sums = gradientFor(float32(sizes, shape));
  return gradientFor(full("float32", shape, 1)).map((n, p) =>
    n <= 2 ? 0 : n * 2 ** -23 * sums[p],
  );
}
