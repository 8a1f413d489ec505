/**
 * Implements the arithmetic of floats of at most 32 bits with integer operations, as WGSL text. WGSL floats do not
 * guarantee exact bits: devices may flush subnormals, ignore the sign of zero and assume that NaN does not occur
 * (section 15.7).
 *
 * All formats use the same text. Each step computes the exact result, or enough bits with a sticky last bit, and rounds
 * once to nearest even. For float16 and bfloat16, the result equals that of a float32 step that is rounded again,
 * because 24 bits are at least 2 * 11 + 2. If an operand is NaN, the result is the canonical quiet NaN.
 *
 * Except for one loop, the functions contain no branches: `select` computes both alternatives, which is faster than
 * divergent invocations and compiles faster.
 */

import type { CHOICES, Step } from "../../core/tensor/dtype.ts";

/** A binary interchange format (IEEE 754-2019, section 3.4), described by the widths of its fields. */
export interface FloatFormat {
  readonly fractionBits: number;
  readonly exponentBits: number;
}

/** Returns WGSL that defines `combine` without `Element`. */
export function floatCombine(format: FloatFormat, step: Exclude<Step, "none">): string {
  const { sign } = masks(format);
  switch (step) {
    case "add":
      return floatSum(format, "b");
    case "sub":
      // Flipping the sign of a NaN gives a NaN.
      return floatSum(format, `b ^ ${hex(sign)}`);
    case "mul":
      return floatProduct(format);
    case "max":
    case "min":
      return floatExtreme(format, step);
    default:
      return floatChoice(format, step);
  }
}

function floatSum(format: FloatFormat, addend: string): string {
  const { fractionBits } = format;
  const { sign, magnitude, infinity, nan } = masks(format);
  // Bit 31 holds the carry. At least two bits follow the fraction, and `shiftSticky` combines the rest in the last bit.
  const shift = 30 - fractionBits;
  return /* wgsl */ `
${floatParts(format)}
${floatRounded(format)}
fn combine(a: Element, b: Element) -> Element {
  return floatSum(a, ${addend});
}
fn floatSum(a: u32, b: u32) -> u32 {
  let isGreater = (a & ${hex(magnitude)}) >= (b & ${hex(magnitude)});
  let great = select(b, a, isGreater);
  let small = select(a, b, isGreater) & ${hex(magnitude)};
  let largest = great & ${hex(magnitude)};
  let exponent = floatExponent(largest);
  let far = floatSignificand(largest) << ${shift}u;
  let near = shiftSticky(floatSignificand(small) << ${shift}u, u32(exponent - floatExponent(small)));
  let isDifference = ((a ^ b) & ${hex(sign)}) != 0u;
  let total = select(far + near, far - near, isDifference);
  let signBit = select(great, a & b, total == 0u) & ${hex(sign)};
  let finite = floatRounded(signBit, exponent + 1, total);
  let isNaN = largest > ${hex(infinity)} || (small == ${hex(infinity)} && isDifference);
  return select(select(finite, great, largest == ${hex(infinity)}), ${hex(nan)}, isNaN);
}`;
}

function floatProduct(format: FloatFormat): string {
  const { fractionBits } = format;
  const { sign, magnitude, infinity, nan, bias } = masks(format);
  // The product of two significands of at most 16 bits is exact in 32 bits; for longer significands, the last bit is
  // sticky.
  const isExact = fractionBits < 16;
  const high = isExact
    ? "(p >> 16u) * (q >> 16u)"
    : "highProduct(p, q) | select(0u, 1u, p * q != 0u)";
  return /* wgsl */ `
${isExact ? "" : HIGH_PRODUCT}
${floatParts(format)}
${floatRounded(format)}
fn combine(a: Element, b: Element) -> Element {
  let x = a & ${hex(magnitude)};
  let y = b & ${hex(magnitude)};
  let xZeros = countLeadingZeros(floatSignificand(x));
  let yZeros = countLeadingZeros(floatSignificand(y));
  let p = floatSignificand(x) << (xZeros & 31u);
  let q = floatSignificand(y) << (yZeros & 31u);
  let exponent = floatExponent(x) + floatExponent(y) - i32(xZeros + yZeros);
  let signBit = (a ^ b) & ${hex(sign)};
  let finite = floatRounded(signBit, exponent + ${2 * (31 - fractionBits) + 1 - bias}, ${high});
  let largest = max(x, y);
  let isNaN = largest > ${hex(infinity)} || (largest == ${hex(infinity)} && min(x, y) == 0u);
  return select(select(finite, signBit | ${hex(infinity)}, largest == ${hex(infinity)}), ${hex(nan)}, isNaN);
}`;
}

/**
 * Returns WGSL for `max` or `min`, which compares bits as integers, so that -0 is less than 0, as in IEEE's maximum and
 * minimum.
 */
function floatExtreme(format: FloatFormat, step: "max" | "min"): string {
  const { sign, magnitude, infinity, nan } = masks(format);
  return /* wgsl */ `
fn floatKey(a: u32) -> u32 {
  return select(a | ${hex(sign)}, a ^ ${hex(sign | magnitude)}, (a & ${hex(sign)}) != 0u);
}
fn combine(a: Element, b: Element) -> Element {
  let isNaN = max(a & ${hex(magnitude)}, b & ${hex(magnitude)}) > ${hex(infinity)};
  return select(select(a, b, floatKey(a) ${step === "max" ? "<" : ">"} floatKey(b)), ${hex(nan)}, isNaN);
}`;
}

/**
 * Returns WGSL for a max or min that returns one of its operands unchanged. For NaN and equal values, the result is
 * `a`, data's value, or `b`, the update, according to the step.
 */
function floatChoice(
  { fractionBits, exponentBits }: FloatFormat,
  step: (typeof CHOICES)[number],
): string {
  const { sign, magnitude, infinity } = masks({ fractionBits, exponentBits });
  const [kept, other] = step.endsWith("_data") ? ["a", "b"] : ["b", "a"];
  const order = step.startsWith("max") ? ">" : "<";
  // Both 0 and -0 have the sign bit as their key.
  return /* wgsl */ `
fn floatKey(a: u32) -> u32 {
  let size = a & ${hex(magnitude)};
  return select(${hex(sign)} + size, ${hex(sign)} - size, (a & ${hex(sign)}) != 0u);
}
fn combine(a: Element, b: Element) -> Element {
  let isNumber = max(a & ${hex(magnitude)}, b & ${hex(magnitude)}) <= ${hex(infinity)};
  return select(${kept}, ${other}, isNumber && floatKey(${other}) ${order} floatKey(${kept}));
}`;
}

/** Returns WGSL that defines `negated`. */
export function floatNegated(format: FloatFormat): string {
  const { sign, magnitude, infinity, nan } = masks(format);
  return /* wgsl */ `
fn negated(a: u32) -> u32 {
  return select(a ^ ${hex(sign)}, ${hex(nan)}, (a & ${hex(magnitude)}) > ${hex(infinity)});
}`;
}

/** Returns WGSL that defines `divide` without `Element`, for counts less than 2^31, by long division, bit by bit. */
export function floatDivide(format: FloatFormat): string {
  const { fractionBits } = format;
  const { sign, magnitude, infinity, nan } = masks(format);
  // The quotient exceeds 1/2, so its first or second bit is set, followed by the fraction, a rounding bit and the
  // sticky bit.
  const steps = fractionBits + 4;
  return /* wgsl */ `
${floatParts(format)}
${floatRounded(format)}
fn divide(sum: Element, count: u32) -> Element {
  let x = sum & ${hex(magnitude)};
  let xZeros = countLeadingZeros(floatSignificand(x));
  let countZeros = countLeadingZeros(count);
  // The leading bits of the dividend and the divisor are at position 30, so twice the remainder fits in a word.
  let divisor = count << (countZeros - 1u);
  var remainder = (floatSignificand(x) << (xZeros & 31u)) >> 1u;
  var quotient = 0u;
  for (var i = 0u; i < ${steps}u; i++) {
    let isBit = remainder >= divisor;
    remainder = (remainder - select(0u, divisor, isBit)) << 1u;
    quotient = (quotient << 1u) | select(0u, 1u, isBit);
  }
  let exponent = floatExponent(x) + i32(countZeros) - i32(xZeros);
  let signBit = sum & ${hex(sign)};
  let significand = quotient | select(0u, 1u, remainder != 0u);
  let finite = floatRounded(signBit, exponent + ${31 - fractionBits + 1 - steps}, significand);
  return select(select(finite, sum, x == ${hex(infinity)}), ${hex(nan)}, x > ${hex(infinity)});
}`;
}

/**
 * Returns WGSL for the significand of a magnitude, including the leading one, and for the biased exponent, which is 1
 * for subnormals.
 */
function floatParts({ fractionBits }: FloatFormat): string {
  const one = 2 ** fractionBits;
  return /* wgsl */ `
fn floatSignificand(magnitude: u32) -> u32 {
  return (magnitude & ${hex(one - 1)}) | select(0u, ${hex(one)}, magnitude >= ${hex(one)});
}
fn floatExponent(magnitude: u32) -> i32 {
  return i32(max(magnitude >> ${fractionBits}u, 1u));
}`;
}

/**
 * Returns WGSL that rounds `significand` to the nearest float. Bit 31 has the biased exponent `exponent`, and the last
 * bit may be sticky. A carry from the fraction correctly increments the exponent, up to infinity.
 */
function floatRounded(format: FloatFormat): string {
  const { fractionBits, exponentBits } = format;
  const { infinity } = masks(format);
  const dropped = 31 - fractionBits;
  return /* wgsl */ `
fn shiftSticky(bits: u32, distance: u32) -> u32 {
  let shift = min(distance, 31u);
  return (bits >> shift) | select(0u, 1u, (bits & ((1u << shift) - 1u)) != 0u);
}
fn floatRounded(signBit: u32, exponent: i32, significand: u32) -> u32 {
  let zeros = countLeadingZeros(significand);
  let biased = select(exponent - i32(zeros), 0, significand == 0u);
  let kept = shiftSticky(significand << (zeros & 31u), u32(max(1 - biased, 0)));
  let units = kept >> ${dropped}u;
  let roundUp = ((kept & ${hex(2 ** dropped - 1)}) + ${hex(2 ** (dropped - 1) - 1)} + (units & 1u)) >> ${dropped}u;
  let bits = (u32(max(biased, 1) - 1) << ${fractionBits}u) + units + roundUp;
  return signBit | select(bits, ${hex(infinity)}, biased >= ${2 ** exponentBits - 1});
}`;
}

function masks({ fractionBits, exponentBits }: FloatFormat) {
  const sign = 2 ** (fractionBits + exponentBits);
  const infinity = sign - 2 ** fractionBits;
  return {
    sign,
    magnitude: sign - 1,
    infinity,
    nan: infinity + 2 ** (fractionBits - 1),
    bias: 2 ** (exponentBits - 1) - 1,
  };
}

const hex = (bits: number): string => `0x${(bits >>> 0).toString(16)}u`;

/** A WGSL function that computes the high word of a product of two words, from products of their halves. */
export const HIGH_PRODUCT = /* wgsl */ `
fn highProduct(a: u32, b: u32) -> u32 {
  let aLow = a & 0xffffu;
  let aHigh = a >> 16u;
  let bLow = b & 0xffffu;
  let bHigh = b >> 16u;
  let middle = aHigh * bLow + ((aLow * bLow) >> 16u);
  let carry = aLow * bHigh + (middle & 0xffffu);
  return aHigh * bHigh + (middle >> 16u) + (carry >> 16u);
}`;
