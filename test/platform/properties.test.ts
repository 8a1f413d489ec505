import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { DTYPE_NAMES, reductionsOf } from "../../src/core/tensor/dtype.ts";
import type { Engine } from "../../src/core/create-engine.ts";
import { EXECUTOR, runPlain } from "../../src/core/call/run.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { coordinatesOf } from "../../src/core/tensor/shape.ts";
import { infer } from "../../src/core/call/check.ts";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { gather } from "../../src/core/operators/slices.ts";
import { roleOf, type TensorType } from "../../src/core/operators/operator.ts";
import { copy as copyStorage } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount } from "../support/cases.ts";
import { ENGINES } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import {
  arbitraryShape,
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  rulesOf,
  scatterElementsCase,
  scatterNDCase,
  tensorScatterCase,
  type Case,
  type Shapes,
} from "../support/random-calls.ts";
import { randomTensor, seedOf } from "../support/random.ts";

let seed = seedOf("properties");
const INDEX_TYPES = ["int32", "int64"] as const;
let cases = 0;

/** One case on every engine, with other limits each time: the same bits, and inputs untouched. */
const check = (one: Case): void => withLimits(cases, () => checkAll(one));

function checkAll(one: Case): void {
  const mode = one.random(3);
  for (const [name, engine] of Object.entries(ENGINES)) {
    checkOnHeap(name, engine, one, mode);
    checkResident(name, engine, one);
    checkRefusal(name, engine, one);
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
  // The second result has the memory of the first, which holds a pattern.
  if (mode === 0) runPlain(engine[EXECUTOR], operator, own, attributes).dispose();
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

/** With one index that is just beyond its axis, or before it, or in it but for its upper half. */
function checkRefusal(name: string, engine: Engine, one: Case): void {
  const { operator, inputs, attributes, dimOf, random } = one;
  const [data, indices, updates] = inputs;
  if (dimOf === undefined || attributes["bounds"] !== undefined || indices.size === 0) return;
  const position = random(indices.size);
  const dim = dimOf(position);
  const bad = cloned(indices);
  const { data: values } = bad;
  if (values instanceof BigInt64Array) {
    values[position] = [BigInt(dim), BigInt(-dim - 1), 2n ** 32n, -(2n ** 32n)][random(4)];
  } else values[position] = [dim, -dim - 1][random(2)];
  const all = updates === undefined ? [data, bad] : [data, bad, updates];
  assert.throws(
    () => runPlain(engine[EXECUTOR], operator, all, attributes),
    (error) => {
      assert.ok(isTensorError(error, "index-out-of-range"), `${name}: ${String(error)}`);
      assert.deepEqual(error.at, coordinatesOf(position, indices.shape), name);
      return true;
    },
  );
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
  fc.assert(fc.property(arbitraryShape, property), {
    seed: seed++,
    numRuns: caseCount(numRuns),
    includeErrorInReport: true,
  });

for (const dtype of DTYPE_NAMES) {
  test(`every engine equals the reference on ${dtype}`, () => {
    for (const indexType of INDEX_TYPES) {
      for (const reduction of reductionsOf(dtype)) {
        for (const stays of rulesOf(dtype, reduction)) {
          assertProperty(10, (shapes) =>
            check(scatterNDCase(dtype, reduction, indexType, shapes, stays)),
          );
          assertProperty(10, (shapes) =>
            check(scatterElementsCase(dtype, reduction, indexType, shapes, stays)),
          );
        }
      }
      assertProperty(20, (shapes) => check(gatherNDCase(dtype, indexType, shapes)));
      assertProperty(20, (shapes) => check(gatherElementsCase(dtype, indexType, shapes)));
      assertProperty(20, (shapes) => check(gatherCase(dtype, indexType, shapes)));
    }
    assertProperty(20, (shapes) => check(tensorScatterCase(dtype, shapes)));
  });
}

after(() =>
  assert.ok(cases >= caseCount(1000) * Object.keys(ENGINES).length, `only ${cases} cases ran`),
);
