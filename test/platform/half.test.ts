import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeHalf,
  encodeHalf,
  floatFormat,
  type FloatFormat,
} from "../../src/core/tensor/scalar.ts";

/** The value of 16 bits by the definition of IEEE 754, in plain arithmetic. */
function definition(bits: number, { fractionBits, minExponent }: FloatFormat): number {
  const fields = bits.toString(2).padStart(16, "0");
  const biased = parseInt(fields.slice(1, 16 - fractionBits), 2);
  const fraction = parseInt(fields.slice(16 - fractionBits), 2) / 2 ** fractionBits;
  const sign = fields[0] === "1" ? -1 : 1;
  if (biased === 2 ** (15 - fractionBits) - 1) return fraction === 0 ? sign * Infinity : NaN;
  return biased === 0
    ? sign * fraction * 2 ** minExponent
    : sign * (1 + fraction) * 2 ** (biased - 1 + minExponent);
}

for (const [name, format] of (["float16", "bfloat16"] as const).map(
  (dtype) => [dtype, floatFormat(dtype)] as const,
)) {
  const infinity = 0x7fff & (-1 << format.fractionBits);

  test(`${name}: all 65536 patterns decode by the definition and encode back`, () => {
    for (let bits = 0; bits < 65536; bits++) {
      const value = decodeHalf(bits, format);
      assert.ok(Object.is(value, definition(bits, format)), `${bits.toString(16)} gives ${value}`);
      const canonical = infinity | (1 << (format.fractionBits - 1));
      assert.equal(encodeHalf(value, format), Number.isNaN(value) ? canonical : bits);
    }
  });

  test(`${name}: between every two neighbours, below, at and above the middle`, () => {
    for (let bits = 0; bits < infinity; bits++) {
      const low = decodeHalf(bits, format);
      // Above the greatest finite value stands what would be next: from its middle on, rounding gives infinity.
      const high =
        bits + 1 === infinity
          ? 2 * low - decodeHalf(bits - 1, format)
          : decodeHalf(bits + 1, format);
      const middle = (low + high) / 2;
      const even = bits % 2 === 0 ? bits : bits + 1;
      const step = (high - low) * 2 ** -30;
      for (const sign of [1, -1]) {
        const signBit = sign === 1 ? 0 : 0x8000;
        assert.equal(encodeHalf(sign * middle, format), signBit | even);
        assert.equal(encodeHalf(sign * (middle - step), format), signBit | bits);
        assert.equal(encodeHalf(sign * (middle + step), format), signBit | (bits + 1));
      }
    }
  });

  test(`${name}: the ends of the range`, () => {
    assert.equal(encodeHalf(Infinity, format), infinity);
    assert.equal(encodeHalf(-Infinity, format), 0x8000 | infinity);
    assert.equal(encodeHalf(1e300, format), infinity);
    assert.equal(encodeHalf(-Number.MAX_VALUE, format), 0x8000 | infinity);
    assert.equal(encodeHalf(Number.MIN_VALUE, format), 0);
    assert.equal(encodeHalf(-Number.MIN_VALUE, format), 0x8000);
    assert.equal(encodeHalf(-0, format), 0x8000);
  });
}
