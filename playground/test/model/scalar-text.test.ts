/** The texts of elements are those of the library, also those that the page prints by itself. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { printScalar } from "ndscatter/operators";
import { printElement } from "../../src/values/scalar-text.ts";

test("a float32 has the text that the library prints", () => {
  const edges = [0, -0, 0.1, 0.3, 1e-6, 9e-7, 1e-7, 999999, 1e6, 1e7, 1e21, 1e-46, 16777217];
  const near = [1, 0.1, 1234.5, 99999.9, 0.000001, 8.5].flatMap((value) => {
    const [cell, bits] = [new Float32Array([value]), new Uint32Array(1)];
    // The floats on both sides of the value, too.
    return [-1, 0, 1].map((step) => {
      bits.set(new Uint32Array(cell.buffer));
      bits[0] += step;
      return new Float32Array(bits.buffer.slice(0))[0];
    });
  });
  let random = 1;
  const many = Array.from({ length: 5000 }, (_, i) => {
    random = (random * 1103515245 + 12345) % 2 ** 31;
    return Math.fround((random % 2 ** 20) / 2 ** (i % 24));
  });
  // The page writes infinities as NumPy does.
  assert.equal(printElement("float32", 1e39), "inf");
  for (const value of [...edges, ...near, ...many]) {
    for (const signed of [value, -value]) {
      assert.equal(printElement("float32", signed), printScalar("float32", signed), String(signed));
    }
  }
});
