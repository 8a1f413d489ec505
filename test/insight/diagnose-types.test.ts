/**
 * Calls of all data types with noise in some cells. Whatever `diagnose` says of elements that are moved, not combined,
 * must be so: plain loops do what its sentence says, with numbers that stand for elements.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { diagnose } from "../../src/insight/diagnose/diagnose.ts";
import type { Diagnosis } from "../../src/insight/diagnose/diagnosis.ts";
import {
  isNumericStorage,
  reductionsOf,
  type DType,
  type Storage,
} from "../../src/core/tensor/dtype.ts";
import { resolve } from "../../src/core/operators/registry.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount } from "../support/cases.ts";
import {
  at,
  exactly,
  linksOf,
  outputShape,
  runWith,
  type Faults,
  type Grid,
  type Op,
  type Sample,
} from "../support/other-rules.ts";
import { anyCall, gridOf, withTuplesFromAxis0 } from "../support/planted.ts";
import { randomFrom, randomIndices, randomTensor, type Random } from "../support/random.ts";
import { scatterND } from "../support/reference.ts";
import { callOf, ONNX_OPSET, type Elements } from "../support/sample-calls.ts";

const CASES = caseCount(500);

/** Calls of each data type and reduction. */
const EACH = caseCount(16);

/** Stand for elements that are 0 and NaN. */
const [ZERO, NOT_A_NUMBER] = [-1, -2];

/** The elements of a type by number: random ones, and some that are 0 or NaN. */
interface Pool {
  readonly elements: Elements;
  isSame(a: number, b: number): boolean;
  readonly values: readonly unknown[];
}

function poolOf(dtype: DType, random: Random): Pool {
  const pool = randomTensor(dtype, [60], random);
  const lanes = pool.data.length / pool.size;
  const elements: Elements = (shape, numbers) => {
    const data: Storage = pool.data.slice(0, 0);
    const size = numbers.length;
    if (!isNumericStorage(data) || !isNumericStorage(pool.data)) {
      const texts = pool.data as string[];
      return new Tensor(
        dtype,
        [...shape],
        size,
        numbers.map((n) => texts[n]),
      );
    }
    const from = pool.data;
    const out = new (from.constructor as Uint8ArrayConstructor)(size * lanes);
    numbers.forEach((n, p) => {
      for (let lane = 0; lane < lanes; lane++)
        out[p * lanes + lane] = from[n * lanes + lane] as number;
    });
    return new Tensor(dtype, [...shape], size, out);
  };
  const values: readonly unknown[] = pool.toArray() as unknown[];
  const valueOf = (n: number): unknown => {
    if (n === NOT_A_NUMBER) return NaN;
    if (n !== ZERO) return values[n];
    const { data } = pool;
    if (!isNumericStorage(data)) return "";
    if (dtype === "bool") return false;
    if (lanes === 2) return [0, 0];
    return dtype.endsWith("int64") ? 0n : dtype === "float8e8m0" ? 2 ** -127 : 0;
  };
  return {
    elements,
    values,
    isSame: (a, b) => areSame(valueOf(a), valueOf(b)),
  };
}

/** -0 is not 0; every NaN is the same. */
const areSame = (a: unknown, b: unknown): boolean =>
  Array.isArray(a) && Array.isArray(b)
    ? a.every((part, n) => Object.is(part, b[n]))
    : Object.is(a, b);

/** A call and what a runtime does otherwise in it. */
interface Way extends Faults {
  readonly sample: Sample;
  readonly isFromAxis0?: boolean;
  readonly stop?: "first" | "all";
}

const columnMajor = ({ shape, values }: Grid): Grid[] => {
  const reversed = shape.toReversed();
  const read = gridOf([...shape], (place) => at({ shape: reversed, values }, place.toReversed()));
  const turned = gridOf(reversed, (place) => at({ shape, values }, place.toReversed()));
  return [read, { shape, values: turned.values }];
};

type Part = "data" | "indices" | "updates";

const withAxis = (way: Way, axis: number): Way => ({ ...way, sample: { ...way.sample, axis } });
const withPart = (way: Way, part: Part, grid: Grid): Way => ({
  ...way,
  sample: { ...way.sample, [part]: grid },
});

/** Reads negative indices in another way; elements that no index leads to are 0. */
const reading = (way: Way, read: NonNullable<Way["read"]>): Way => ({ ...way, fill: ZERO, read });

function firstBatch(way: Way, part: Part): Way {
  const grid = way.sample[part];
  const first = gridOf([...grid.shape], (place) => at(grid, place.with(0, 0)));
  return withPart(way, part, first);
}

function transposed(way: Way, part: Part, p: number, q: number): Way {
  const grid = way.sample[part];
  const swapped = gridOf([...grid.shape], (place) =>
    at(grid, place.with(p, place[q]).with(q, place[p])),
  );
  return withPart(way, part, swapped);
}

/**
 * What a runtime may have done otherwise, by the id of the fault; null for arithmetic, which these loops do not have.
 * `text` is the sentence, of which only the numbers and the names of inputs and operators count, never the words.
 */
const WAYS: Readonly<Record<string, (way: Way, text: string) => readonly Way[]>> = {
  "first-wins": (way) => [{ ...way, isDone: (_, nth) => nth === 0 }],
  "other-axis": (way, text) => [withAxis(way, numbersIn(text)[0])],
  "batch-zero": (way) => [firstBatch(way, "indices")],
  "other-batch-dims": (way, text) => [
    numbersIn(text).length > 0 ? { ...way, isFromAxis0: true } : firstBatch(way, "data"),
  ],
  "other-operator": (way, text) => {
    const [name, own] = text.match(/\b(?:Scatter|Gather)\w*/g) ?? [];
    const op = (name === "Scatter" ? "ScatterElements" : name) as Op;
    const axis = own.endsWith("ND") ? 0 : way.sample.axis;
    return [{ ...way, sample: { ...way.sample, op, axis } }];
  },
  "negative-dropped": (way, text) => [
    {
      ...way,
      read: (index) => (index < 0 ? null : index),
      fill: text.includes("NaN") ? NOT_A_NUMBER : ZERO,
    },
  ],
  "negative-clamped": (way) => [{ ...way, read: (index) => Math.max(index, 0) }],
  "negative-counted": (way, text) => {
    const [size] = numbersIn(text);
    return [reading(way, (index, dim) => (index < 0 ? index + (size ?? dim - 1) : index))];
  },
  "flat-offset": (way) => [reading(way, (index) => index)],
  "negative-refused": (way) => [
    { ...way, stop: "first", fill: ZERO },
    { ...way, stop: "all", fill: ZERO },
  ],
  "transposed-input": (way, text) => {
    const [part] = (text.match(/\b(?:data|indices|updates)\b/) ?? []) as Part[];
    const [p, q] = numbersIn(text);
    return q === undefined
      ? columnMajor(way.sample[part]).map((grid) => withPart(way, part, grid))
      : [transposed(way, part, p, q)];
  },
};

const numbersIn = (text: string): number[] => (text.match(/\b\d+\b/g) ?? []).map(Number);

/** All results that a diagnosis may mean; null if it is about arithmetic. */
function resultsOf(sample: Sample, { id, sentence }: Diagnosis): number[][] | null {
  let ways: readonly Way[] = [{ sample }];
  const texts = sentence.split("; ");
  for (const [n, one] of id.split("+").entries()) {
    const change = WAYS[one];
    if (change === undefined) return null;
    ways = ways.flatMap((way) => change(way, texts[n]));
  }
  return ways.map((way) => resultOf(way));
}

function resultOf({ sample, isFromAxis0 = false, stop, ...faults }: Way): number[] {
  if (isFromAxis0) return withTuplesFromAxis0(sample);
  if (stop === undefined) return runWith(sample, faults);
  const links = linksOf(sample, (index, dim) => (index < 0 ? null : exactly(index, dim)));
  const end = stop === "first" ? links.indexOf(null) : 0;
  if (sample.op.startsWith("Scatter")) {
    const { isDone } = faults;
    return runWith(sample, {
      ...faults,
      isDone: (position, nth, target) =>
        position < end && (isDone === undefined || isDone(position, nth, target)),
    });
  }
  return runWith(sample).map((value, cell) => (cell < end ? value : ZERO));
}

interface Tally {
  nothing: number;
  right: number;
  arithmetic: number;
}

const BATCHED: readonly Op[] = ["GatherND"];
const SEQUENCES: readonly Op[] = ["TensorScatter"];

const typesOf = (op: string): readonly DType[] =>
  resolve({ op, opset: ONNX_OPSET }).typeConstraints[0].types;

/** ScatterND and the others take these types. */
const COMMON = new Set(typesOf("ScatterND"));
/** TensorScatter takes all that a scatter of ONNX takes. */
const MOST = typesOf("TensorScatter");

function tryNoise(dtype: DType, random: Random, tally: Tally): void {
  const pool = poolOf(dtype, random);
  const isCommon = COMMON.has(dtype) && random(8) > 0;
  const batches = random(4) === 0;
  const sample = anyCall(random, {
    value: () => random(50),
    dtypes: ["int32"],
    batches,
    ...(isCommon ? batches && { ops: BATCHED } : { ops: SEQUENCES }),
  });
  const exact = runWith(sample);
  if (exact.length === 0) return;
  const { node, inputs } = callOf(sample, pool.elements);
  const actual = [...exact];
  for (let n = random(4); n >= 0; n--) actual[random(actual.length)] = random(60);
  const shape = outputShape(sample);
  assert.deepEqual(diagnose(node, inputs, pool.elements(shape, exact)), []);
  const found = diagnose(node, inputs, pool.elements(shape, actual));
  const differing = [...exact.keys()].filter((cell) => !pool.isSame(exact[cell], actual[cell]));
  if (found.length === 0) tally.nothing++;
  for (const diagnosis of found) {
    const { id, sentence, cells } = diagnosis;
    const what = JSON.stringify({
      dtype,
      id,
      sentence,
      cells,
      sample,
      actual,
      pool: pool.values.map(String),
    });
    assert.equal(cells.differing, differing.length, what);
    if (id === "any-order") {
      const links = linksOf(sample, exactly);
      const fits = differing.filter((cell) =>
        links.some(
          (target, u) => target === cell && pool.isSame(sample.updates.values[u], actual[cell]),
        ),
      );
      assert.equal(fits.length, cells.explained, what);
      tally.right++;
      continue;
    }
    const results = resultsOf(sample, diagnosis);
    if (results === null) {
      tally.arithmetic++;
      continue;
    }
    const isRight = results.some((result) => {
      const fits = actual.filter((element, cell) => pool.isSame(element, result[cell])).length;
      return fits === actual.length - differing.length + cells.explained;
    });
    assert.ok(isRight, what);
    tally.right++;
  }
}

test("noise in moved elements of all types is not explained, or by what really gives it", (context) => {
  const random = randomFrom(24);
  const tally: Tally = { nothing: 0, right: 0, arithmetic: 0 };
  let count = 0;
  // Chance explains noise in one of a hundred cases, so some seeds need more cases until that is checked.
  for (; count < CASES || (tally.right === 0 && count < 3000); count++) {
    tryNoise(MOST[count % MOST.length], random, tally);
  }
  context.diagnostic(JSON.stringify(tally));
  assert.ok(tally.nothing > 0.8 * count && tally.right > 0, JSON.stringify(tally));
});

/** A tensor with some elements of another one. */
function mixed(tensor: Tensor, other: Tensor, cells: ReadonlySet<number>): Tensor {
  const { dtype, shape, size, data } = tensor;
  const lanes = data.length / size;
  const pick = (_: unknown, entry: number): unknown =>
    (cells.has(Math.floor(entry / lanes)) ? other : tensor).data[entry];
  const storage = isNumericStorage(data)
    ? (data.slice().map(pick as never) as Storage)
    : (data.map(pick) as string[]);
  return new Tensor(dtype, [...shape], size, storage);
}

test("calls of all types and reductions: nothing explains the exact result, and noise ends in no error", (context) => {
  const random = randomFrom(25);
  const tally = { calls: 0, explained: 0, reductions: 0 };
  for (const dtype of COMMON) {
    const words = reductionsOf(dtype).filter((word) => word !== "sub" && word !== "mean");
    for (const reduction of words) {
      for (let n = 0; n < EACH; n++) {
        const dims = [2 + random(3), 2 + random(3)];
        const k = 1 + random(2);
        const count = 1 + random(9);
        const data = randomTensor(dtype, dims, random);
        const indices = randomIndices("int64", [count, k], (p) => dims[p % k], random);
        const updates = randomTensor(dtype, [count, ...dims.slice(k)], random);
        const inputs = [data, indices, updates];
        const node: NodeSpec = { op: "ScatterND", opset: 18, attributes: { reduction } };
        const exact = scatterND(data, indices, updates, reduction);
        assert.deepEqual(diagnose(node, inputs, exact), [], `${dtype} ${reduction}`);
        const cells = new Set(Array.from({ length: 1 + random(4) }, () => random(exact.size)));
        const noisy = mixed(exact, randomTensor(dtype, dims, random), cells);
        tally.calls++;
        for (const { cells: counts } of diagnose(node, inputs, noisy)) {
          tally.explained++;
          assert.ok(counts.explained > 0 && counts.explained <= counts.differing);
        }
        const other = words[random(words.length)];
        const wrong = scatterND(data, indices, updates, other);
        const found = diagnose(node, inputs, wrong);
        if (found.length === 0) {
          assert.deepEqual(wrong.toArray(), exact.toArray(), `${dtype} ${other}`);
          continue;
        }
        assert.ok(
          found.some(({ id }) => id === "other-reduction"),
          `${dtype} ${reduction} ${other}: ${JSON.stringify(found)}`,
        );
        for (const { cells: counts } of found) assert.equal(counts.explained, counts.differing);
        tally.reductions++;
      }
    }
  }
  context.diagnostic(JSON.stringify(tally));
  assert.ok(tally.calls > 60 * EACH && tally.reductions > 20 * EACH, JSON.stringify(tally));
});
