/** Gradients of asynchronous calls: the bits of synchronous ones, the errors, and what a pending call allows. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { type FunctionSpec } from "../../src/core/call/vjp.ts";
import { vjp } from "../../src/core/functions.ts";
import { createEngine, type Engine } from "../../src/core/create-engine.ts";
import { REDUCTIONS, type DType } from "../../src/core/tensor/dtype.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount } from "../support/cases.ts";
import { ENGINES } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import {
  arbitraryShape,
  gatherCase,
  scatterElementsCase,
  scatterNDCase,
  specOf,
  tensorScatterCase,
  type Case,
  type Shapes,
} from "../support/random-calls.ts";
import { randomFrom, randomIndices, randomTensor, seedOf } from "../support/random.ts";
import { gradients } from "../support/reference-gradients.ts";
import { assertRejected, type Facts } from "../support/refusal.ts";

const seed = seedOf("vjp-async");
const TIES = ["even", "first", "last", "all"] as const;
let cases = 0;

const resident = (engine: Engine, { dtype, shape, data }: Tensor): Tensor => {
  const made: Tensor = engine.alloc(dtype, shape);
  copy(data, made.data);
  return made;
};

/** The gradients of a case in memory of each engine, and on the heap, without waiting between the two calls. */
async function check(one: Case): Promise<void> {
  const { inputs, expected, random } = one;
  const node = specOf(one) as unknown as FunctionSpec;
  const gradient = randomTensor(expected.dtype, expected.shape, random);
  const ties = TIES[random(4)];
  const wanted = gradients(one, gradient, ties);
  for (const [name, engine] of Object.entries(ENGINES)) {
    const there = [...inputs, gradient].map((input) => resident(engine, input));
    const [given] = there.slice(-1);
    const isInPlace = one.operator.kind === "scatter" && random(2) === 0;
    const promises = [
      engine.async.vjp(node, inputs, gradient, { ties }),
      engine.async.vjp(node, there.slice(0, -1), given, {
        ties,
        ...(isInPlace && { out: [given] }),
      }),
    ];
    // Their memory is in use until the calls have ended.
    if (!isInPlace) for (const tensor of there) tensor.dispose();
    // oxlint-disable-next-line no-await-in-loop -- one engine after the other
    for (const results of await Promise.all(promises)) {
      assert.equal(results.length, wanted.length);
      for (const [position, result] of results.entries()) {
        const { [position]: right } = wanted;
        const isSame = result === null || right === null ? result === right : equals(result, right);
        assert.ok(isSame, `${name}: gradient ${position}: ${result} is not ${right}`);
      }
    }
    cases++;
  }
}

const assertProperty = (numRuns: number, make: (shapes: Shapes) => Case) =>
  fc.assert(
    fc.asyncProperty(arbitraryShape, (shapes) => withLimits(cases, () => check(make(shapes)))),
    { seed, numRuns: caseCount(numRuns), includeErrorInReport: true },
  );

for (const dtype of ["float32", "bfloat16", "complex128"] as const satisfies readonly DType[]) {
  test(`gradients of asynchronous calls equal the definition: ${dtype}`, async () => {
    for (const reduction of REDUCTIONS) {
      await assertProperty(8, (shapes) => scatterNDCase(dtype, reduction, "int64", shapes));
      await assertProperty(8, (shapes) => scatterElementsCase(dtype, reduction, "int32", shapes));
    }
    await assertProperty(15, (shapes) => gatherCase(dtype, "int64", shapes));
    await assertProperty(10, (shapes) => tensorScatterCase(dtype, shapes));
  });
}

const SCATTER = { function: "scatterND", options: { reduction: "add" } } as const;
const engine = createEngine({ threads: 2 });
const random = randomFrom(4);
const DATA = randomTensor("float32", [3000, 64], random);
const INDICES = randomIndices("int64", [9000, 1], () => 3000, random);
const UPDATES = randomTensor("float32", [9000, 64], random);
const GRADIENT = randomTensor("float32", [3000, 64], random);
after(() => engine.dispose());

test("gradients of each reduction on tensors of the engine equal those of the plain function", async () => {
  const inputs = [DATA, INDICES, UPDATES].map((one) => resident(engine, one));
  const gradient = resident(engine, GRADIENT);
  for (const reduction of REDUCTIONS) {
    const node = { function: "scatterND", options: { reduction } } as const;
    const expected = vjp(node, [DATA, INDICES, UPDATES], GRADIENT);
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    const found = await engine.async.vjp(node, inputs, gradient);
    for (const at of [0, 2]) assert.ok(equals(found[at] as Tensor, expected[at] as Tensor));
  }
});

test("a gradient takes its turn among the calls that make its inputs and use its result", async () => {
  const data = resident(engine, zeros("float32", [3000, 64]));
  const where = resident(engine, INDICES);
  const add = { reduction: "add", out: data } as const;
  const gradient = engine.alloc("float32", [3000, 64]);
  void engine.async.scatterND(data, where, UPDATES, add);
  // The sums are the gradient of a gather's result.
  const rows = randomIndices("int32", [3000], () => 3000, randomFrom(5));
  void engine.async.vjp({ function: "gather" }, [GRADIENT, rows], data, { out: [gradient] });
  void engine.async.scatterND(data, where, UPDATES, add);
  const [last] = await engine.async.vjp(SCATTER, [data, INDICES, UPDATES], gradient);
  const js = createEngine({ kind: "js" });
  const sums = js.scatterND(zeros("float32", [3000, 64]), INDICES, UPDATES, { reduction: "add" });
  const [expected] = vjp({ function: "gather" }, [GRADIENT, rows], sums);
  assert.ok(equals(last as Tensor, expected as Tensor));
  assert.ok(equals(data, js.scatterND(sums, INDICES, UPDATES, { reduction: "add" })));
});

test("what is refused, and when", async () => {
  const small = [zeros("float32", [4]), [[1]], [5]];
  const g = full("float32", [4], 1);
  const refuse = (
    code: "dtype" | "attribute" | "index-out-of-range",
    facts: Facts,
    ...args: unknown[]
  ) => assertRejected(code, facts, () => Reflect.apply(engine.async.vjp, engine.async, args));
  await refuse("dtype", { input: "outputGradient" }, SCATTER, small, zeros("float64", [4]));
  await refuse("attribute", {}, SCATTER, small, g, { engine });
  const out = full("float32", [4], 7);
  const bad = [zeros("float32", [4]), [[9]], [5]];
  await refuse(
    "index-out-of-range",
    { input: "indices", at: [0, 0], axis: 0, got: 9, expected: [-4, 3] },
    SCATTER,
    bad,
    g,
    { out: [out] },
  );
  assert.deepEqual([...out.data], [7, 7, 7, 7]);
  // The engine serves the next call.
  const [good] = await engine.async.vjp(SCATTER, small, g);
  assert.deepEqual([...(good as Tensor).data], [1, 1, 1, 1]);
});

test("memory that is transferred while a gradient waits", async () => {
  for (const input of ["updates", "outputGradient"]) {
    const inputs = [zeros("float32", [4]), tensor("int64", [1, 1], [1]), full("float32", [1], 2)];
    const gradient = full("float32", [4], 1);
    const before = engine.async.scatterND(DATA, INDICES, UPDATES, { reduction: "add" });
    const pending = engine.async.vjp(SCATTER, inputs, gradient);
    const { data } = input === "updates" ? inputs[2] : gradient;
    const buffer = (data as Float32Array).buffer as ArrayBuffer;
    structuredClone(buffer, { transfer: [buffer] });
    if (engine.async.threads === 1) {
      // The call before may end at once, so this one may have begun.
      await Promise.allSettled([before, pending]);
      continue;
    }
    await assertRejected("disposed", { input }, () => pending);
    await before;
  }
});

after(() => {
  const least = caseCount(300) * Object.keys(ENGINES).length;
  assert.ok(cases >= least, `only ${cases} cases ran`);
});
