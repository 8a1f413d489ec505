/**
 * Internal limits at their extremes: hundreds of updates take several tiles, blocks, digits and dispatches, and engines that
 * begin with one slot and keep no scratch memory do many calls that nobody waits for, some of them bad.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { GPU } from "../../src/core/limits.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { EXTREMES, setLimits, withLimits } from "../support/limits.ts";
import { randomFrom, randomTensor, type Random } from "../support/random.ts";
import { device, engine, openEngine } from "./gpu.ts";
import { assertSame, js } from "./ways.ts";

const POSITIONS = 700;
const ROWS = 300;

/** Rows, some of which come often. */
function rows(count: number, below: number, random: Random): Tensor {
  const values = Array.from({ length: count }, () => random(random(3) === 0 ? 3 : below));
  return tensor("int32", [count, 1], values);
}

/** Sums and products of floats, which have an order, of integers, which have none, and moves; of data with many rows. */
async function manyUpdates(): Promise<void> {
  const random = randomFrom(17);
  const indices = rows(POSITIONS, ROWS, random);
  const places = engine.upload(indices);
  const plan = engine.planScatterND([ROWS, 3], indices);
  for (const dtype of ["float32", "int8", "uint32"] as const) {
    const data = randomTensor(dtype, [ROWS, 3], random);
    const updates = randomTensor(dtype, [POSITIONS, 3], random);
    const [a, b] = [data, updates].map((one) => engine.upload(one));
    for (const reduction of ["none", "add", "mean"] as const) {
      const expected = js.scatterND(data, indices, updates, { reduction });
      for (const [way, result] of Object.entries({
        "indices on the GPU": engine.scatterND(a, places, b, { reduction }),
        "indices of the host": engine.scatterND(a, indices, b, { reduction }),
        "a kept plan": plan.scatter(a, b, { reduction }),
      })) {
        assertSame(await result.read(), expected, `${dtype} by ${reduction}, ${way}`);
        result.dispose();
      }
    }
    const gathered = engine.gatherND(a, places);
    assertSame(await gathered.read(), js.gatherND(data, indices), `${dtype}, gathered`);
    for (const one of [a, b, gathered]) one.dispose();
  }
  for (const one of [places, plan]) one.dispose();
}

for (const [field, extreme] of Object.entries(EXTREMES.GPU)) {
  const value = typeof extreme === "number" ? extreme : extreme.to;
  test(`many updates with ${field} of ${value}`, async () => {
    const restore = setLimits({ GPU: { [field]: value } });
    assert.equal(GPU[field as keyof typeof GPU], value);
    await manyUpdates().finally(restore);
  });
}

const CALLS = 40;

/** Calls on one tensor without waiting, some with a bad index, on an engine of their own. */
async function manyCalls(dtype: DType, turn: number): Promise<void> {
  const random = randomFrom(turn);
  const own = await openEngine({ device });
  let expected = randomTensor(dtype, [5, 3], random);
  const state = own.upload(expected);
  const bad: Promise<void>[] = [];
  const good: Promise<void>[] = [];
  for (let n = 0; n < CALLS; n++) {
    const isBad = random(6) === 0;
    const indices = rows(1 + random(9), 5, random);
    const [count] = indices.shape;
    const updates = randomTensor(dtype, [count, 3], random);
    const options = { reduction: (["none", "add", "mean"] as const)[random(3)] };
    const next = js.scatterND(expected, indices, updates, options);
    if (isBad) (indices.data as Int32Array)[random(count)] = 5 + random(9);
    const isHere = !isBad && random(3) === 0;
    const [places, values] = [indices, updates].map((one) => own.upload(one));
    const isNew = random(4) === 0;
    const out = isNew ? undefined : state;
    const result = own.scatterND(state, isHere ? indices : places, values, { ...options, out });
    for (const one of [places, values]) one.dispose();
    if (isBad && isNew) bad.push(rejectsIndex(result));
    if (isBad) continue;
    if (isNew) good.push(result.read().then((read) => assertSame(read, next, `call ${n}`)));
    else expected = next;
  }
  const isRight = own.done().catch((error: unknown) => {
    assert.equal(Reflect.get(Object(error), "code"), "index-out-of-range");
  });
  await Promise.all([...bad, ...good, isRight]);
  assertSame(await state.read(), expected, "the state at the end");
  own.dispose();
}

const rejectsIndex = (result: GpuTensor): Promise<void> =>
  assert.rejects(result.read(), { code: "index-out-of-range" });

for (let turn = 0; turn < 8; turn++) {
  const dtype = (["float32", "uint8"] as const)[turn % 2];
  test(`${CALLS} calls on ${dtype} that nobody waits for, draw ${turn}`, async () => {
    await withLimits(turn, () => manyCalls(dtype, turn));
  });
}
