/**
 * The arithmetic of the GPU engine, and the access to elements in 32-bit words, as WGSL text. Only integer operations
 * are used, because float results differ between devices.
 *
 * A shader module contains either `combine` or `divide`, because both texts define `Element`. The type `Element`
 * contains the zero-extended bits of an element, so -1 in int8 is 0xff. An element of 8 bytes is two words, low word
 * first. Integers wrap, and the low bits of their sums and products do not depend on the sign.
 *
 * A word holds several elements of 1 or 2 bytes, which may belong to different invocations, so part of a word is
 * changed with an atomic exclusive or. The owner computes the operand from the element's old bits.
 */

import {
  DTYPES,
  isArithmetic,
  isUnsigned,
  plainStep,
  type DType,
  type PlainStep,
  type Step,
} from "../../core/tensor/dtype.ts";
import { floatFormat } from "../../core/tensor/scalar.ts";
import type { BufferKind } from "./kernel.ts";
import {
  floatCombine,
  floatDivide,
  floatNegated,
  HIGH_PRODUCT,
  type FloatFormat,
} from "./soft-float.ts";

const bitsOf = (dtype: DType): number => 8 * DTYPES[dtype].bytes;
const isFloat = ({ family }: (typeof DTYPES)[DType]): boolean =>
  family === "float" || family === "half";

function formatOf(dtype: DType): FloatFormat {
  const fractionBits = floatFormat(dtype).fractionBits;
  return { fractionBits, exponentBits: bitsOf(dtype) - 1 - fractionBits };
}

/**
 * Returns true if a GPU supports scatters with a reduction of this data type, which excludes text, complex numbers and
 * float64.
 */
export function hasGpuArithmetic(dtype: DType): boolean {
  const { family } = DTYPES[dtype];
  return isArithmetic(dtype) && family !== "string" && family !== "complex" && dtype !== "float64";
}

/**
 * Returns WGSL that defines `Element` and `fn combine(a: Element, b: Element) -> Element`, where `a` is data's value
 * and `b` the update.
 */
export function combineSource(dtype: DType, step: Step): string {
  if (!hasGpuArithmetic(dtype) || step === "none")
    throw new Error(`a GPU has no ${step} of ${dtype}`);
  const row = DTYPES[dtype];
  if (isFloat(row)) return elementAlias(dtype) + floatCombine(formatOf(dtype), step);
  const plain = plainStep(step);
  const { family } = row;
  const results =
    family === "bool" ? BOOL_RESULTS : family === "int64" ? wideResults(dtype) : intResults(dtype);
  const high = family === "int64" && plain === "mul" ? HIGH_PRODUCT : "";
  return `${elementAlias(dtype)}${high}
fn combine(a: Element, b: Element) -> Element {
  return ${results[plain]};
}`;
}

/** The results of all steps with the operands `a` and `b`. */
type Results = Readonly<Record<Exclude<PlainStep, "none">, string>>;

/** Booleans are 0 or 1. */
const BOOL_RESULTS: Results = {
  add: "a | b",
  max: "a | b",
  mul: "a & b",
  min: "a & b",
  sub: "a ^ b",
};

/** Returns the results of integers of at most 32 bits. */
function intResults(dtype: DType): Results {
  const [a, b] = [ordered("a", dtype), ordered("b", dtype)];
  return {
    add: narrowed(dtype, "a + b"),
    sub: narrowed(dtype, "a - b"),
    mul: narrowed(dtype, "a * b"),
    max: `select(a, b, ${a} < ${b})`,
    min: `select(a, b, ${a} > ${b})`,
  };
}

/** Returns the results of 64-bit integers. */
function wideResults(dtype: DType): Results {
  const [aHigh, bHigh] = [ordered("a.y", dtype), ordered("b.y", dtype)];
  const isLess = `select(${aHigh} < ${bHigh}, a.x < b.x, a.y == b.y)`;
  return {
    add: "vec2<u32>(a.x + b.x, a.y + b.y + select(0u, 1u, a.x + b.x < a.x))",
    sub: "vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x))",
    mul: "vec2<u32>(a.x * b.x, highProduct(a.x, b.x) + a.y * b.x + a.x * b.y)",
    max: `select(a, b, ${isLess})`,
    min: `select(b, a, ${isLess})`,
  };
}

/**
 * Returns an expression for the highest word of an integer that compares like the integer. Flipping the sign bit
 * converts the order of signed integers to that of unsigned integers.
 */
const ordered = (word: string, dtype: DType): string =>
  isUnsigned(dtype) ? word : `(${word} ^ ${2 ** (Math.min(bitsOf(dtype), 32) - 1)}u)`;

const narrowed = (dtype: DType, expression: string): string =>
  bitsOf(dtype) === 32 ? expression : `(${expression}) & ${2 ** bitsOf(dtype) - 1}u`;

/**
 * Returns WGSL that defines `Element` and `fn divide(sum: Element, count: u32) -> Element`, the last step of a mean,
 * for counts from 1 to 2^31 - 1. Float quotients are rounded to nearest even, and integer quotients are rounded down.
 */
export function divideSource(dtype: DType): string {
  const row = DTYPES[dtype];
  if (!hasGpuArithmetic(dtype) || row.family === "bool")
    throw new Error(`a GPU has no mean of ${dtype}`);
  const alias = elementAlias(dtype);
  if (isFloat(row)) return alias + floatDivide(formatOf(dtype));
  return alias + (row.family === "int64" ? wideDivide(dtype) : intDivide(dtype));
}

/** Returns WGSL that defines `divide` without `Element`, for integers of 8, 16 and 32 bits. */
function intDivide(dtype: DType): string {
  const unused = 32 - bitsOf(dtype);
  const [sign, extended] = isUnsigned(dtype)
    ? ["0u", "sum"]
    : [31, unused].map((shift) => `u32(i32(sum << ${unused}u) >> ${shift}u)`);
  // If a is negative, ~a is -a - 1, so floor(a / n) is ~(~a / n).
  return /* wgsl */ `
fn divide(sum: Element, count: u32) -> Element {
  let sign = ${sign};
  return ${narrowed(dtype, `((${extended} ^ sign) / count) ^ sign`)};
}`;
}

/**
 * Returns WGSL that defines `divide` without `Element`, for 64-bit integers. The high word is divided directly, and the
 * low word by long division, bit by bit.
 */
const wideDivide = (dtype: DType): string => /* wgsl */ `
fn divide(sum: Element, count: u32) -> Element {
  let sign = ${isUnsigned(dtype) ? "0u" : "u32(i32(sum.y) >> 31u)"};
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

/** Returns WGSL that defines `fn negated(a: u32) -> u32`, which negates a float, given as bits. */
export const negatedSource = (dtype: DType): string => floatNegated(formatOf(dtype));

const elementAlias = (dtype: DType): string =>
  `alias Element = ${bitsOf(dtype) > 32 ? "vec2<u32>" : "u32"};\n`;

/** Returns the number of elements per word, which is 1 for elements of at least 4 bytes. */
export const perWordOf = (dtype: DType): 1 | 2 | 4 => {
  const { bytes } = DTYPES[dtype];
  return bytes === 1 ? 4 : bytes === 2 ? 2 : 1;
};

/** Returns WGSL functions that find the word of an element, and the element's bits in this word. */
export const laneSource = (perWord: 1 | 2 | 4): string => `
const MASK = ${2 ** (32 / perWord) - 1}u;
fn wordOf(element: u32) -> u32 { return element / ${perWord}u; }
fn shiftOf(element: u32) -> u32 { return (element % ${perWord}u) * ${32 / perWord}u; }`;

/** WGSL for reading an element, and for writing an element that no other invocation writes. */
interface Access {
  /** Returns the element `at` of a buffer that is only read. */
  read(buffer: string, at: string): string;
  /** The element `to` of `out`. */
  readonly old: string;
  /** Replaces `before` with `value` at `to`. */
  readonly store: string;
  /** The kind of the buffer `out`. */
  readonly kind: BufferKind;
  readonly declarations: string;
}

/** Returns the access to elements of at most 8 bytes. */
export function accessOf(dtype: DType): Access {
  const perWord = perWordOf(dtype);
  if (perWord !== 1) {
    return {
      read: (buffer, at) => `(${buffer}[wordOf(${at})] >> shiftOf(${at})) & MASK`,
      // Other invocations may change the rest of the word.
      old: "(atomicLoad(&out[wordOf(to)]) >> shiftOf(to)) & MASK",
      store: "atomicXor(&out[wordOf(to)], (before ^ value) << shiftOf(to));",
      kind: "atomic",
      declarations: laneSource(perWord),
    };
  }
  const isWide = DTYPES[dtype].bytes === 8;
  const read = (buffer: string, at: string): string =>
    isWide ? `vec2(${buffer}[2u * ${at}], ${buffer}[2u * ${at} + 1u])` : `${buffer}[${at}]`;
  const store = isWide
    ? "out[2u * to] = value.x; out[2u * to + 1u] = value.y;"
    : "out[to] = value;";
  return { read, old: read("out", "to"), store, kind: "write", declarations: "" };
}
