/**
 * Wrong results that plain loops make (`support/other-rules.ts`), each with the fault that it comes from: the diagnosis
 * must name it. Two faults that give the same result on a call cannot be told apart, so either is right there.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnose } from "../src/index.ts";
import type { NodeSpec } from "../src/call/call.ts";
import { equals, tensor, type Tensor } from "../src/tensor/tensor.ts";
import { run } from "../src/call/run.ts";
import { isScatter, outputShape, runWith, type Sample } from "./support/other-rules.ts";
import { hasElements, PLANTED, type Planted } from "./support/planted.ts";
import { randomFrom, type Random } from "./support/random.ts";

const CALLS = 40;

/** The node and its inputs, as `run` takes them. */
function callOf(sample: Sample): { node: NodeSpec; inputs: Tensor[] } {
  const { op, dtype, axis, batchDims, reduction, data, indices, updates } = sample;
  const attributes = {
    ...(op.endsWith("ND") ? {} : { axis }),
    ...(op === "GatherND" && { batch_dims: batchDims }),
    ...(isScatter(sample) && { reduction }),
  };
  const inputs = [
    tensor(dtype, data.shape, [...data.values]),
    tensor("int64", indices.shape, [...indices.values]),
  ];
  if (isScatter(sample)) inputs.push(tensor(dtype, updates.shape, [...updates.values]));
  return { node: { op, opset: 18, attributes }, inputs };
}

const resultOf = (sample: Sample, values: readonly number[]): Tensor =>
  tensor(sample.dtype, outputShape(sample), [...values]);

const sameValues = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, p) => Object.is(value, b[p]));

/** The ids whose own loops give the same result on a sample. */
function equallyRight(planted: Planted, sample: Sample, wrong: readonly number[]): Set<string> {
  const ids = new Set([planted.id]);
  for (const other of PLANTED) {
    if (other.isRandom || other.isError !== planted.isError) continue;
    for (let seed = 0; seed < 8; seed++) {
      const values = attempt(() => other.wrong(sample, randomFrom(seed)));
      if (values !== null && sameValues(values, wrong)) ids.add(other.id);
    }
  }
  return ids;
}

/** Not every fault can be planted in every call. */
function attempt<T>(action: () => T | null): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}

interface Tally {
  counted: number;
  first: number;
  right: number;
  readonly misses: string[];
}

function tallyOf(planted: Planted, random: Random): Tally {
  const tally: Tally = { counted: 0, first: 0, right: 0, misses: [] };
  for (let tries = 0; tries < 4000 && tally.counted < CALLS; tries++) {
    const sample = planted.sample(random);
    const wrong = hasElements(sample) ? planted.wrong(sample, random) : null;
    if (wrong === null || (!planted.isError && sameValues(wrong, runWith(sample)))) continue;
    const { node, inputs } = callOf(sample);
    const found = diagnose(node, inputs, resultOf(sample, wrong));
    // No reading of the indices changes a cell of this call: nothing can be seen.
    if (planted.isError && found.length === 0 && sameValues(wrong, runWith(sample))) continue;
    tally.counted++;
    const [first] = found;
    if (first?.id === planted.id) tally.first++;
    const isWhole = first !== undefined && first.cells.explained === first.cells.differing;
    if (isWhole && equallyRight(planted, sample, wrong).has(first.id)) tally.right++;
    else
      tally.misses.push(
        `${JSON.stringify(sample)} -> ${JSON.stringify(wrong)}: ${JSON.stringify(found)}`,
      );
  }
  return tally;
}

for (const [position, planted] of PLANTED.entries()) {
  test(`${planted.id} is found where it was planted`, (context) => {
    const { counted, first, right, misses } = tallyOf(planted, randomFrom(100 + position));
    context.diagnostic(`${planted.id}: ${right} of ${counted} right, ${first} of them by this id`);
    assert.ok(counted >= 10, `only ${counted} calls show it`);
    assert.ok(right >= 0.95 * counted, misses.slice(0, 3).join("\n"));
  });
}

test("the loops and the library agree where nothing is planted, and nothing is explained", () => {
  const random = randomFrom(7);
  for (const planted of PLANTED.filter(({ isError }) => !isError)) {
    for (let count = 0; count < 20; count++) {
      const sample = planted.sample(random);
      const { node, inputs } = callOf(sample);
      const exact = resultOf(sample, runWith(sample));
      assert.ok(equals(run(node, inputs)[0], exact), JSON.stringify(sample));
      assert.deepEqual(diagnose(node, inputs, exact), []);
    }
  }
});
