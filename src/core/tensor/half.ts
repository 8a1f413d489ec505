/**
 * Converts float16 and bfloat16 between bits and numbers, rounding to nearest, ties to even. Node 20 does not have
 * Float16Array, and no JavaScript engine has bfloat16, so both types are computed from a description of their format.
 */

/**
 * A 16-bit binary format (IEEE 754-2019, section 3.4): number of fraction bits, and exponent of the smallest normal
 * number.
 */
export interface HalfFormat {
  readonly fractionBits: number;
  readonly minExponent: number;
}

export const FLOAT16: HalfFormat = { fractionBits: 10, minExponent: -14 };
export const BFLOAT16: HalfFormat = { fractionBits: 7, minExponent: -126 };

// The scratch memory holds a value as a double and as its bits. Each call writes the value before reading it, so no
// state is kept between calls.
const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);
// The whole package assumes a little-endian platform, like all current browsers and the common platforms of Node.
const LOW = 0;
const HIGH = 1;

/** Returns 2 to the power `exponent`, in the normal range of a double. `2 ** n` is several times slower in a loop. */
function powerOfTwo(exponent: number): number {
  words[LOW] = 0;
  words[HIGH] = (exponent + 1023) << 20;
  return scratch[0];
}

/** Returns the number that 16 bits of `format` represent; NaN for every NaN, regardless of its payload. */
export function decodeHalf(bits: number, { fractionBits, minExponent }: HalfFormat): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const biased = (bits & 0x7fff) >> fractionBits;
  const fraction = bits & ((1 << fractionBits) - 1);
  if (biased === 0x7fff >> fractionBits) return fraction === 0 ? sign * Infinity : NaN;
  if (biased === 0) return sign * fraction * powerOfTwo(minExponent - fractionBits);
  return (
    sign * ((1 << fractionBits) | fraction) * powerOfTwo(biased - 1 + minExponent - fractionBits)
  );
}

/** Returns the 16 bits of `format` nearest to `value`, ties to even; the canonical quiet NaN (7E00, 7FC0) for NaN. */
export function encodeHalf(value: number, { fractionBits, minExponent }: HalfFormat): number {
  const infinity = 0x7fff & (-1 << fractionBits);
  if (value !== value) return infinity | (1 << (fractionBits - 1));
  scratch[0] = value;
  const sign = (words[HIGH] >>> 16) & 0x8000;
  const exponent = Math.max(((words[HIGH] >>> 20) & 0x7ff) - 1023, minExponent);
  if (exponent > 1 - minExponent) return sign | infinity;
  // The magnitude is less than 2^(fractionBits + 1) units of the last place. Adding 2^52 rounds the magnitude to the
  // nearest integer, ties to even. A carry out of the fraction correctly increments the exponent, up to infinity.
  const units = Math.abs(value) * powerOfTwo(fractionBits - exponent);
  const rounded = units + 2 ** 52 - 2 ** 52;
  return sign | (((exponent - minExponent) << fractionBits) + rounded);
}
