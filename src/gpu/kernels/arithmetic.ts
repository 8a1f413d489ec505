/**
 * The arithmetic of the GPU engine, as WGSL text. Only integer operations are used, because float results differ
 * between devices.
 *
 * A shader module contains either `combine` or `divide`, because both texts define `Element`. The type `Element`
 * contains the zero-extended bits of an element, so -1 in int8 is 0xff. An element of 8 bytes is two words, low word
 * first.
 */

import {
  DTYPES,
  isArithmetic,
  isUnsigned,
  plainStep,
  type DType,
  type Family,
  type Step,
} from "../../core/tensor/dtype.ts";
import { floatFormat } from "../../core/tensor/scalar.ts";
import { boolCombine, intCombine, intDivide, wideCombine, wideDivide } from "./integers.ts";
import { floatCombine, floatDivide, floatNegated, type FloatFormat } from "./soft-float.ts";

type Combining = Exclude<Step, "none">;

interface Arithmetic {
  readonly combine: (dtype: DType, step: Combining) => string;
  /** Returns the text of `divide`; undefined for types without a mean. */
  readonly divide?: (dtype: DType) => string;
}

const bitsOf = (dtype: DType): number => 8 * DTYPES[dtype].bytes;
const isSigned = (dtype: DType): boolean => !isUnsigned(dtype);

function formatOf(dtype: DType): FloatFormat {
  const fractionBits = floatFormat(dtype).fractionBits;
  return { fractionBits, exponentBits: bitsOf(dtype) - 1 - fractionBits };
}

const FLOATS: Arithmetic = {
  combine: (dtype, step) => floatCombine(formatOf(dtype), step),
  divide: (dtype) => floatDivide(formatOf(dtype)),
};

const FAMILIES: Partial<Record<Family, Arithmetic>> = {
  float: FLOATS,
  half: FLOATS,
  int: {
    combine: (dtype, step) => intCombine(bitsOf(dtype), isSigned(dtype), plainStep(step)),
    divide: (dtype) => intDivide(bitsOf(dtype), isSigned(dtype)),
  },
  int64: {
    combine: (dtype, step) => wideCombine(isSigned(dtype), plainStep(step)),
    divide: (dtype) => wideDivide(isSigned(dtype)),
  },
  bool: { combine: (_dtype, step) => boolCombine(plainStep(step)) },
};

/**
 * Returns the arithmetic for a data type, or null for types without arithmetic on the GPU, such as text, complex
 * numbers and float64.
 */
function arithmeticOf(dtype: DType): Arithmetic | null {
  const { family } = DTYPES[dtype];
  if (!isArithmetic(dtype) || (family === "float" && bitsOf(dtype) > 32)) return null;
  return FAMILIES[family] ?? null;
}

/** Returns true if a GPU supports scatters with this reduction and data type. */
export const hasGpuArithmetic = (dtype: DType): boolean => arithmeticOf(dtype) !== null;

/**
 * Returns WGSL that defines `Element` and `fn combine(a: Element, b: Element) -> Element`, where `a` is data's value
 * and `b` the update.
 */
export function combineSource(dtype: DType, step: Step): string {
  const arithmetic = arithmeticOf(dtype);
  if (arithmetic === null || step === "none") throw new Error(`a GPU has no ${step} of ${dtype}`);
  return elementAlias(dtype) + arithmetic.combine(dtype, step);
}

/**
 * Returns WGSL that defines `Element` and `fn divide(sum: Element, count: u32) -> Element`, the last step of a mean,
 * for counts from 1 to 2^31 - 1. Float quotients are rounded to nearest even, and integer quotients are rounded down.
 */
export function divideSource(dtype: DType): string {
  const source = arithmeticOf(dtype)?.divide?.(dtype);
  if (source === undefined) throw new Error(`a GPU has no mean of ${dtype}`);
  return elementAlias(dtype) + source;
}

/** Returns WGSL that defines `fn negated(a: u32) -> u32`, which negates a float, given as bits. */
export const negatedSource = (dtype: DType): string => floatNegated(formatOf(dtype));

const elementAlias = (dtype: DType): string =>
  `alias Element = ${bitsOf(dtype) > 32 ? "vec2<u32>" : "u32"};\n`;
