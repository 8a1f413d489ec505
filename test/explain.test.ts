/** What `explain` tells: literal stories for each operator, and for random calls that telling and running agree. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPE_NAMES, DTYPES, reductionsOf, type DType } from "../src/tensor/dtype.ts";
import { isTensorError } from "../src/errors.ts";
import { explain } from "../src/explain/explain.ts";
import type {
  Explanation,
  GatherStory,
  IndexStory,
  ScatterStory,
  StoryStep,
} from "../src/explain/explanation.ts";
import { operators } from "../src/operators/registry.ts";
import { infer } from "../src/call/infer.ts";
import { run } from "../src/call/run.ts";
import type { NodeSpec } from "../src/call/call.ts";
import { coordinatesOf, product } from "../src/tensor/shape.ts";
import { equals, full, tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import { WITHOUT_NODE } from "./support/platform.ts";
import { randomFrom, randomIndices, randomTensor, type Random } from "./support/random.ts";

const list = (values: unknown): string =>
  JSON.stringify(values, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : Object.is(value, -0) ? "-0" : value,
  );

const printIndex = ({ at, given, places }: IndexStory): string =>
  `@${list(at)}=${list(given)}${places === null ? "?" : list(places)}`;

/** A line for each target: its coordinates, and each step with the values around it. */
const scatterLines = ({ targets }: ScatterStory): string[] =>
  Array.from(targets, ({ coordinates, steps }) => {
    const told = Array.from(steps(), (step) => {
      const after = list(step.after.toArray());
      if (step.kind === "division") return `/${step.divisor} > ${after}`;
      return `${step.by} ${list(step.at)}${printIndex(step.index)} > ${after}`;
    });
    const [first] = steps();
    return `${list(coordinates)} ${list(first.before.toArray())} ${told.join(" ")}`;
  });

/** A line for each slice of the output: where it is, where it comes from, and its index. */
const gatherLines = ({ reads }: GatherStory): string[] =>
  Array.from(
    reads,
    ({ at, index, target }) => `${list(at)} < ${list(target)} ${printIndex(index)}`,
  );

interface Row {
  readonly says: string;
  readonly node: NodeSpec;
  readonly inputs: readonly (Tensor | undefined)[];
  /** What of the updates' shape is said, of a scatter, and of the output's. */
  readonly shapes: readonly string[];
  readonly lines: readonly string[];
}

const f32 = (shape: number[], values: number[]): Tensor => tensor("float32", shape, values);
const i64 = (shape: number[], values: number[]): Tensor => tensor("int64", shape, values);
const openvino = (op: string, opset: number, attributes = {}): NodeSpec => ({
  domain: "openvino",
  op,
  opset,
  attributes,
});
const onnx = (op: string, opset: number, attributes = {}): NodeSpec => ({ op, opset, attributes });

// prettier-ignore
const ROWS: readonly Row[] = [
  {
    says: "slices are added up, a negative index is wrapped",
    node: onnx("ScatterND", 18, { reduction: "add" }),
    inputs: [f32([4, 2], [1, 2, 3, 4, 5, 6, 7, 8]), i64([3, 1], [1, 3, -3]), f32([3, 2], [10, 20, 30, 40, 0.5, 0.25])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [3] ++ [2] = [3, 2], got [3, 2]", "output is data.shape = [4, 2]"],
    lines: ["[1] [3,4] add [0]@[0]=[1][1] > [13,24] add [2]@[2]=[-3][1] > [13.5,24.25]", "[3] [7,8] add [1]@[1]=[3][3] > [37,48]"],
  },
  {
    says: "each step is rounded to float16",
    node: onnx("ScatterND", 18, { reduction: "add" }),
    inputs: [tensor("float16", [2], [2048, 0]), i64([3, 1], [0, 0, 0]), tensor("float16", [3], [1, 1, 2])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [3] ++ [] = [3], got [3]", "output is data.shape = [2]"],
    lines: ["[0] 2048 add [0]@[0]=[0][0] > 2048 add [1]@[1]=[0][0] > 2048 add [2]@[2]=[0][0] > 2050"],
  },
  {
    says: "of repeated targets the last wins",
    node: onnx("ScatterND", 11),
    inputs: [i64([2, 2], [1, 2, 3, 4]), i64([3, 2], [0, 1, -1, 0, -2, -1]), i64([3], [7, 8, 9])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[2:] = [3] ++ [] = [3], got [3]", "output is data.shape = [2, 2]"],
    lines: ['[0,1] "2" none [0]@[0]=[0,1][0,1] > "7" none [2]@[2]=[-2,-1][0,1] > "9"', '[1,0] "3" none [1]@[1]=[-1,0][1,0] > "8"'],
  },
  {
    says: "empty tuples update the whole",
    node: onnx("ScatterND", 18, { reduction: "max" }),
    inputs: [f32([2], [1, 5]), i64([2, 0], []), f32([2, 2], [2, 3, 0, 9])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[0:] = [2] ++ [2] = [2, 2], got [2, 2]", "output is data.shape = [2]"],
    lines: ["[] [1,5] max [0]@[0]=[][] > [2,5] max [1]@[1]=[][] > [2,9]"],
  },
  {
    says: "text is put together",
    node: onnx("ScatterElements", 18, { reduction: "add", axis: -1 }),
    inputs: [tensor("string", [1, 2], ["a", "b"]), i64([1, 3], [1, 0, -1]), tensor("string", [1, 3], ["x", "y", "z"])],
    shapes: ["updates must be indices.shape = [1, 3], got [1, 3]", "output is data.shape = [1, 2]"],
    lines: ['[0,0] "a" add [0,1]@[0,1]=[0][0] > "ay"', '[0,1] "b" add [0,0]@[0,0]=[1][1] > "bx" add [0,2]@[0,2]=[-1][1] > "bxz"'],
  },
  {
    says: "each update has an index",
    node: onnx("Scatter", 9),
    inputs: [f32([2, 2], [1, 2, 3, 4]), tensor("int32", [1, 2], [1, 0]), f32([1, 2], [8, 9])],
    shapes: ["updates must be indices.shape = [1, 2], got [1, 2]", "output is data.shape = [2, 2]"],
    lines: ["[0,1] 2 none [0,1]@[0,1]=[0][0] > 9", "[1,0] 3 none [0,0]@[0,0]=[1][1] > 8"],
  },
  {
    says: "a sequence goes on at the front",
    node: onnx("TensorScatter", 24, { mode: "circular" }),
    inputs: [f32([2, 3, 1], [0, 1, 2, 3, 4, 5]), f32([2, 2, 1], [6, 7, 8, 9]), i64([2], [2, 4])],
    shapes: [
      "update must be past_cache.shape[:1] ++ [min(update.shape[1], past_cache.shape[1])] ++ past_cache.shape[2:] = [2] ++ [2] ++ [1] = [2, 2, 1], got [2, 2, 1]",
      "write_indices must be past_cache.shape[:1] = [2], got [2]",
      "present_cache is past_cache.shape = [2, 3, 1]",
    ],
    lines: ["[0,0] [0] none [0,1]@[0]=[2][0] > [7]", "[0,2] [2] none [0,0]@[0]=[2][2] > [6]", "[1,1] [4] none [1,0]@[1]=[4][1] > [8]", "[1,2] [5] none [1,1]@[1]=[4][2] > [9]"],
  },
  {
    says: "positions that are left out are 0",
    node: onnx("TensorScatter", 24),
    inputs: [f32([1, 2, 1], [3, 4]), f32([1, 1, 1], [5]), undefined],
    shapes: [
      "update must be past_cache.shape[:1] ++ [min(update.shape[1], past_cache.shape[1])] ++ past_cache.shape[2:] = [1] ++ [1] ++ [1] = [1, 1, 1], got [1, 1, 1]",
      "write_indices must be past_cache.shape[:1] = [1]",
      "present_cache is past_cache.shape = [1, 2, 1]",
    ],
    lines: ["[0,0] [3] none [0,0]@[0]=[0][0] > [5]"],
  },
  {
    says: "one element will do for a scalar",
    node: openvino("ScatterNDUpdate", 15, { reduction: "sub" }),
    inputs: [f32([3], [1, 2, 3]), i64([1], [-1]), f32([1, 1], [5])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [] ++ [] = [], or one element, got [1, 1]", "output is data.shape = [3]"],
    lines: ["[2] 3 sub [0,0]@[]=[-1][2] > -2"],
  },
  {
    says: "a mean is a sum that is divided in the end",
    node: openvino("ScatterElementsUpdate", 12, { reduction: "mean", use_init_val: false }),
    inputs: [tensor("int32", [2, 2], [1, 2, 3, 4]), i64([2, 2], [0, 1, -1, 1]), tensor("int32", [2, 2], [7, 8, 9, -11]), i64([], [0])],
    shapes: ["updates must be indices.shape = [2, 2], got [2, 2]", "output is data.shape = [2, 2]"],
    lines: ["[0,0] 1 none [0,0]@[0,0]=[0][0] > 7 /1 > 7", "[1,0] 3 none [1,0]@[1,0]=[-1][1] > 9 /1 > 9", "[1,1] 4 none [0,1]@[0,1]=[1][1] > 8 add [1,1]@[1,1]=[1][1] > -3 /2 > -2"],
  },
  {
    says: "a mean counts what is there",
    node: openvino("ScatterElementsUpdate", 12, { reduction: "mean" }),
    inputs: [f32([2], [1, 2]), i64([2], [1, 1]), f32([2], [3, 7]), i64([1], [-1])],
    shapes: ["updates must be indices.shape = [2], got [2]", "output is data.shape = [2]"],
    lines: ["[1] 2 add [0]@[0]=[1][1] > 5 add [1]@[1]=[1][1] > 12 /3 > 4"],
  },
  {
    says: "slices along an axis",
    node: openvino("ScatterUpdate", 3),
    inputs: [f32([2, 3], [1, 2, 3, 4, 5, 6]), tensor("int8", [2], [2, 0]), f32([2, 2], [10, 20, 30, 40]), i64([], [1])],
    shapes: ["updates must be data.shape[:1] ++ indices.shape ++ data.shape[2:] = [2] ++ [2] ++ [] = [2, 2], got [2, 2]", "output is data.shape = [2, 3]"],
    lines: ["[0,0] 1 none [0,1]@[1]=[0][0] > 20", "[0,2] 3 none [0,0]@[0]=[2][2] > 10", "[1,0] 4 none [1,1]@[1]=[0][0] > 40", "[1,2] 6 none [1,0]@[0]=[2][2] > 30"],
  },
  {
    says: "tuples within batches",
    node: onnx("GatherND", 13, { batch_dims: 1 }),
    inputs: [f32([2, 2, 1], [1, 2, 3, 4]), i64([2, 2, 1], [1, -2, 0, 0])],
    shapes: ["output is indices.shape[:-1] ++ data.shape[2:] = [2, 2] ++ [1] = [2, 2, 1]"],
    lines: ["[0,0] < [0,1] @[0,0]=[1][1]", "[0,1] < [0,0] @[0,1]=[-2][0]", "[1,0] < [1,0] @[1,0]=[0][0]", "[1,1] < [1,0] @[1,1]=[0][0]"],
  },
  {
    says: "elements along an axis",
    node: onnx("GatherElements", 13, { axis: 1 }),
    inputs: [f32([2, 2], [1, 2, 3, 4]), tensor("int32", [2, 1], [-1, 0])],
    shapes: ["output is indices.shape = [2, 1]"],
    lines: ["[0,0] < [0,1] @[0,0]=[-1][1]", "[1,0] < [1,0] @[1,0]=[0][0]"],
  },
  {
    says: "slices along an axis",
    node: onnx("Gather", 13, { axis: 1 }),
    inputs: [f32([2, 3], [1, 2, 3, 4, 5, 6]), i64([], [-1])],
    shapes: ["output is data.shape[:1] ++ indices.shape ++ data.shape[2:] = [2] ++ [] ++ [] = [2]"],
    lines: ["[0] < [0,2] @[]=[-1][2]", "[1] < [1,2] @[]=[-1][2]"],
  },
  {
    says: "an index out of range gives 0",
    node: openvino("Gather", 8, { batch_dims: 1 }),
    inputs: [f32([2, 2], [1, 2, 3, 4]), i64([2, 2], [1, 2, -3, -2]), i64([], [1])],
    shapes: ["output is data.shape[:1] ++ indices.shape[1:] ++ data.shape[2:] = [2] ++ [2] ++ [] = [2, 2]"],
    lines: ["[0,0] < [0,1] @[0,0]=[1][1]", "[0,1] < null @[0,1]=[2]?", "[1,0] < null @[1,0]=[-3]?", "[1,1] < [1,0] @[1,1]=[-2][0]"],
  },
  {
    says: "batches are fused in the output",
    node: openvino("GatherND", 5, { batch_dims: 2 }),
    inputs: [f32([2, 1, 2], [1, 2, 3, 4]), tensor("uint8", [2, 1, 1], [1, 0])],
    shapes: ["output is [product(indices.shape[:2])] ++ indices.shape[2:-1] ++ data.shape[3:] = [2] ++ [] ++ [] = [2]"],
    lines: ["[0] < [0,0,1] @[0,0]=[1][1]", "[1] < [1,0,0] @[1,0]=[0][0]"],
  },
  {
    says: "elements along an axis",
    node: openvino("GatherElements", 6, { axis: 0 }),
    inputs: [f32([2], [1, 2]), i64([3], [1, 1, 0])],
    shapes: ["output is indices.shape = [3]"],
    lines: ["[0] < [1] @[0]=[1][1]", "[1] < [1] @[1]=[1][1]", "[2] < [0] @[2]=[0][0]"],
  },
];

const titleOf = ({ domain = "ai.onnx", op }: NodeSpec): string => `${op} of ${domain}`;

for (const { says, node, inputs, shapes, lines } of ROWS) {
  test(`${titleOf(node)}: ${says}`, () => {
    const explanation = explain(node, inputs);
    assert.equal(explanation.error, null);
    assert.deepEqual(
      explanation.shapes.map(({ sentence }) => sentence),
      shapes,
    );
    assert.ok(explanation.shapes.every(({ fits }) => fits));
    const { story } = explanation;
    assert.ok(story);
    assert.deepEqual(story.kind === "scatter" ? scatterLines(story) : gatherLines(story), lines);
    checkAgreement(node, inputs, explanation);
  });
}

test("every operator has a row", () => {
  const told = new Set(ROWS.map(({ node }) => titleOf(node)));
  for (const { name, domain } of operators()) {
    assert.ok(told.has(titleOf({ domain, op: name, opset: 1 })), `${name} of ${domain}`);
  }
});

/** The elements of a slice, or of an element, as bits where there are any. */
function piece({ dtype, data }: Tensor, begin: number, length: number): Tensor {
  const { lanes } = DTYPES[dtype];
  return tensor(dtype, [length], data.slice(begin * lanes, (begin + length) * lanes) as never);
}

const flat = (at: readonly number[], shape: readonly number[]): number =>
  at.reduce((position, coordinate, d) => position * shape[d] + coordinate, 0);

/** What is told and what is run are one. */
function checkAgreement(
  node: NodeSpec,
  inputs: readonly (Tensor | undefined)[],
  { output, story, shapes, inputs: told }: Explanation,
): void {
  const [expected] = run(node, inputs);
  assert.ok(output && story);
  assert.ok(equals(output, expected));
  const types = inputs.map((one) => one && { dtype: one.dtype, shape: one.shape });
  const axis = told.findIndex(({ role }) => role === "axis");
  if (axis !== -1) types[axis] = inputs[axis];
  const [{ shape }] = infer(node, types);
  assert.deepEqual(shapes[shapes.length - 1].expected, shape);
  const data = inputs[0] as Tensor;
  if (story.kind === "scatter") checkScatter(story, data, expected);
  else checkGather(story, data, expected);
}

function checkScatter(story: ScatterStory, data: Tensor, output: Tensor): void {
  const { targets, updates, summary } = story;
  const slice = product(data.shape, story.addressed);
  const touched = new Set<number>();
  const orders: number[] = [];
  for (const target of targets) {
    const begin = flat(target.coordinates, data.shape) * slice;
    let current = piece(data, begin, slice);
    const steps = [...target.steps()];
    for (const step of steps) {
      assert.ok(equals(piece(step.before, 0, slice), current));
      current = piece(step.after, 0, slice);
      if (step.kind === "division") continue;
      orders.push(step.order);
      const update = updates.at(step.order);
      assert.deepEqual(update?.target, target.coordinates);
      assert.deepEqual([update?.at, update?.index], [step.at, step.index]);
    }
    assert.equal(steps.filter(({ kind }) => kind === "update").length, target.count);
    assert.ok(equals(current, piece(output, begin, slice)), `target ${target.coordinates}`);
    assert.deepEqual(story.target(target.coordinates)?.count, target.count);
    for (let element = begin; element < begin + slice; element++) {
      touched.add(element);
      checkCell(story, steps, coordinatesOf(element, data.shape), element - begin);
    }
  }
  assert.deepEqual(
    orders.toSorted((a, b) => a - b),
    Array.from(updates, ({ order }) => order),
  );
  for (let element = 0; element < data.size; element++) {
    if (touched.has(element)) continue;
    assert.ok(equals(piece(data, element, 1), piece(output, element, 1)));
    const cell = story.cell(coordinatesOf(element, data.shape));
    assert.deepEqual([cell.count, [...cell.steps()]], [0, []]);
  }
  assert.deepEqual(
    [summary.count, summary.targets, summary.untouched],
    [updates.length, targets.length, data.size - touched.size],
  );
  assert.equal(summary.repeats, Array.from(targets).filter(({ count }) => count > 1).length);
  assert.ok(equals(story.after(0), data));
  assert.ok(equals(story.after(updates.length), output));
}

/** A cell goes through what its slice goes through. */
function checkCell(
  story: ScatterStory,
  steps: readonly StoryStep<Tensor>[],
  coordinates: readonly number[],
  within: number,
): void {
  const read = (one: Tensor): unknown => piece(one, within, 1).toArray();
  const cell = story.cell(coordinates);
  assert.deepEqual(
    Array.from(cell.steps(), ({ before, after }) => [[before], [after]]),
    steps.map(({ before, after }) => [read(before), read(after)]),
  );
  assert.deepEqual([cell.value], read(steps[steps.length - 1].after));
}

function checkGather(story: GatherStory, data: Tensor, output: Tensor): void {
  const read = new Map<number, number>();
  let filled = 0;
  for (let element = 0; element < output.size; element++) {
    const { source, value } = story.cell(coordinatesOf(element, output.shape));
    const got = piece(output, element, 1);
    assert.deepEqual([value], got.toArray());
    if (source === null) filled++;
    const from =
      source === null ? zeros(data.dtype, [1]) : piece(data, flat(source, data.shape), 1);
    assert.ok(equals(got, from));
    if (source === null) continue;
    const position = flat(source, data.shape);
    read.set(position, (read.get(position) ?? 0) + 1);
  }
  const { summary, targets, reads } = story;
  assert.deepEqual([summary.filled, summary.untouched], [filled, data.size - read.size]);
  const slice = product(data.shape, story.addressed);
  for (const { coordinates, count, reads } of targets) {
    assert.equal(read.get(flat(coordinates, data.shape) * slice), count);
    for (const { target } of reads()) assert.deepEqual(target, coordinates);
    assert.equal([...reads()].length, count);
  }
  assert.equal(summary.count, reads.length);
}

const seed = Number(process.env["SEED"] ?? 20261121);

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
  test(`${what}: replaying what is told gives the bits of run`, () => {
    const random = randomFrom(seed);
    const told = new Set<DType>();
    for (const dtype of DTYPE_NAMES) {
      for (let round = 0; round < 12; round++) {
        const [node, inputs] = callOf(dtype, random);
        const explanation = explain(node, inputs);
        // Versions have their own data types.
        if (isTensorError(explanation.error, "dtype")) continue;
        assert.equal(explanation.error, null);
        checkAgreement(node, inputs, explanation);
        told.add(dtype);
      }
    }
    assert.ok(told.size >= 13, `${told.size} data types`);
  });
}

interface FailingRow {
  readonly says: string;
  readonly node: NodeSpec;
  readonly inputs: unknown;
  /** The shapes that were derived, with ! for those that do not fit. */
  readonly shapes?: readonly string[];
  readonly bad?: readonly string[];
}

// prettier-ignore
const FAILING: readonly FailingRow[] = [
  {
    says: "updates of the wrong shape, and bad indices all the same",
    node: onnx("ScatterND", 18),
    inputs: [zeros("float32", [4, 4, 4]), i64([2, 1], [9, -7]), zeros("float32", [2, 3, 4])],
    shapes: ["!updates must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [4, 4] = [2, 4, 4], got [2, 3, 4]", "output is data.shape = [4, 4, 4]"],
    bad: ["indices[0,0] = 9, axis 0 [-4,3]", "indices[1,0] = -7, axis 0 [-4,3]"],
  },
  {
    says: "bad indices on each axis of tuples",
    node: onnx("ScatterND", 18),
    inputs: [zeros("float32", [2, 3]), i64([3, 2], [2, -4, 1, 3, -2, -3]), zeros("float32", [3])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[2:] = [3] ++ [] = [3], got [3]", "output is data.shape = [2, 3]"],
    bad: ["indices[0,0] = 2, axis 0 [-2,1]", "indices[0,1] = -4, axis 1 [-3,2]", "indices[1,1] = 3, axis 1 [-3,2]"],
  },
  {
    says: "negative indices where a version has none",
    node: openvino("ScatterNDUpdate", 3),
    inputs: [zeros("float32", [4]), i64([3, 1], [3, -1, 4]), zeros("float32", [3])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [3] ++ [] = [3], got [3]", "output is data.shape = [4]"],
    bad: ["indices[1,0] = -1, axis 0 [0,3]", "indices[2,0] = 4, axis 0 [0,3]"],
  },
  {
    says: "an index that no number holds",
    node: onnx("GatherElements", 13),
    inputs: [zeros("float32", [2]), tensor("int64", [2], [2n ** 62n + 1n, 0n])],
    shapes: ["output is indices.shape = [2]"],
    bad: ["indices[0] = 4611686018427387905, axis 0 [-2,1]"],
  },
  {
    says: "sequences that do not fit",
    node: onnx("TensorScatter", 24),
    inputs: [zeros("float32", [3, 4, 1]), zeros("float32", [3, 2, 1]), i64([3], [3, 2, -1])],
    shapes: [
      "update must be past_cache.shape[:1] ++ [min(update.shape[1], past_cache.shape[1])] ++ past_cache.shape[2:] = [3] ++ [2] ++ [1] = [3, 2, 1], got [3, 2, 1]",
      "write_indices must be past_cache.shape[:1] = [3], got [3]",
      "present_cache is past_cache.shape = [3, 4, 1]",
    ],
    bad: ["write_indices[0] = 3, axis 1 [0,2]", "write_indices[2] = -1, axis 1 [0,2]"],
  },
  {
    says: "a sequence that is longer than its axis",
    node: onnx("TensorScatter", 24),
    inputs: [zeros("float32", [1, 2, 1]), zeros("float32", [1, 3, 1]), i64([2], [0, 0])],
    shapes: [
      "!update must be past_cache.shape[:1] ++ [min(update.shape[1], past_cache.shape[1])] ++ past_cache.shape[2:] = [1] ++ [2] ++ [1] = [1, 2, 1], got [1, 3, 1]",
      "!write_indices must be past_cache.shape[:1] = [1], got [2]",
      "present_cache is past_cache.shape = [1, 2, 1]",
    ],
  },
  {
    says: "updates of another rank",
    node: onnx("ScatterElements", 18),
    inputs: [zeros("float32", [2, 2]), i64([1, 2], [0, 5]), zeros("float32", [2])],
    shapes: ["!updates must be indices.shape = [1, 2], got [2]", "output is data.shape = [2, 2]"],
    bad: ["indices[0,1] = 5, axis 0 [-2,1]"],
  },
  {
    says: "an axis without elements",
    node: openvino("ScatterUpdate", 3),
    inputs: [zeros("float32", [0, 2]), i64([1], [0]), zeros("float32", [1, 2]), i64([], [0])],
    shapes: ["updates must be data.shape[:0] ++ indices.shape ++ data.shape[1:] = [] ++ [1] ++ [2] = [1, 2], got [1, 2]", "output is data.shape = [0, 2]"],
    bad: ["indices[0] = 0, axis 0 [0,-1]"],
  },
  {
    says: "updates that are no tensor",
    node: onnx("ScatterND", 18),
    inputs: [zeros("float32", [2]), i64([1, 1], [3]), [1]],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [1] ++ [] = [1]", "output is data.shape = [2]"],
    bad: ["indices[0,0] = 3, axis 0 [-2,1]"],
  },
  {
    says: "updates of another data type",
    node: onnx("ScatterND", 18),
    inputs: [zeros("float32", [2]), i64([1, 1], [1]), zeros("int32", [1])],
    shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [1] ++ [] = [1], got [1]", "output is data.shape = [2]"],
  },
  { says: "indices of another data type", node: onnx("ScatterND", 18), inputs: [zeros("float32", [2]), zeros("float32", [1, 1]), zeros("float32", [1])], shapes: ["updates must be indices.shape[:-1] ++ data.shape[1:] = [1] ++ [] = [1], got [1]", "output is data.shape = [2]"] },
  { says: "tuples that are too long", node: onnx("ScatterND", 18), inputs: [zeros("float32", [2]), zeros("int64", [1, 2]), zeros("float32", [1])] },
  { says: "an axis that there is not", node: onnx("Gather", 13, { axis: 2 }), inputs: [zeros("float32", [2]), zeros("int64", [1])] },
  { says: "an axis that is missing", node: openvino("Gather", 8), inputs: [zeros("float32", [2]), i64([1], [7])] },
  { says: "an axis that is no integer", node: openvino("ScatterUpdate", 3), inputs: [zeros("float32", [2]), i64([1], [7]), zeros("float32", [1]), f32([], [0.5])] },
  { says: "an axis of several elements", node: openvino("ScatterUpdate", 3), inputs: [zeros("float32", [2]), i64([1], [7]), zeros("float32", [1]), i64([2], [0, 0])] },
  { says: "an unknown operator", node: onnx("ScatterNd", 18), inputs: [] },
  { says: "a node that is none", node: null as never, inputs: [] },
  { says: "an unknown attribute", node: onnx("ScatterND", 13, { reduction: "add" }), inputs: [zeros("float32", [2])] },
  { says: "inputs that are missing", node: onnx("ScatterND", 18), inputs: [zeros("float32", [2])] },
  { says: "indices that are missing", node: onnx("ScatterND", 18), inputs: [zeros("float32", [2]), undefined, zeros("float32", [2])] },
  { says: "data that are missing", node: onnx("ScatterND", 18), inputs: [undefined, zeros("int64", [1, 1]), zeros("float32", [2])] },
  { says: "inputs that are no list", node: onnx("ScatterND", 18), inputs: 7 },
];

for (const { says, node, inputs, shapes = [], bad = [] } of FAILING) {
  test(`a call that fails is told as far as it goes: ${says}`, () => {
    const explanation = explain(node, inputs as never);
    const { error, output, story, badIndices, badCount } = explanation;
    assert.throws(
      () => run(node, inputs as never),
      (thrown) => isTensorError(thrown) && thrown.message === error?.message,
    );
    assert.deepEqual([output, story], [null, null]);
    assert.deepEqual(
      explanation.shapes.map(({ sentence, fits }) => (fits ? sentence : `!${sentence}`)),
      shapes,
    );
    assert.deepEqual(
      badIndices.map(
        ({ input, at, got, axis, expected }) =>
          `${input}${list(at)} = ${got}, axis ${axis} ${list(expected)}`,
      ),
      bad,
    );
    assert.equal(badCount, bad.length);
  });
}

test("of bad indices a thousand are listed, and all are counted", () => {
  const node = onnx("GatherND", 13);
  const { badIndices, badCount } = explain(node, [
    zeros("float32", [2]),
    full("int64", [5000, 1], 2),
  ]);
  assert.deepEqual([badIndices.length, badCount], [1000, 5000]);
  assert.deepEqual(badIndices[999].at, [999, 0]);
});

test("the output after each update", () => {
  const inputs = [f32([2], [1, 2]), i64([3], [0, 1, 0]), f32([3], [4, 6, 10]), i64([], [0])];
  const afterAll = (attributes: object): unknown[] => {
    const { story } = explain(openvino("ScatterElementsUpdate", 12, attributes), inputs);
    assert.ok(story?.kind === "scatter");
    const { after } = story;
    return [-1, 0, 1, 2, 3, 9, NaN].map((count) => after(count).toArray());
  };
  const [begin, end] = [
    [1, 2],
    [5, 4],
  ];
  assert.deepEqual(afterAll({ reduction: "mean" }), [
    begin,
    begin,
    [5, 2],
    [5, 8],
    end,
    end,
    begin,
  ]);
  assert.deepEqual(afterAll({ reduction: "sum", use_init_val: false }), [
    begin,
    begin,
    [4, 2],
    [4, 6],
    [14, 6],
    [14, 6],
    begin,
  ]);
});

test("a summary tells the targets that are hit most, and the rows", () => {
  const rows = [7, 1, 1, 2, 9, 9, 9, 5, -1];
  const data = zeros("float32", [12, 2]);
  const inputs = [data, i64([9, 1], rows), zeros("float32", [9, 2])];
  const { story } = explain(onnx("ScatterND", 18), inputs);
  assert.deepEqual(story?.summary, {
    count: 9,
    targets: 6,
    repeats: 2,
    most: [
      { coordinates: [9], count: 3 },
      { coordinates: [1], count: 2 },
    ],
    rows: [
      [1, 2],
      [5, 5],
      [7, 7],
      [9, 9],
      [11, 11],
    ],
    rowRanges: 5,
    untouched: 12,
    filled: 0,
  });
  const whole = explain(onnx("ScatterND", 18), [
    data,
    zeros("int64", [1, 0]),
    zeros("float32", [1, 12, 2]),
  ]);
  assert.deepEqual(whole.story?.summary.rows, [[0, 11]]);
  const nothing = explain(onnx("ScatterND", 18), [
    data,
    zeros("int64", [0, 1]),
    zeros("float32", [0, 2]),
  ]);
  assert.deepEqual(nothing.story?.summary.rows, []);
});

test("empty slices have no story", () => {
  const inputs = [zeros("float32", [2, 0]), i64([2, 1], [0, 0]), zeros("float32", [2, 0])];
  const { story } = explain(onnx("ScatterND", 18), inputs);
  assert.deepEqual([story?.summary.count, story?.targets.length], [0, 0]);
});

test("what is outside is refused or null", () => {
  const inputs = [zeros("float32", [2, 2]), i64([1, 2], [0, 1]), zeros("float32", [1])];
  const { story } = explain(onnx("ScatterND", 18), inputs);
  assert.ok(story?.kind === "scatter");
  for (const cell of [[0, 2], [-1, 0], [0], [0, 0.5], 7 as never]) {
    assert.throws(
      () => story.cell(cell),
      (error) => isTensorError(error, "index-out-of-range"),
    );
  }
  for (const target of [[0, 0], [0, 2], [1]]) assert.equal(story.target(target), null);
  assert.deepEqual(story.target([0, 1])?.count, 1);
  assert.deepEqual([story.updates.at(1), story.updates.at(-1)?.order], [undefined, 0]);
});

test("a million updates are told without an object for each", () => {
  const count = 1_000_000;
  const indices = new BigInt64Array(count);
  for (let p = 0; p < count; p++) indices[p] = BigInt((p * 7919) % 100_003);
  const inputs = [
    zeros("float32", [200_000]),
    tensor("int64", [count, 1], indices),
    full("float32", [count], 1),
  ];
  const heap = (): number => (WITHOUT_NODE === false ? process.memoryUsage().heapUsed : 0);
  const before = heap();
  const { story } = explain(onnx("ScatterND", 18, { reduction: "add" }), inputs);
  assert.ok(heap() - before < 16_000_000, "typed arrays lie outside the heap, objects in it");
  assert.ok(story?.kind === "scatter");
  const { summary } = story;
  assert.deepEqual(
    [summary.count, summary.targets, summary.repeats, summary.untouched],
    [count, 100_003, 100_003, 99_997],
  );
  // 7919 and 100003 are prime: 10^6 = 9 * 100003 + 99973, so that but 30 targets are hit a tenth time.
  assert.deepEqual([summary.rows, summary.most[0].count], [[[0, 100_002]], 10]);
  const cell = story.cell([7919]);
  assert.deepEqual([cell.count, cell.value], [10, 10]);
  const orders = Array.from(cell.steps(), (step) => step.kind === "update" && step.order);
  assert.deepEqual(
    orders,
    Array.from({ length: 10 }, (_, i) => 1 + i * 100_003),
  );
});
