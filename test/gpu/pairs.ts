/**
 * Pairs of operands that arithmetic trips over, as bits: special values with one another, results at and next to the
 * middle between two floats, results at both ends of the range, cancellations, and random bits.
 */

import type { Random } from "../support/random.ts";

/** Elements as `combine` takes them: a word each, or two words for elements of 8 bytes, low word first. */
export interface Pairs {
  readonly a: Uint32Array;
  readonly b: Uint32Array;
}

export interface Format {
  readonly fractionBits: number;
  readonly exponentBits: number;
}

type Draw = (random: Random) => readonly [a: number, b: number];

const anyBits = (random: Random, width: number): number => random(2 ** width);

/** A fraction as operands have it in practice and at the edges: random, zero, all ones, one bit, the last bits. */
function anyFraction(random: Random, fractionBits: number): number {
  const all = 2 ** fractionBits;
  switch (random(8)) {
    case 0:
      return 0;
    case 1:
      return all - 1;
    case 2:
      return 2 ** random(fractionBits);
    case 3:
      return all - 1 - random(4);
    case 4:
      return random(4);
    default:
      return random(all);
  }
}

/** Signs, exponents and fractions put together. */
function packer({ fractionBits, exponentBits }: Format) {
  const greatest = 2 ** exponentBits - 1;
  return (random: Random, exponent: number, fraction: number): number =>
    (random(2) * 2 ** exponentBits + Math.min(Math.max(exponent, 0), greatest)) *
      2 ** fractionBits +
    fraction;
}

/** The inverse of an odd number modulo 2^width. Newton's step doubles the bits that are right, from 3. */
function inverse(odd: number, width: number): number {
  const modulus = 1n << BigInt(width);
  let found = BigInt(odd);
  for (let bits = 3; bits < width; bits *= 2)
    found = (found * (2n - BigInt(odd) * found)) % modulus;
  return Number((found + modulus) % modulus);
}

/** Draws for sums; they serve max and min too, because many are close to one another. */
function sumDraws(format: Format): Draw[] {
  const { fractionBits, exponentBits } = format;
  const width = 1 + exponentBits + fractionBits;
  const pack = packer(format);
  const greatest = 2 ** exponentBits - 2;
  const ones = 2 ** fractionBits;
  const fraction = (random: Random) => anyFraction(random, fractionBits);
  const near = (bits: number, random: Random) =>
    Math.min(Math.max(bits + random(9) - 4, 0), 2 ** width - 1);
  return [
    (random) => [anyBits(random, width), anyBits(random, width)],
    // Any distance at which both have bits in the result.
    (random) => {
      const exponent = random(greatest + 1);
      const other = exponent - random(fractionBits + 4);
      return [pack(random, exponent, fraction(random)), pack(random, other, fraction(random))];
    },
    // The addend is half a unit of the last place, or a unit of its own more or less.
    (random) => {
      const exponent = fractionBits + 2 + random(greatest - fractionBits - 1);
      const half = pack(random, exponent - fractionBits - 1, 0);
      return [pack(random, exponent, fraction(random)), half + random(3) - 1];
    },
    // The addend ends in half a unit of the last place of the sum.
    (random) => {
      const exponent = fractionBits + 2 + random(greatest - fractionBits - 1);
      const distance = 1 + random(fractionBits);
      const low = 2 ** (distance - 1) + random(3) - 1;
      const high = Math.floor(fraction(random) / 2 ** distance) * 2 ** distance;
      return [
        pack(random, exponent, fraction(random)),
        pack(random, exponent - distance, Math.min(high + low, ones - 1)),
      ];
    },
    // Around the greatest values.
    (random) => [
      pack(random, greatest, fraction(random)),
      pack(random, greatest - random(fractionBits + 3), fraction(random)),
    ],
    // Subnormals and the least normals.
    (random) => [
      pack(random, random(3), fraction(random)),
      pack(random, random(3), fraction(random)),
    ],
    // Cancellation: nearly the same bits, with another sign in half of the pairs.
    (random) => {
      const a = anyBits(random, width);
      return [a, near(a, random)];
    },
    (random) => {
      const a = anyBits(random, width);
      return [a, near((a + 2 ** (width - 1)) % 2 ** width, random)];
    },
  ];
}

/** Draws for products. */
function productDraws(format: Format): Draw[] {
  const { fractionBits, exponentBits } = format;
  const width = 1 + exponentBits + fractionBits;
  const pack = packer(format);
  const greatest = 2 ** exponentBits - 2;
  const bias = 2 ** (exponentBits - 1) - 1;
  const ones = 2 ** fractionBits;
  const fraction = (random: Random) => anyFraction(random, fractionBits);
  /** Two normals whose product has about this biased exponent. */
  const withProduct = (random: Random, exponent: number, m: number, n: number) => {
    const least = Math.max(1, exponent + bias - greatest);
    const most = Math.min(greatest, exponent + bias - 1);
    const own = least + random(Math.max(most - least + 1, 1));
    return [pack(random, own, m), pack(random, exponent + bias - own, n)] as const;
  };
  const inRange = (random: Random) => 2 + random(greatest - 3);
  return [
    (random) => [anyBits(random, width), anyBits(random, width)],
    (random) => withProduct(random, inRange(random), fraction(random), fraction(random)),
    // Overflow, and underflow to subnormals and to zero.
    (random) => withProduct(random, greatest - 1 + random(3), fraction(random), fraction(random)),
    (random) =>
      withProduct(random, 2 - random(fractionBits + 5), fraction(random), fraction(random)),
    // A subnormal operand.
    (random) => [
      pack(random, 0, fraction(random)),
      pack(random, bias - 4 + random(bias), fraction(random)),
    ],
    // Two odd numbers whose product has one bit more than a significand: the middle between two floats.
    (random) => {
      const bits = 2 + random(fractionBits - 1);
      const m = 2 ** bits + 2 * random(2 ** (bits - 1)) + 1;
      const rest = fractionBits + 1 - bits;
      const n = 2 ** rest + (rest === 0 ? 0 : 2 * random(2 ** (rest - 1)) + 1);
      const shifted = [
        m * 2 ** (fractionBits - bits) - ones,
        n * 2 ** (fractionBits - rest) - ones,
      ];
      return withProduct(
        random,
        random(4) === 0 ? random(3) : inRange(random),
        shifted[0],
        shifted[1],
      );
    },
    // The low bits of the product are the middle, or one more or less: n is (middle + -1..1) / m modulo a power of two.
    (random) => {
      const m = ones + 2 * random(ones / 2) + 1;
      const dropped = fractionBits + random(2);
      const low = 2 ** (dropped - 1) + random(3) - 1;
      const inverted = inverse(m, fractionBits + 1);
      const n = Number((BigInt(low) * BigInt(inverted)) % BigInt(2 ** dropped)) % ones;
      return withProduct(random, random(4) === 0 ? random(3) : inRange(random), m - ones, n);
    },
  ];
}

/** Zeros, ends of the subnormals and normals, infinities, NaNs, ones and what lies next to powers of two. */
function specials({ fractionBits, exponentBits }: Format): number[] {
  const one = 2 ** fractionBits;
  const infinity = (2 ** exponentBits - 1) * one;
  const bias = 2 ** (exponentBits - 1) - 1;
  const positive = [0, 1, 2, 3, one / 2, one - 1, one, one + 1, 2 * one - 1, 2 * one];
  for (const exponent of [fractionBits, bias - 1, bias, bias + 1, bias + fractionBits]) {
    positive.push(exponent * one - 1, exponent * one, exponent * one + 1);
  }
  positive.push(infinity - one, infinity - 2, infinity - 1, infinity, infinity + 1);
  positive.push(infinity + one / 2, infinity + one / 2 + 1, infinity + one - 1);
  const sign = 2 ** (fractionBits + exponentBits);
  return positive.flatMap((bits) => [bits, sign + bits]);
}

/** All pairs of special values first, then draws in turn. */
export function floatPairs(
  format: Format,
  isProduct: boolean,
  count: number,
  random: Random,
): Pairs {
  const special = specials(format);
  const draws = isProduct ? productDraws(format) : sumDraws(format);
  const a = new Uint32Array(count);
  const b = new Uint32Array(count);
  for (let p = 0; p < count; p++) {
    const [x, y] =
      p < special.length ** 2
        ? [special[p % special.length], special[Math.floor(p / special.length)]]
        : draws[p % draws.length](random);
    a[p] = x;
    b[p] = y;
  }
  return { a, b };
}

/** All pairs where the type has few; else ends of the range, small integers, neighbours and random bits. */
export function integerPairs(bits: number, count: number, random: Random): Pairs {
  const words = bits / 32;
  if (words === 2) {
    const a = Uint32Array.from({ length: 2 * count }, () => anyWord(random));
    const b = a.map((word) => (random(3) === 0 ? word : anyWord(random)));
    return { a, b };
  }
  const all = 2 ** bits;
  if (all ** 2 <= count) {
    const a = Uint32Array.from({ length: all ** 2 }, (_, p) => p % all);
    return { a, b: Uint32Array.from(a, (_, p) => Math.floor(p / all)) };
  }
  const a = Uint32Array.from({ length: count }, () => anyWord(random) % all);
  const b = a.map(
    (value) => (random(4) === 0 ? value + all + random(3) - 1 : anyWord(random)) % all,
  );
  return { a, b };
}

function anyWord(random: Random): number {
  switch (random(8)) {
    case 0:
      return 0;
    case 1:
      return 0xffffffff;
    case 2:
      return 0x80000000 - random(2);
    case 3:
      return 2 ** random(32);
    case 4:
      return 0x8000 - random(2);
    default:
      return random(2 ** 32);
  }
}

/** Counts of updates: 1 to 2^27, half of them powers of two and their neighbours or small. */
export function counts(length: number, random: Random): Uint32Array {
  return Uint32Array.from({ length }, () => {
    const exponent = random(28);
    if (random(2) === 0) return 1 + random(2 ** exponent);
    return Math.min(Math.max(2 ** exponent + random(3) - 1, 1), 2 ** 27);
  });
}

/** Sums to divide by `counts`: half of them next to the product of a count and a middle between two floats. */
export function floatSums(format: Format, counts: Uint32Array, random: Random): Uint32Array {
  const { fractionBits, exponentBits } = format;
  const pack = packer(format);
  const special = specials(format);
  const one = 2 ** fractionBits;
  return counts.map((count, p) => {
    if (p % 16 === 0) return special[random(special.length)];
    const exponent = random(2 ** exponentBits - 1);
    if (p % 16 < 5) return pack(random, exponent, anyFraction(random, fractionBits));
    // The quotient is subnormal, where the middle between two floats has few bits and counts divide it often.
    const least = random(Math.min(fractionBits + 30, 2 ** exponentBits - 2));
    if (p % 16 < 8) return pack(random, least, anyFraction(random, fractionBits));
    const middle = 2 * (one + random(one)) + 1;
    const product = middle * count;
    const units = product / 2 ** (Math.floor(Math.log2(product)) - fractionBits);
    const fraction = Math.min(Math.max(Math.floor(units) + random(2) - one, 0), one - 1);
    return pack(random, p % 2 === 0 ? exponent : least, fraction);
  });
}
