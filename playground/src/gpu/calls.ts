/**
 * Calls for the GPU check: the examples in ONNX's documentation, and reproducible random calls for every data type and
 * reduction.
 */

import { DTYPES, isDType, REDUCTIONS, type DType, type Reduction, type Tensor } from "ndscatter";
import { ONNX_EXAMPLES } from "../examples/examples-onnx.ts";
import { tensorOf } from "../values/tensor-text.ts";
import { randomFrom, randomIndices, randomTensor, type Random } from "./random.ts";

export const FUNCTIONS = [
  "scatterND",
  "scatterElements",
  "tensorScatter",
  "gatherND",
  "gatherElements",
  "gather",
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** The location of the indices: on the GPU, on the host, or in a prepared plan. */
export const WAYS = ["on the GPU", "on the host", "in a kept plan"] as const;
export type Way = (typeof WAYS)[number];

export interface Policies {
  readonly bounds?: "clip" | "drop";
  readonly duplicates?: "error";
  readonly includeSelf?: false;
}

export interface Call {
  readonly name: FunctionName;
  readonly way: Way;
  readonly data: Tensor;
  readonly indices: Tensor;
  /** The updates of a scatter; null for a gather. */
  readonly updates: Tensor | null;
  readonly reduction: Reduction | null;
  readonly axis: number | undefined;
  /** Options of `scatterND` and `gatherND` that are not operator attributes. */
  readonly policies?: Policies;
  /** The call's name, which seeds a random call. */
  readonly title: string;
}

/** Yields all calls; tensors are created when a call is requested. */
export function* allCalls(): Generator<Call> {
  yield* examples();
  for (const name of Object.keys(DTYPES)) {
    if (isDType(name) && name !== "string") yield* callsOf(name);
  }
}

const NAMES: Readonly<Record<string, FunctionName>> = {
  ScatterND: "scatterND",
  ScatterElements: "scatterElements",
  GatherND: "gatherND",
  GatherElements: "gatherElements",
  Gather: "gather",
};

/** Yields the examples that both engines can run. */
function* examples(): Generator<Call> {
  for (const { op, examples: list } of ONNX_EXAMPLES) {
    for (const { title, attributes, inputs } of list) {
      const { axis, reduction = "none", ...others } = attributes;
      const name = NAMES[op];
      if (name === undefined || Object.keys(others).length > 0) continue;
      const [data, indices, updates] = inputs.map((text) => text && tensorOf(text, op).tensor);
      if (!data || !indices) continue;
      yield {
        name,
        way: "on the GPU",
        data,
        indices,
        updates: updates ?? null,
        reduction: updates ? (REDUCTIONS.find((one) => one === reduction) ?? null) : null,
        axis: axis === undefined ? undefined : Number(axis),
        title: `${op}, ${title}`,
      };
    }
  }
}

/** The number of random scatters for each data type and reduction. */
const SCATTERS = 3;

function* callsOf(dtype: DType): Generator<Call> {
  for (const reduction of REDUCTIONS) {
    for (let n = 0; n < SCATTERS; n++) yield scatterND(dtype, reduction, WAYS[n % 3]);
    yield scatterElements(dtype, reduction);
  }
  yield hotCells(dtype, "add");
  yield hotCells(dtype, "none");
  for (const way of WAYS) yield gatherND(dtype, way);
  yield gather(dtype, "gatherElements");
  yield gather(dtype, "gather");
  for (const policies of POLICIES) {
    for (const reduction of ["none", "add"] as const) yield byPolicy(dtype, reduction, policies);
  }
  yield tensorScatter(dtype);
}

/** Options for calls with indices out of range. The call fails without `bounds`, and if duplicates are refused. */
const POLICIES: readonly Policies[] = [
  {},
  { bounds: "drop" },
  { bounds: "clip", includeSelf: false },
  { bounds: "clip", duplicates: "error" },
];

/** Returns a random generator that is seeded by name. The same name always produces the same call. */
function seeded(title: string): Random {
  let seed = 0;
  for (const letter of title) seed = (Math.imul(seed, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return randomFrom(seed);
}

function shapeFrom(random: Random, rank: number): number[] {
  return Array.from({ length: rank }, () => 1 + random(5));
}

function scatterND(dtype: DType, reduction: Reduction, way: Way): Call {
  const title = `scatterND of ${dtype}, ${reduction}, indices ${way}`;
  const random = seeded(title);
  const shape = shapeFrom(random, 3);
  const depth = 1 + random(3);
  const tuples = [1 + random(12)];
  const indices = randomIndices("int64", [...tuples, depth], (p) => shape[p % depth], random);
  const data = randomTensor(dtype, shape, random);
  const updates = randomTensor(dtype, [...tuples, ...shape.slice(depth)], random);
  return { name: "scatterND", way, data, indices, updates, reduction, axis: undefined, title };
}

function scatterElements(dtype: DType, reduction: Reduction): Call {
  const title = `scatterElements of ${dtype}, ${reduction}`;
  const random = seeded(title);
  const shape = shapeFrom(random, 3);
  const axis = random(3);
  const moved = shape.with(axis, 1 + random(8));
  const indices = randomIndices("int32", moved, () => shape[axis], random);
  const data = randomTensor(dtype, shape, random);
  const updates = randomTensor(dtype, moved, random);
  const way = WAYS[0];
  return { name: "scatterElements", way, data, indices, updates, reduction, axis, title };
}

/** Returns a call with many updates of few rows and some indices out of range. */
function byPolicy(dtype: DType, reduction: Reduction, policies: Policies): Call {
  const words = Object.entries(policies).map(([policy, word]) => `${policy} ${word}`);
  const rules = words.length === 0 ? "a bad index" : words.join(", ");
  const title = `scatterND of ${dtype}, ${reduction}, ${rules}`;
  const random = seeded(title);
  const indices = randomIndices("int64", [40, 1], () => 11, random);
  const data = randomTensor(dtype, [9, 3], random);
  const updates = randomTensor(dtype, [40, 3], random);
  const call = { name: "scatterND", way: WAYS[0], data, indices, updates, reduction } as const;
  return { ...call, axis: undefined, policies, title };
}

function tensorScatter(dtype: DType): Call {
  const title = `tensorScatter of ${dtype}`;
  const random = seeded(title);
  const data = randomTensor(dtype, [3, 7, 5], random);
  const updates = randomTensor(dtype, [3, 4, 5], random);
  // All positions are valid, because positions wrap around.
  const indices = randomIndices("int64", [3], () => 1000, random);
  const call = { name: "tensorScatter", way: WAYS[0], data, indices, updates } as const;
  return { ...call, reduction: null, axis: undefined, title };
}

/** Returns a call with thousands of updates of a few cells, which exposes the order of additions. */
function hotCells(dtype: DType, reduction: Reduction): Call {
  const title = `scatterND of ${dtype}, ${reduction}, 3,000 updates of 7 cells`;
  const random = seeded(title);
  const indices = randomIndices("int64", [3000, 1], () => 7, random);
  const data = randomTensor(dtype, [7], random);
  const updates = randomTensor(dtype, [3000], random);
  const way = WAYS[0];
  return { name: "scatterND", way, data, indices, updates, reduction, axis: undefined, title };
}

function gatherND(dtype: DType, way: Way): Call {
  const title = `gatherND of ${dtype}, indices ${way}`;
  const random = seeded(title);
  const shape = shapeFrom(random, 3);
  const depth = 1 + random(3);
  const indices = randomIndices("int64", [9, depth], (p) => shape[p % depth], random);
  const data = randomTensor(dtype, shape, random);
  return {
    name: "gatherND",
    way,
    data,
    indices,
    updates: null,
    reduction: null,
    axis: undefined,
    title,
  };
}

function gather(dtype: DType, name: "gather" | "gatherElements"): Call {
  const title = `${name} of ${dtype}`;
  const random = seeded(title);
  const shape = shapeFrom(random, 3);
  const axis = random(3);
  const moved = name === "gather" ? [2, 3] : shape.with(axis, 1 + random(8));
  const indices = randomIndices("int32", moved, () => shape[axis], random);
  const data = randomTensor(dtype, shape, random);
  return { name, way: WAYS[0], data, indices, updates: null, reduction: null, axis, title };
}
