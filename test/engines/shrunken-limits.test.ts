/** The limits that tests set and draw: `test/support/limits.ts`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { POOL, WASM } from "../../src/core/limits.ts";
import { EXTREMES, LIMITS_SEED, setLimits, withLimits } from "../support/limits.ts";

test("limits that were set are those of the package again", () => {
  const before = { ...WASM };
  const restore = setLimits({ WASM: { window: 64 }, POOL: { least: 1 } });
  assert.deepEqual([WASM.window, POOL.least, WASM.share], [64, 1, before.share]);
  restore();
  assert.deepEqual(WASM, before);
});

test("a turn draws the same limits each time, other turns draw others, and all lie between the extremes", async () => {
  const before = { ...WASM };
  const draws = Array.from({ length: 50 }, (_, turn) => withLimits(turn, () => ({ ...WASM })));
  assert.deepEqual(WASM, before);
  assert.deepEqual(
    withLimits(7, () => ({ ...WASM })),
    draws[7],
  );
  assert.deepEqual(await withLimits(7, async () => ({ ...WASM })), draws[7]);
  assert.ok(new Set(draws.map(({ window }) => window)).size > 10);
  assert.ok(draws.some(({ window }) => window === 64) && draws.some(({ work }) => work === 0));
  for (const { window, slice, indices } of draws) {
    assert.ok(window % 64 === 0 && window >= 64 && window <= before.window);
    assert.ok(slice >= before.slice && slice <= Number(EXTREMES.WASM.slice));
    assert.ok(indices >= 0 && indices <= before.indices && Number.isInteger(indices));
  }
});

test("a failure under drawn limits names their seed, and the limits are the package's again", async () => {
  const before = { ...WASM };
  const named = new RegExp(`^Error: with LIMITS=${LIMITS_SEED}, turn 3: Error: wrong`);
  const fail = (): never => {
    throw new Error("wrong");
  };
  assert.throws(() => withLimits(3, fail), named);
  await assert.rejects(
    withLimits(3, async () => fail()),
    named,
  );
  assert.deepEqual(WASM, before);
});
