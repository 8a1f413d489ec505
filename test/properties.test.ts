import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { DTYPE_NAMES, reductionsOf, type DType, type Reduction } from "../src/dtype.ts";
import * as reference from "../src/kernels/reference.ts";
import type { Engine } from "../src/create-engine.ts";
import { EXECUTOR, infer, runPlain } from "../src/run.ts";
import { gatherElements } from "../src/operators/gather-elements.ts";
import { gatherND } from "../src/operators/gather-nd.ts";
import type { Operator, TensorType } from "../src/operators/operator.ts";
import { scatterElements } from "../src/operators/scatter-elements.ts";
import { scatterND } from "../src/operators/scatter-nd.ts";
import { product } from "../src/shape.ts";
import { copy as copyStorage } from "../src/storage.ts";
import { equals, Tensor } from "../src/tensor.ts";
import { ENGINES } from "./support/engines.ts";
import { randomFrom, randomIndices, randomTensor, type Random } from "./support/random.ts";

// The seed is fixed, so that a run is the same everywhere; SEED=n tries others.
const seed = Number(process.env["SEED"] ?? 20261120);
const INDEX_TYPES = ["int32", "int64"] as const;
let cases = 0;

interface Case {
  readonly operator: Operator;
  readonly inputs: readonly Tensor[];
  readonly attributes: Record<string, number | string>;
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
  const indices = randomIndices(indexType, [...tuples, k], (p) => dims[p % k], random);
  const data = randomTensor(dtype, dims, random);
  const updates = randomTensor(dtype, [...tuples, ...dims.slice(k)], random);
  const expected = reference.scatterND(data, indices, updates, reduction);
  return {
    operator: scatterND,
    inputs: [data, indices, updates],
    attributes: { reduction },
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
  const { axis, positive, indices } = elementsIndices(indexType, dims, pick, random);
  const data = randomTensor(dtype, dims, random);
  const updates = randomTensor(dtype, indices.shape, random);
  const expected = reference.scatterElements(data, indices, updates, positive, reduction);
  return {
    operator: scatterElements,
    inputs: [data, indices, updates],
    attributes: { axis, reduction },
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
  const indices = randomIndices(indexType, [...tuples, k], (p) => addressed[p % k], random);
  const data = randomTensor(dtype, dims, random);
  const expected = reference.gatherND(data, indices, batchDims);
  return {
    operator: gatherND,
    inputs: [data, indices],
    attributes: { batchDims },
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
  const { axis, positive, indices } = elementsIndices(indexType, dims, pick, random);
  const data = randomTensor(dtype, dims, random);
  const expected = reference.gatherElements(data, indices, positive);
  return {
    operator: gatherElements,
    inputs: [data, indices],
    attributes: { axis },
    expected,
    random,
  };
}

/** One case on one engine, with the result new, in a given `out` or in place: the same bits, and inputs untouched. */
function check({ operator, inputs, attributes, expected, random }: Case, engine: Engine): void {
  const before = inputs.map(
    (input) => new Tensor(input.dtype, input.shape, input.size, input.data.slice()),
  );
  const [data] = inputs;
  const mode = random(3);
  const out =
    mode === 0
      ? undefined
      : mode === 1 && operator.kind === "scatter"
        ? data
        : randomTensor(expected.dtype, expected.shape, random);
  const result = runPlain(engine[EXECUTOR], operator, inputs, { ...attributes, out });
  assert.deepEqual(result.shape, expected.shape);
  assert.ok(equals(result, expected), `${result} is not ${expected}`);
  if (out !== undefined) assert.equal(result, out);
  for (const [position, input] of inputs.entries()) {
    if (input !== out) assert.ok(equals(input, before[position]), `input ${position} was changed`);
  }
  checkResident(engine, { operator, inputs: before, attributes, expected, random });
  checkInference(operator, inputs, snakeCase(attributes), expected, random);
  cases++;
}

/** The same with tensors that live in the engine, as far as it has memory of its own. */
function checkResident(engine: Engine, { operator, inputs, attributes, expected }: Case): void {
  const resident = inputs.map((input) => {
    const copy = engine.alloc(input.dtype, input.shape);
    copyStorage(input.data, copy.data);
    return copy;
  });
  const out = engine.alloc(expected.dtype, expected.shape);
  const result = runPlain(engine[EXECUTOR], operator, resident, { ...attributes, out });
  assert.ok(equals(result, expected), `resident: ${result} is not ${expected}`);
  for (const one of [...resident, out]) one.dispose();
}

/** `infer` gives the shape that came out; and of shapes that are known in part nothing else, and no error. */
function checkInference(
  { versions }: Operator,
  inputs: readonly Tensor[],
  attributes: Record<string, number | string>,
  { dtype, shape }: Tensor,
  random: Random,
): void {
  const node = { op: versions[0].name, opset: 18, attributes };
  const types = inputs.map((input, position): TensorType => ({
    dtype: position === 1 ? "int64" : dtype,
    shape: input.shape,
  }));
  assert.deepEqual(infer(node, types), [{ dtype, shape: [...shape] }]);
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

const snakeCase = ({ batchDims, reduction, ...attributes }: Record<string, number | string>) => ({
  ...attributes,
  ...(batchDims === undefined ? {} : { batch_dims: batchDims }),
  ...(reduction === undefined || reduction === "sub" ? {} : { reduction }),
});

const assertProperty = (numRuns: number, property: (shapes: Shapes) => void) =>
  fc.assert(fc.property(arbitraryShape, property), { seed, numRuns, includeErrorInReport: true });

for (const [name, engine] of Object.entries(ENGINES)) {
  for (const dtype of DTYPE_NAMES) {
    test(`${name} equals the reference on ${dtype}`, () => {
      for (const indexType of INDEX_TYPES) {
        for (const reduction of reductionsOf(dtype)) {
          assertProperty(14, (shapes) =>
            check(scatterNDCase(dtype, reduction, indexType, shapes), engine),
          );
          assertProperty(14, (shapes) =>
            check(scatterElementsCase(dtype, reduction, indexType, shapes), engine),
          );
        }
        assertProperty(20, (shapes) => check(gatherNDCase(dtype, indexType, shapes), engine));
        assertProperty(20, (shapes) => check(gatherElementsCase(dtype, indexType, shapes), engine));
      }
    });
  }
}

after(() => assert.ok(cases >= 5000, `only ${cases} cases ran`));
