import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { vjp } from "../../src/core/functions.ts";
import { DTYPES, dtypesWhere, REDUCTIONS } from "../../src/core/tensor/dtype.ts";
import { copy as copyStorage } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount } from "../support/cases.ts";
import { ENGINES } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import {
  arbitraryShape,
  differentiable,
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  openvinoCases,
  rulesOf,
  scatterElementsCase,
  scatterNDCase,
  tensorScatterCase,
  type Case,
  type Shapes,
} from "../support/random-calls.ts";
import { randomTensor, seedOf } from "../support/random.ts";
import { gradients } from "../support/reference-gradients.ts";

let seed = seedOf("gradients");
const TIES = ["even", "first", "last", "all"] as const;
const DIFFERENTIABLE = dtypesWhere(({ family }) => ["float", "half", "complex"].includes(family));
let cases = 0;

const check = (one: Case): void => withLimits(cases, () => checkAll(one));

/** One case on every engine: the bits of the definition, new, in `out`, one gradient alone, and inputs untouched. */
function checkAll(one: Case): void {
  const { expected, random } = one;
  const { node, inputs } = differentiable(one);
  const gradient = randomTensor(expected.dtype, expected.shape, random);
  const ties = TIES[random(4)];
  const wanted = gradients(one, gradient, ties);
  while (wanted.length < inputs.length) wanted.push(null);
  const before = [...inputs, gradient].map(cloned);
  for (const [name, engine] of Object.entries(ENGINES)) {
    assertEqual(vjp(node, inputs, gradient, { engine, ties }), wanted, name);
    for (const [position, input] of [...inputs, gradient].entries()) {
      assert.ok(equals(input, before[position]), `input ${position} was changed`);
    }
    const argnums = wanted.flatMap((expected, position) => (expected === null ? [] : [position]));
    const alone = argnums[random(argnums.length)];
    assertEqual(
      vjp(node, inputs, gradient, { engine, ties, argnums: alone }),
      wanted.map((expected, position) => (position === alone ? expected : null)),
      `${name}, ${alone} alone`,
    );
    const resident = [...inputs, gradient].map((input) => {
      const copy = engine.alloc(input.dtype, input.shape);
      copyStorage(input.data, copy.data);
      return copy;
    });
    const isInPlace = random(2) === 0;
    const out = wanted.map((expected, position) =>
      expected === null
        ? null
        : position === 0 && isInPlace && one.operator.kind === "scatter"
          ? resident[inputs.length]
          : filled(engine.alloc(expected.dtype, expected.shape)),
    );
    const results = vjp(node, resident.slice(0, -1), resident[inputs.length], {
      engine,
      ties,
      out,
    });
    assertEqual(results, wanted, `${name}, resident`);
    for (const [position, result] of results.entries()) assert.equal(result, out[position]);
    for (const tensor of [...resident, ...out]) tensor?.dispose();
    cases++;
  }
}

function filled(tensor: Tensor): Tensor {
  for (let at = 0; at < tensor.data.length; at++) tensor.data[at] = 7 as never;
  return tensor;
}

const cloned = ({ dtype, shape, size, data }: Tensor): Tensor =>
  new Tensor(dtype, shape, size, data.slice());

function assertEqual(
  results: readonly (Tensor | null)[],
  expected: readonly (Tensor | null)[],
  who: string,
): void {
  assert.equal(results.length, expected.length, who);
  for (const [position, one] of expected.entries()) {
    const { [position]: result } = results;
    if (one === null || result === null) {
      assert.equal(result, one, `${who}: gradient ${position}`);
      continue;
    }
    assert.deepEqual(result.shape, one.shape);
    if (!equals(result, one)) assert.fail(`${who}: gradient ${position}: ${result} is not ${one}`);
  }
}

const assertProperty = (numRuns: number, property: (shapes: Shapes) => void) =>
  fc.assert(fc.property(arbitraryShape, property), {
    seed: seed++,
    numRuns: caseCount(numRuns),
    includeErrorInReport: true,
  });

for (const dtype of DIFFERENTIABLE) {
  test(`gradients of ${dtype} equal the definition on every engine`, () => {
    for (const indexType of ["int32", "int64"] as const) {
      for (const reduction of REDUCTIONS) {
        assertProperty(15, (shapes) => check(scatterNDCase(dtype, reduction, indexType, shapes)));
        assertProperty(15, (shapes) =>
          check(scatterElementsCase(dtype, reduction, indexType, shapes)),
        );
        for (const stays of rulesOf(dtype, reduction)) {
          if (stays === undefined) continue;
          assertProperty(15, (shapes) => check(openvinoCases[stays](dtype, reduction, shapes)));
        }
      }
      assertProperty(20, (shapes) => check(gatherNDCase(dtype, indexType, shapes)));
      assertProperty(20, (shapes) => check(gatherElementsCase(dtype, indexType, shapes)));
      assertProperty(20, (shapes) => check(gatherCase(dtype, indexType, shapes)));
    }
    assertProperty(20, (shapes) => check(tensorScatterCase(dtype, shapes)));
  });
}

after(() => {
  assert.equal(DIFFERENTIABLE.length, 6);
  assert.ok(Object.keys(DTYPES).length > DIFFERENTIABLE.length);
  const least = caseCount(1000) * Object.keys(ENGINES).length;
  assert.ok(cases >= least, `only ${cases} cases ran`);
});
