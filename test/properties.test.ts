import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { DTYPE_NAMES, reductionsOf, type DType, type Reduction } from "../src/tensor/dtype.ts";
import * as reference from "./support/reference.ts";
import type { Engine } from "../src/create-engine.ts";
import { EXECUTOR, runPlain } from "../src/call/run.ts";
import { infer } from "../src/call/infer.ts";
import type { NodeSpec } from "../src/call/call.ts";
import { gatherElements } from "../src/operators/gather-elements.ts";
import { gatherND } from "../src/operators/gather-nd.ts";
import { gather } from "../src/operators/gather.ts";
import { roleOf, type Operator, type TensorType } from "../src/operators/operator.ts";
import { scatterElements } from "../src/operators/scatter-elements.ts";
import { scatterND } from "../src/operators/scatter-nd.ts";
import { tensorScatter } from "../src/operators/tensor-scatter.ts";
import { product } from "../src/tensor/shape.ts";
import { copy as copyStorage } from "../src/tensor/storage.ts";
import { equals, tensor, Tensor } from "../src/tensor/tensor.ts";
import { ENGINES } from "./support/engines.ts";
import { randomFrom, randomIndices, randomTensor, type Random } from "./support/random.ts";

// The seed is fixed, so that a run is the same everywhere; SEED=n tries others.
const seed = Number(process.env["SEED"] ?? 20261120);
const INDEX_TYPES = ["int32", "int64"] as const;
let cases = 0;

interface Case {
  readonly operator: Operator;
  readonly inputs: readonly Tensor[];
  readonly attributes: Record<string, number | string | boolean>;
  readonly expected: Tensor;
  readonly random: Random;
}

/** Shapes of rank 1 to 6, small, with a zero now and then; and a seed for the values. */
const arbitraryShape = fc.record({
  dims: fc
    .array(fc.constantFrom(0, 1, 1, 2, 2, 3, 3, 4, 5, 18), { minLength: 1, maxLength: 6 })
    .map(shrinkTo(400)),
  lead: fc.array(fc.constantFrom(0, 1, 2, 3, 4), { minLength: 0, maxLength: 3 }).map(shrinkTo(12)),
  pick: fc.nat(1000),
  seed: fc.nat(),
});

/** Cuts dimensions to 2 from the front until the size is at most `most`. */
function shrinkTo(most: number): (dims: number[]) => number[] {
  return (dims) => {
    const cut = dims.slice();
    for (let d = 0; product(cut) > most; d++) cut[d] = Math.min(cut[d], 2);
    return cut;
  };
}

type Shapes = typeof arbitraryShape extends fc.Arbitrary<infer T> ? T : never;

interface Policies {
  readonly bounds?: "clip" | "drop" | "fill";
  readonly includeSelf?: boolean;
}

/** Now and then a policy, and then some indices outside their axes where it takes them. */
function policiesOf(kind: Operator["kind"], dims: readonly number[], random: Random): Policies {
  const other = kind === "scatter" ? "drop" : "fill";
  // Nothing is near where an axis has no elements.
  const bounds = ([undefined, undefined, other, dims.includes(0) ? other : "clip"] as const)[
    random(4)
  ];
  return {
    ...(bounds && { bounds }),
    ...(kind === "scatter" && random(3) === 0 && { includeSelf: false }),
  };
}

/** The same indices, some of them moved out of their axes where that is no error. */
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

function scatterNDCase(
  dtype: DType,
  reduction: Reduction,
  indexType: "int32" | "int64",
  { dims, lead, pick, seed }: Shapes,
): Case {
  const random = randomFrom(seed);
  const k = pick % (dims.length + 1);
  // Where an axis has no elements there is no legal index into it.
  const tuples = dims.slice(0, k).includes(0) ? [0, ...lead] : lead;
  const policies = policiesOf("scatter", dims, random);
  const inside = randomIndices(indexType, [...tuples, k], (p) => dims[p % k], random);
  const indices = moved(inside, policies, random);
  const data = randomTensor(dtype, dims, random);
  const updates = randomTensor(dtype, [...tuples, ...dims.slice(k)], random);
  const expected = reference.scatterND(data, indices, updates, reduction, policies);
  return {
    operator: scatterND,
    inputs: [data, indices, updates],
    attributes: { reduction, ...policies },
    expected,
    random,
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

function scatterElementsCase(
  dtype: DType,
  reduction: Reduction,
  indexType: "int32" | "int64",
  { dims, pick, seed }: Shapes,
): Case {
  const random = randomFrom(seed);
  const { axis, positive, indices: inside } = elementsIndices(indexType, dims, pick, random);
  const policies = policiesOf("scatter", dims, random);
  const indices = moved(inside, policies, random);
  const data = randomTensor(dtype, dims, random);
  const updates = randomTensor(dtype, indices.shape, random);
  const expected = reference.scatterElements(data, indices, updates, positive, reduction, policies);
  return {
    operator: scatterElements,
    inputs: [data, indices, updates],
    attributes: { axis, reduction, ...policies },
    expected,
    random,
  };
}

function gatherNDCase(
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
  };
}

function gatherElementsCase(
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
  };
}

function gatherCase(
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
      // Which counts from the back where it is negative, and so never says none.
      batchDims: random(2) === 0 || own.length === 0 ? batchDims : batchDims - shape.length,
      ...policies,
    },
    expected,
    random,
  };
}

function tensorScatterCase(dtype: DType, { dims, pick, seed }: Shapes): Case {
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

/** One case on every engine: the same bits, and inputs untouched. */
function check(one: Case): void {
  const mode = one.random(3);
  for (const [name, engine] of Object.entries(ENGINES)) {
    checkOnHeap(name, engine, one, mode);
    checkResident(name, engine, one);
    cases++;
  }
  checkInference(one);
}

/** With the result new, in a given `out` or in place. */
function checkOnHeap(name: string, engine: Engine, one: Case, mode: number): void {
  const { operator, inputs, attributes, expected, random } = one;
  const isInPlace = mode === 1 && operator.kind === "scatter";
  const own = isInPlace ? [cloned(inputs[0]), ...inputs.slice(1)] : inputs;
  const given = (): Tensor =>
    isInPlace ? own[0] : randomTensor(expected.dtype, expected.shape, random);
  const out = mode === 0 ? undefined : given();
  const before = own.map(cloned);
  const result = runPlain(engine[EXECUTOR], operator, own, { ...attributes, out });
  assertEqual(result, expected, name);
  if (out !== undefined) assert.equal(result, out);
  for (const [position, input] of own.entries()) {
    if (input !== out) assert.ok(equals(input, before[position]), `input ${position} was changed`);
  }
}

/** With tensors that live in the engine, as far as it has memory of its own. */
function checkResident(name: string, engine: Engine, one: Case): void {
  const { operator, inputs, attributes, expected } = one;
  const resident = inputs.map((input) => {
    const copy = engine.alloc(input.dtype, input.shape);
    copyStorage(input.data, copy.data);
    return copy;
  });
  const out = engine.alloc(expected.dtype, expected.shape);
  const result = runPlain(engine[EXECUTOR], operator, resident, { ...attributes, out });
  assertEqual(result, expected, `${name}, resident`);
  for (const tensor of [...resident, out]) tensor.dispose();
}

const cloned = ({ dtype, shape, size, data }: Tensor): Tensor =>
  new Tensor(dtype, shape, size, data.slice());

/** Prints tensors only where they differ: that costs more than to compare them. */
function assertEqual(result: Tensor, expected: Tensor, who: string): void {
  assert.deepEqual(result.shape, expected.shape);
  if (!equals(result, expected)) assert.fail(`${who}: ${result} is not ${expected}`);
}

/** `infer` gives the shape that came out; and of shapes that are known in part nothing else, and no error. */
function checkInference({ random, ...one }: Case): void {
  const { shape } = one.expected;
  const { node, types } = nodeOf(one);
  assert.deepEqual(infer(node, types), [{ dtype: "float32", shape: [...shape] }]);
  const hidden = types.map((type): TensorType => ({
    dtype: type.dtype,
    shape:
      random(5) === 0 ? null : (type.shape?.map((dim) => [dim, dim, "N", null][random(4)]) ?? null),
  }));
  const [partial] = infer(node, hidden);
  if (partial.shape === null) return;
  assert.equal(partial.shape.length, shape.length);
  for (const [d, dim] of partial.shape.entries()) {
    assert.ok(dim === null || dim === "N" || dim === shape[d], `${dim} is not ${shape[d]}`);
  }
}

/** A case as a node of the newest version, of float32, and what is known of its inputs. */
function nodeOf({ operator, inputs, attributes }: Omit<Case, "random">): {
  node: NodeSpec;
  types: readonly TensorType[];
} {
  const { axis, batchDims, mode } = attributes;
  const shapes = inputs.map(({ shape }) => shape);
  if (operator === gather) {
    // Of the two domains openvino's has batches, and its axis is an input.
    const types = [
      { dtype: "float32", shape: shapes[0] },
      { dtype: "int64", shape: shapes[1] },
      tensor("int64", [], Number(axis)),
    ] as const;
    const batches = { batch_dims: batchDims };
    return { node: { domain: "openvino", op: "Gather", opset: 8, attributes: batches }, types };
  }
  const [version] = operator.versions.slice(-1);
  const types = shapes.map((shape, position): TensorType => ({
    dtype: roleOf(version.inputs[position]) === "indices" ? "int64" : "float32",
    shape,
  }));
  const known = { axis, mode, batch_dims: batchDims };
  return { node: { op: version.name, opset: version.sinceVersion, attributes: known }, types };
}

const assertProperty = (numRuns: number, property: (shapes: Shapes) => void) =>
  fc.assert(fc.property(arbitraryShape, property), { seed, numRuns, includeErrorInReport: true });

for (const dtype of DTYPE_NAMES) {
  test(`every engine equals the reference on ${dtype}`, () => {
    for (const indexType of INDEX_TYPES) {
      for (const reduction of reductionsOf(dtype)) {
        assertProperty(14, (shapes) => check(scatterNDCase(dtype, reduction, indexType, shapes)));
        assertProperty(14, (shapes) =>
          check(scatterElementsCase(dtype, reduction, indexType, shapes)),
        );
      }
      assertProperty(20, (shapes) => check(gatherNDCase(dtype, indexType, shapes)));
      assertProperty(20, (shapes) => check(gatherElementsCase(dtype, indexType, shapes)));
      assertProperty(20, (shapes) => check(gatherCase(dtype, indexType, shapes)));
    }
    assertProperty(20, (shapes) => check(tensorScatterCase(dtype, shapes)));
  });
}

after(() => assert.ok(cases >= 1000 * Object.keys(ENGINES).length, `only ${cases} cases ran`));
