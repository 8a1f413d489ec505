/** Seeded random calls of the plain functions, with their results by the slow definition. */

import * as reference from "./reference.ts";
import fc from "fast-check";
import type { NodeSpec } from "../../src/core/call/call.ts";
import type { FunctionSpec } from "../../src/core/call/vjp.ts";
import type { CallSpec } from "../../src/arrays/chunked/job/request.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import { DTYPES, type DType, type Reduction, type Stays } from "../../src/core/tensor/dtype.ts";
import { gatherElements, scatterElements } from "../../src/core/operators/elements.ts";
import { gatherND, scatterND } from "../../src/core/operators/tuples.ts";
import { gather } from "../../src/core/operators/slices.ts";
import type { Operator } from "../../src/core/operators/operator.ts";
import { tensorScatter } from "../../src/core/operators/sequences.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import { COUNTS, randomFrom, randomIndices, randomTensor, ROWS, type Random } from "./random.ts";

export interface Case {
  readonly operator: Operator;
  readonly inputs: readonly Tensor[];
  readonly attributes: Record<string, number | string | boolean>;
  readonly expected: Tensor;
  readonly random: Random;
  /** The rule of comparison of a scatter's max or min, if it is not IEEE 754's. */
  readonly stays?: Stays | undefined;
  /** The size of the axis that the index at a position addresses; absent if indices are starts of sequences. */
  readonly dimOf?: (position: number) => number;
}

/** The rules of comparison under which a reduction of a data type is tested. */
export function rulesOf(dtype: DType, reduction: Reduction): readonly (Stays | undefined)[] {
  const { family } = DTYPES[dtype];
  const isFloat = family === "float" || family === "half";
  return isFloat && /max|min/.test(reduction) ? [undefined, "data", "update"] : [undefined];
}

/** A plain function as if its version had a rule of comparison, so that policies apply to the rule as well. */
const ruled = (operator: Operator, stays: Stays | undefined): Operator =>
  stays === undefined || operator.plain === undefined
    ? operator
    : { ...operator, plain: { ...operator.plain, stays } };

/** The call of a case: a plain function, or the node of the OpenVINO version that has the case's rule of comparison. */
export function specOf({
  operator,
  attributes,
  stays,
}: Pick<Case, "operator" | "attributes" | "stays">): CallSpec {
  const { reduction, axis, includeSelf = true } = attributes;
  const domain = "openvino";
  if (stays === "data") {
    const node = { domain, op: "ScatterNDUpdate", opset: 15, attributes: { reduction } };
    return { node };
  }
  if (stays === "update") {
    const own = { reduction, use_init_val: includeSelf };
    const node = { domain, op: "ScatterElementsUpdate", opset: 12, attributes: own };
    return { node, axis: Number(axis) };
  }
  const [name] = Object.entries(FUNCTIONS).find(([, one]) => one === operator) ?? [""];
  return { function: name, options: attributes };
}

/** A case as `vjp` takes it: the call, and the inputs with the axis if that is an input. */
export function differentiable(one: Case): {
  readonly node: FunctionSpec | NodeSpec;
  readonly inputs: readonly Tensor[];
} {
  const spec = specOf(one);
  if (!("node" in spec)) return { node: spec as FunctionSpec, inputs: one.inputs };
  const axis = spec.axis === undefined ? [] : [tensor("int64", [], spec.axis)];
  return { node: spec.node, inputs: [...one.inputs, ...axis] };
}

/** Cases of the OpenVINO versions with a rule of their own, without the policies that nodes lack. */
export const openvinoCases = {
  data: (dtype: DType, reduction: Reduction, shapes: Shapes): Case =>
    scatterNDCase(dtype, reduction, "int64", shapes, "data", "node"),
  update: (dtype: DType, reduction: Reduction, shapes: Shapes): Case =>
    scatterElementsCase(dtype, reduction, "int32", shapes, "update", "node"),
};

const smallShape = fc.record({
  dims: fc
    .array(fc.constantFrom(0, 1, 1, 2, 2, 3, 3, 4, 5, 18), { minLength: 1, maxLength: 6 })
    .map(shrinkTo(400)),
  lead: fc.array(fc.constantFrom(0, 1, 2, 3, 4), { minLength: 0, maxLength: 3 }).map(shrinkTo(12)),
  pick: fc.nat(1000),
  seed: fc.nat(),
});

/** Most elements of data or updates in a large shape. */
const MOST = 2500;

/** Rows and updates around the thresholds of engines; in two batches, or as the only axes. */
const largeShape = fc
  .record({
    row: fc.constantFrom(...ROWS),
    targets: fc.constantFrom(3, 40, ...COUNTS.filter((count) => count > 600)),
    count: fc.constantFrom(...COUNTS),
    batches: fc.constantFrom(1, 1, 2),
    // With these, `pick` chooses every axis, rows and single elements, and batches.
    pick: fc.constantFrom(1, 2, 4),
    seed: fc.nat(),
  })
  .map(({ row, targets, count, batches, pick, seed }) => {
    const most = Math.floor(MOST / (batches * row));
    const dims = [Math.min(targets, most), row];
    const lead = [Math.min(count, most)];
    return batches === 1
      ? { dims, lead, pick, seed }
      : { dims: [2, ...dims], lead, pick: 10, seed };
  });

/**
 * Small shapes of rank 1 to 6, sometimes with a zero, and some large ones; and a seed for the values.
 * @param small how many small shapes one large shape follows; a large one takes about forty times as long
 */
export const shapesOf = (small: number) =>
  fc.oneof({ weight: small, arbitrary: smallShape }, { weight: 1, arbitrary: largeShape });

export const arbitraryShape = shapesOf(19);

/** Cuts dimensions to 2 from the front until the size is at most `most`. */
function shrinkTo(most: number): (dims: number[]) => number[] {
  return (dims) => {
    const cut = dims.slice();
    for (let d = 0; product(cut) > most; d++) cut[d] = Math.min(cut[d], 2);
    return cut;
  };
}

export type Shapes = typeof smallShape extends fc.Arbitrary<infer T> ? T : never;

interface Policies {
  readonly bounds?: "clip" | "drop" | "fill";
  readonly includeSelf?: boolean;
}

/** Sometimes a policy, and then some indices outside their axes if the policy accepts them. */
function policiesOf(kind: Operator["kind"], dims: readonly number[], random: Random): Policies {
  const other = kind === "scatter" ? "drop" : "fill";
  // An axis without elements has no nearest index to clip to.
  const bounds = ([undefined, undefined, other, dims.includes(0) ? other : "clip"] as const)[
    random(4)
  ];
  return {
    ...(bounds && { bounds }),
    ...(kind === "scatter" && random(3) === 0 && { includeSelf: false }),
  };
}

/** What a node with a rule of comparison can express: only ScatterElementsUpdate can leave out data. */
const nodePolicies = (stays: Stays | undefined, random: Random): Policies =>
  stays === "update" && random(3) === 0 ? { includeSelf: false } : {};

/** The same indices, some of them moved outside their axes if that is not an error. */
function moved(indices: Tensor, { bounds }: Policies, random: Random): Tensor {
  if (bounds === undefined) return indices;
  const { dtype, shape, size } = indices;
  const far = (): number => [-(2 ** 31), -19, 18, 2 ** 31 - 1, 5][random(5)];
  const data = indices.data.slice() as Int32Array | BigInt64Array;
  for (let p = 0; p < size; p++) {
    if (random(4) === 0) data[p] = (dtype === "int64" ? BigInt(far()) : far()) as never;
  }
  return new Tensor(dtype, shape, size, data);
}

export function scatterNDCase(
  dtype: DType,
  reduction: Reduction,
  indexType: "int32" | "int64",
  { dims, lead, pick, seed }: Shapes,
  stays?: Stays,
  as: "function" | "node" = "function",
): Case {
  const random = randomFrom(seed);
  const k = pick % (dims.length + 1);
  // An axis without elements has no legal index.
  const tuples = dims.slice(0, k).includes(0) ? [0, ...lead] : lead;
  const policies =
    as === "node" ? nodePolicies(stays, random) : policiesOf("scatter", dims, random);
  const inside = randomIndices(indexType, [...tuples, k], (p) => dims[p % k], random);
  const indices = moved(inside, policies, random);
  const data = randomTensor(dtype, dims, random);
  const updates = randomTensor(dtype, [...tuples, ...dims.slice(k)], random);
  const expected = reference.scatterND(data, indices, updates, reduction, {
    ...policies,
    stays,
  });
  return {
    operator: ruled(scatterND, stays),
    inputs: [data, indices, updates],
    attributes: { reduction, ...policies },
    expected,
    stays,
    random,
    dimOf: (p) => dims[p % k],
  };
}

function elementsIndices(
  indexType: "int32" | "int64",
  dims: readonly number[],
  pick: number,
  random: Random,
) {
  const axis = pick % dims.length;
  const shape = dims.map((dim, d) =>
    d === axis ? [dim, 1, 3, 0][random(4)] : random(3) === 0 ? random(dim + 1) : dim,
  );
  if (dims[axis] === 0) shape[axis] = 0;
  const indices = randomIndices(indexType, shape, () => dims[axis], random);
  return { axis: random(2) === 0 ? axis : axis - dims.length, positive: axis, indices };
}

export function scatterElementsCase(
  dtype: DType,
  reduction: Reduction,
  indexType: "int32" | "int64",
  { dims, pick, seed }: Shapes,
  stays?: Stays,
  as: "function" | "node" = "function",
): Case {
  const random = randomFrom(seed);
  const { axis, positive, indices: inside } = elementsIndices(indexType, dims, pick, random);
  const policies =
    as === "node" ? nodePolicies(stays, random) : policiesOf("scatter", dims, random);
  const indices = moved(inside, policies, random);
  const data = randomTensor(dtype, dims, random);
  const updates = randomTensor(dtype, indices.shape, random);
  const expected = reference.scatterElements(data, indices, updates, positive, reduction, {
    ...policies,
    stays,
  });
  return {
    operator: ruled(scatterElements, stays),
    inputs: [data, indices, updates],
    attributes: { axis, reduction, ...policies },
    expected,
    stays,
    random,
    dimOf: () => dims[positive],
  };
}

export function gatherNDCase(
  dtype: DType,
  indexType: "int32" | "int64",
  { dims, lead, pick, seed }: Shapes,
): Case {
  const random = randomFrom(seed);
  const batchDims = pick % Math.min(dims.length, 3);
  const k = 1 + (Math.floor(pick / 3) % (dims.length - batchDims));
  const addressed = dims.slice(batchDims, batchDims + k);
  const tuples = [...dims.slice(0, batchDims), ...(addressed.includes(0) ? [0, ...lead] : lead)];
  const policies = policiesOf("gather", dims, random);
  const inside = randomIndices(indexType, [...tuples, k], (p) => addressed[p % k], random);
  const indices = moved(inside, policies, random);
  const data = randomTensor(dtype, dims, random);
  const expected = reference.gatherND(data, indices, batchDims, policies);
  return {
    operator: gatherND,
    inputs: [data, indices],
    attributes: { batchDims, ...policies },
    expected,
    random,
    dimOf: (p) => addressed[p % k],
  };
}

export function gatherElementsCase(
  dtype: DType,
  indexType: "int32" | "int64",
  { dims, pick, seed }: Shapes,
): Case {
  const random = randomFrom(seed);
  const { axis, positive, indices: inside } = elementsIndices(indexType, dims, pick, random);
  const policies = policiesOf("gather", dims, random);
  const indices = moved(inside, policies, random);
  const data = randomTensor(dtype, dims, random);
  const expected = reference.gatherElements(data, indices, positive, policies);
  return {
    operator: gatherElements,
    inputs: [data, indices],
    attributes: { axis, ...policies },
    expected,
    random,
    dimOf: () => dims[positive],
  };
}

export function gatherCase(
  dtype: DType,
  indexType: "int32" | "int64",
  { dims, lead, pick, seed }: Shapes,
): Case {
  const random = randomFrom(seed);
  const axis = pick % dims.length;
  const batchDims = random(axis + 1);
  const own = dims[axis] === 0 ? [0, ...lead] : lead;
  const shape = [...dims.slice(0, batchDims), ...own];
  const policies = policiesOf("gather", dims, random);
  const inside = randomIndices(indexType, shape, () => dims[axis], random);
  const indices = moved(inside, policies, random);
  const data = randomTensor(dtype, dims, random);
  const expected = reference.gather(data, indices, axis, batchDims, policies);
  return {
    operator: gather,
    inputs: [data, indices],
    attributes: {
      axis: random(2) === 0 ? axis : axis - dims.length,
      // A negative value counts from the back, so it cannot mean none.
      batchDims: random(2) === 0 || own.length === 0 ? batchDims : batchDims - shape.length,
      ...policies,
    },
    expected,
    random,
    dimOf: () => dims[axis],
  };
}

export function tensorScatterCase(dtype: DType, { dims, pick, seed }: Shapes): Case {
  const random = randomFrom(seed);
  const shape = dims.length === 1 ? [2, ...dims] : dims;
  const axis = 1 + (pick % (shape.length - 1));
  const mode = random(2) === 0 ? "linear" : "circular";
  const length = random(shape[axis] + 1);
  const data = randomTensor(dtype, shape, random);
  const updates = randomTensor(dtype, shape.with(axis, length), random);
  const starts = Array.from({ length: shape[0] }, () =>
    mode === "linear" ? random(shape[axis] - length + 1) : random(100) - 50,
  );
  const indices = random(4) === 0 ? undefined : tensor("int64", [shape[0]], starts);
  const expected = reference.tensorScatter(data, updates, indices, axis, mode);
  return {
    operator: tensorScatter,
    inputs: indices === undefined ? [data, updates] : [data, updates, indices],
    attributes: { axis: random(2) === 0 ? axis : axis - shape.length, mode },
    expected,
    random,
  };
}
