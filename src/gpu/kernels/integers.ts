/**
 * Provides arithmetic on wrapping integers, as WGSL text. An integer of at most 32 bits is a zero-extended word,
 * because the low bits of sums and products do not depend on the sign. A 64-bit integer is two words, low word first.
 */

import type { PlainStep } from "../../core/tensor/dtype.ts";

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

type Combining = Exclude<PlainStep, "none">;

/** Returns WGSL that defines `combine` without `Element`, for integers of 8, 16 and 32 bits. */
export function intCombine(bits: number, isSigned: boolean, step: Combining): string {
  const [a, b] = ["a", "b"].map((name) => ordered(name, bits, isSigned));
  const results: Record<Combining, string> = {
    add: narrowed(bits, "a + b"),
    sub: narrowed(bits, "a - b"),
    mul: narrowed(bits, "a * b"),
    max: `select(a, b, ${a} < ${b})`,
    min: `select(a, b, ${a} > ${b})`,
  };
  return body("combine(a: Element, b: Element)", results[step]);
}

/**
 * Returns an expression for a word that compares like the integer. Flipping the sign bit converts the order of signed
 * integers to that of unsigned integers.
 */
const ordered = (word: string, bits: number, isSigned: boolean): string =>
  isSigned ? `(${word} ^ ${2 ** (bits - 1)}u)` : word;

/**
 * Returns WGSL that defines `divide` without `Element`, for integers of 8, 16 and 32 bits. The result is the floor of
 * the quotient.
 */
export function intDivide(bits: number, isSigned: boolean): string {
  if (!isSigned) return body("divide(sum: Element, count: u32)", "sum / count");
  const unused = 32 - bits;
  // If a is negative, ~a is -a - 1, so floor(a / n) is ~(~a / n).
  return /* wgsl */ `
fn divide(sum: Element, count: u32) -> Element {
  let sign = u32(i32(sum << ${unused}u) >> 31u);
  let extended = u32(i32(sum << ${unused}u) >> ${unused}u);
  return ${narrowed(bits, "((extended ^ sign) / count) ^ sign")};
}`;
}

const narrowed = (bits: number, expression: string): string =>
  bits === 32 ? expression : `(${expression}) & ${2 ** bits - 1}u`;

/** Returns WGSL that defines `combine` without `Element`, for 64-bit integers. */
export function wideCombine(isSigned: boolean, step: Combining): string {
  const [aHigh, bHigh] = ["a.y", "b.y"].map((name) => ordered(name, 32, isSigned));
  const isLess = `select(${aHigh} < ${bHigh}, a.x < b.x, a.y == b.y)`;
  const results: Record<Combining, string> = {
    add: "vec2<u32>(a.x + b.x, a.y + b.y + select(0u, 1u, a.x + b.x < a.x))",
    sub: "vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x))",
    mul: "vec2<u32>(a.x * b.x, highProduct(a.x, b.x) + a.y * b.x + a.x * b.y)",
    max: `select(a, b, ${isLess})`,
    min: `select(b, a, ${isLess})`,
  };
  const combine = body("combine(a: Element, b: Element)", results[step]);
  return step === "mul" ? HIGH_PRODUCT + combine : combine;
}

/**
 * Returns WGSL that defines `divide` without `Element`, for 64-bit integers and counts less than 2^31. The result is
 * the floor of the quotient. The high word is divided directly, and the low word by long division, bit by bit.
 */
export function wideDivide(isSigned: boolean): string {
  return /* wgsl */ `
fn divide(sum: Element, count: u32) -> Element {
  let sign = ${isSigned ? "u32(i32(sum.y) >> 31u)" : "0u"};
  let low = sum.x ^ sign;
  let high = sum.y ^ sign;
  var remainder = high % count;
  var quotient = 0u;
  for (var i = 0u; i < 32u; i++) {
    remainder = (remainder << 1u) | ((low >> (31u - i)) & 1u);
    let isBit = remainder >= count;
    remainder -= select(0u, count, isBit);
    quotient = (quotient << 1u) | select(0u, 1u, isBit);
  }
  return vec2<u32>(quotient ^ sign, (high / count) ^ sign);
}`;
}

/** Returns WGSL that defines `combine` for booleans, which are 0 or 1. */
export const boolCombine = (step: Combining): string =>
  body("combine(a: Element, b: Element)", BOOL_RESULTS[step]);

const BOOL_RESULTS: Record<Combining, string> = {
  add: "a | b",
  max: "a | b",
  mul: "a & b",
  min: "a & b",
  sub: "a ^ b",
};

const body = (head: string, result: string): string => `
fn ${head} -> Element {
  return ${result};
}`;
