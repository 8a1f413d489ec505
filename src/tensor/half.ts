/**
 * float16 and bfloat16: bits to numbers and back, rounding to nearest, ties to even. Node 20 has no Float16Array, and
 * no engine has bfloat16, so both go through the one description of a binary format below.
 */

/** A binary interchange format of 16 bits: how many of them are fraction, and the exponent of its smallest normal. */
export interface HalfFormat {
  readonly fractionBits: number;
  readonly minExponent: number;
}

export const FLOAT16: HalfFormat = { fractionBits: 10, minExponent: -14 };
export const BFLOAT16: HalfFormat = { fractionBits: 7, minExponent: -126 };

// Scratch of one value, written and read within one call: no state lives in it between calls.
const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);
// Every platform that runs JavaScript today is little-endian; the whole package builds on that.
const LOW = 0;
const HIGH = 1;

/** 2 to the power `exponent`, for the normal range of a double. `2 ** n` is several times slower in a loop. */
function powerOfTwo(exponent: number): number {
  words[LOW] = 0;
  words[HIGH] = (exponent + 1023) << 20;
  return scratch[0];
}

/** The number that 16 bits of `format` stand for; every NaN gives NaN. */
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

/** The 16 bits of `format` nearest to `value`, ties to even; NaN gives the canonical quiet NaN (7E00, 7FC0). */
export function encodeHalf(value: number, { fractionBits, minExponent }: HalfFormat): number {
  const infinity = 0x7fff & (-1 << fractionBits);
  if (value !== value) return infinity | (1 << (fractionBits - 1));
  scratch[0] = value;
  const sign = (words[HIGH] >>> 16) & 0x8000;
  const exponent = Math.max(((words[HIGH] >>> 20) & 0x7ff) - 1023, minExponent);
  if (exponent > 1 - minExponent) return sign | infinity;
  // In units of the last place the magnitude is below 2^(fractionBits + 1); adding 2^52 leaves its integer part,
  // rounded to nearest even by the addition itself. A carry runs on into the exponent, up to infinity, as it should.
  const units = Math.abs(value) * powerOfTwo(fractionBits - exponent);
  const rounded = units + 2 ** 52 - 2 ** 52;
  return sign | (((exponent - minExponent) << fractionBits) + rounded);
}
