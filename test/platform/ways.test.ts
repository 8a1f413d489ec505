/** Every pattern of indices, in every kind of Plan, every way a call can be made, on one thread and on several. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Path } from "../../src/core/engines/wasm/engine.ts";
import { allocate, type DType, type Reduction } from "../../src/core/tensor/dtype.ts";
import { coordinatesOf, product } from "../../src/core/tensor/shape.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { MANY_THREADS, TINY, tracedEngine, type TracedEngine } from "../support/engines.ts";
import { LIMITS_SEED, withLimits } from "../support/limits.ts";
import { PATTERNS, type Pattern } from "../support/patterns.ts";
import { WITHOUT_THREADS } from "../support/platform.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import * as reference from "../support/reference.ts";
import { canGo, go, WAYS, type Case } from "../support/ways.ts";

const THREADS = MANY_THREADS ? [5] : WITHOUT_THREADS === false ? [1, 2] : [1];
const TRACED: readonly TracedEngine[] = await Promise.all(
  THREADS.map((threads) => tracedEngine(threads, TINY)),
);
after(() => {
  for (const { engine } of TRACED) engine.dispose();
});

/** A kind of Plan: what data and indices look like, with a hole for the pattern. */
interface Kind {
  readonly name: string;
  readonly operator: "ND" | "Elements" | "gather";
  readonly data: readonly number[];
  /** The shape of indices; the pattern is along the axis that is marked, and the same on all others. */
  readonly indices: readonly number[];
  readonly along: number;
  readonly axis?: number;
  readonly batchDims?: number;
  /** Whether each row of element indices holds one index throughout. */
  readonly uniform?: true;
  /** How a scatter and a gather of random indices are split among two threads; null where the kind has no scatter. */
  readonly splits: readonly [scatters: Path | null, gathers: Path];
}

const ND = { operator: "ND", along: 0 } as const;
const ELEMENTS = { operator: "Elements", along: 0, axis: 0 } as const;
const ELEMENTS_1 = { operator: "Elements", along: 1, axis: 1 } as const;
const GATHER_1 = { operator: "gather", along: 0, axis: 1 } as const;
const BATCHED = { operator: "ND", along: 1, batchDims: 1 } as const;
const [SPREAD, WIDE] = [
  [50, 66],
  [40, 64],
] as const;

// prettier-ignore
const KINDS: readonly Kind[] = [
  { name: "long rows", ...ND, data: [60, 64], indices: [48, 1], splits: ["columns", "positions"] },
  { name: "short rows", ...ND, data: [60, 3], indices: [48, 1], splits: ["one thread", "positions"] },
  { name: "single elements", ...ND, data: [60], indices: [48, 1], splits: ["partition", "positions"] },
  { name: "batches of tuples", ...BATCHED, data: [3, 50, 5], indices: [3, 40, 1], splits: [null, "batches"] },
  { name: "lanes", ...ELEMENTS, data: SPREAD, indices: WIDE, splits: ["lanes", "positions"] },
  { name: "equal rows", ...ELEMENTS, data: SPREAD, indices: WIDE, uniform: true, splits: ["columns", "positions"] },
  { name: "batches of elements", ...ELEMENTS_1, data: [5, 50], indices: [5, 39], splits: ["batches", "positions"] },
  { name: "a middle axis", ...ELEMENTS_1, data: [2, 30, 9], indices: [2, 24, 9], splits: ["batches", "batches"] },
  { name: "slices along axis 1", ...GATHER_1, data: [2, 50, 16], indices: [40], splits: [null, "batches"] },
  { name: "the last axis", ...GATHER_1, data: [5, 50], indices: [40], splits: [null, "batches"] },
];

const DTYPES: readonly DType[] = [
  "float32",
  "int64",
  "float16",
  "complex128",
  "uint8",
  "float64",
  "bool",
];

interface Policies {
  readonly bounds?: "clip" | "drop";
  readonly includeSelf?: boolean;
}

/** Indices of a kind in a pattern; every third one counts from the back. */
function indicesOf(
  { data, indices: shape, along, axis, batchDims = 0, uniform }: Kind,
  pattern: Pattern,
): Tensor {
  const dim = data[axis ?? batchDims];
  const line = pattern(shape[along], dim);
  const inner = product(shape, along + 1);
  // Behind the axis the pattern moves on by one from column to column, so that rows hold several indices.
  const turn = uniform || axis === undefined ? 0 : 1;
  const size = product(shape);
  const values = allocate("int64", size);
  for (let p = 0; p < size; p++) {
    const index = line[(Math.floor(p / inner) + turn * (p % inner)) % shape[along]];
    values[p] = BigInt(p % 3 === 1 && axis === undefined ? index - dim : index);
  }
  return new Tensor("int64", shape, size, values);
}

/** The calls of a kind with these indices: a gather, and a scatter with each of these reductions. */
function casesOf(
  kind: Kind,
  dtype: DType,
  indices: Tensor,
  policies: Policies = {},
  reductions: readonly Reduction[] = ["none", "add", "max"],
): Case[] {
  const { operator, axis = 0, batchDims = 0 } = kind;
  const random = randomFrom(product(kind.data));
  const data = randomTensor(dtype, kind.data, random);
  const common = operator === "ND" ? {} : { axis };
  const name = `${kind.name} of ${dtype}`;
  const { bounds } = policies;
  const filling = bounds === "drop" ? ("fill" as const) : bounds;
  const gathered = { ...common, ...(filling && { bounds: filling }) };
  const cases: Case[] = [];
  if (operator === "gather") {
    const expected = reference.gather(data, indices, axis, batchDims, gathered);
    return [{ name, operator, inputs: [data, indices], options: gathered, expected }];
  }
  const isND = operator === "ND";
  cases.push({
    name: `${name}, gathered`,
    operator: isND ? "gatherND" : "gatherElements",
    inputs: [data, indices],
    options: { ...gathered, ...(isND && { batchDims }) },
    expected: isND
      ? reference.gatherND(data, indices, batchDims, gathered)
      : reference.gatherElements(data, indices, axis, gathered),
  });
  if (batchDims > 0) return cases;
  const shape = isND ? [...indices.shape.slice(0, -1), ...kind.data.slice(1)] : indices.shape;
  const updates = randomTensor(dtype, shape, random);
  for (const reduction of reductions) {
    cases.push({
      name: `${name}, ${reduction}`,
      operator: isND ? "scatterND" : "scatterElements",
      inputs: [data, indices, updates],
      options: { ...common, ...policies, reduction },
      expected: isND
        ? reference.scatterND(data, indices, updates, reduction, policies)
        : reference.scatterElements(data, indices, updates, axis, reduction, policies),
    });
  }
  return cases;
}

let turn = 0;

/**
 * Goes an eighth of all ways on all engines, which the seed chooses, with other limits each time, so that every kind,
 * pattern and policy goes some ways, and every way is gone by many. Then no engine has more memory taken than before.
 */
const everyWay = (cases: readonly Case[]): Promise<void> =>
  withLimits(turn, () => someWays(cases, turn++));

async function someWays(cases: readonly Case[], first: number): Promise<void> {
  for (const { engine, executor } of TRACED) {
    const taken = (): number | undefined => executor.shared?.taken;
    engine.alloc("int8", [1]).dispose();
    const before = taken();
    for (const [number, one] of cases.entries()) {
      for (const [position, way] of WAYS.entries()) {
        const isDrawn = (position + number + first + LIMITS_SEED) % 8 === 0;
        if (isDrawn && canGo(one, way)) await go(engine, one, way);
      }
    }
    assert.equal(taken(), before, `memory taken by ${cases[0].name}`);
  }
}

let kinds = 0;
for (const kind of KINDS) {
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    const dtype = DTYPES[kinds++ % DTYPES.length];
    test(`${kind.name}: ${name}, every way`, () =>
      everyWay(casesOf(kind, dtype, indicesOf(kind, pattern))));
  }
}

/** Indices of which every fifth lies outside its axis. */
function movedOut(indices: Tensor): Tensor {
  const values = BigInt64Array.from(indices.data as BigInt64Array, (index, p) =>
    p % 5 === 2 ? FAR[p % FAR.length] : index,
  );
  return new Tensor("int64", indices.shape, indices.size, values);
}

/** The low half of the first is 1, and of the second 0. */
const FAR = [2n ** 32n + 1n, -(2n ** 32n), 2n ** 31n, -(2n ** 31n) - 1n, 1000n, -1000n];

const POLICIES: readonly (readonly [Policies, readonly Reduction[]])[] = [
  [{ bounds: "drop" }, ["none", "add"]],
  [{ bounds: "clip" }, ["none", "add"]],
  [{ includeSelf: false }, ["add", "max"]],
  [{ includeSelf: false, bounds: "drop" }, ["mean"]],
  [{}, ["mean"]],
];

for (const kind of KINDS) {
  for (const [policies, reductions] of POLICIES) {
    const said = JSON.stringify(policies) + reductions.join();
    test(`${kind.name}: ${said}, every way`, async () => {
      for (const pattern of [
        PATTERNS["runs that overlap"],
        PATTERNS["random"],
        PATTERNS["one index"],
      ]) {
        const inside = indicesOf(kind, pattern);
        const indices = policies.bounds === undefined ? inside : movedOut(inside);
        await everyWay(casesOf(kind, "float32", indices, policies, reductions));
      }
    });
  }
}

for (const kind of KINDS) {
  test(`${kind.name}: a bad index is an error that names it, every way, and nothing is written`, async () => {
    for (const [turn, far] of FAR.entries()) {
      const indices = indicesOf(kind, PATTERNS[turn % 2 === 0 ? "one index" : "random"]);
      const position = Math.floor((indices.size * (turn + 1)) / FAR.length) - 1;
      const values = indices.data as BigInt64Array;
      const cases = casesOf(kind, "float32", indices);
      values[position] = far;
      // A later one must not be named instead.
      values[indices.size - 1] = 2n ** 40n;
      const at = coordinatesOf(position, indices.shape);
      const refusal = { code: "index-out-of-range", at } as const;
      await everyWay(cases.map((one) => ({ ...one, refusal })));
    }
  });
}

for (const kind of KINDS) {
  test(
    `${kind.name}: random indices are split among threads as the row says`,
    { skip: WITHOUT_THREADS || (MANY_THREADS && "the rows are those of two threads") },
    async () => {
      const { splits } = kind;
      const cases = casesOf(kind, "float32", indicesOf(kind, PATTERNS["random"]));
      const way = WAYS.find((one) => one.name === "engine, out, call");
      assert.ok(way);
      for (const { engine, paths, executor } of TRACED.slice(1, 2)) {
        assert.equal(executor.threads, 2);
        for (const one of cases) {
          const isGather = one.operator.startsWith("gather");
          paths();
          await go(engine, one, way);
          assert.deepEqual(paths(), ["indices 2", splits[isGather ? 1 : 0]], one.name);
        }
      }
    },
  );
}
