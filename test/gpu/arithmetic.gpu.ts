/** The arithmetic of the GPU has the bits of the JavaScript engine's: every data type and step, on adversarial pairs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { hasGpuArithmetic } from "../../src/gpu/kernels/arithmetic.ts";
import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import { checkArithmetic } from "./check-arithmetic.ts";
import { device } from "./gpu.ts";
import { seedOf } from "../support/random.ts";

const seed = seedOf("arithmetic");

/**
 * Of each step, or all pairs of types that have fewer. In a page as many as find each fault that was ever planted, because
 * the driver there is one of those that Node has.
 */
const PAIRS = typeof process === "object" && "versions" in process ? 1_000_000 : 100_000;

for (const dtype of DTYPE_NAMES.filter(hasGpuArithmetic)) {
  test(`arithmetic of ${dtype}`, async (context) => {
    const results = await checkArithmetic(device, dtype, PAIRS, seed);
    for (const { step, pairs, different, first } of results) {
      assert.equal(different, 0, `${step}: ${different} of ${pairs} pairs, the first: ${first}`);
    }
    const total = results.reduce((sum, { pairs }) => sum + pairs, 0);
    assert.ok(total >= (dtype === "bool" ? 20 : 5 * 65_536), `only ${total} pairs were tried`);
    context.diagnostic(`${total} pairs`);
  });
}
