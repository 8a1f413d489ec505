/**
 * Reads the cells of a result: compares them with other cells, and combines, rounds and converts their values, also
 * with arithmetic that differs from the data type's normal arithmetic. All NaN values are considered equal.
 */

import { combineNumbers } from "../../core/kernels/combine.ts";
import { absoluteOffsets, type Plan } from "../../core/plan/plan.ts";
import {
  allocate,
  DTYPES,
  isNumericStorage,
  plainStep,
  viewOf,
  type DType,
  type Step,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { decodeHalf, encodeHalf, floatFormat, reader, writer } from "../../core/tensor/scalar.ts";
import { Tensor } from "../../core/tensor/tensor.ts";

/** Tensor cells in a form that can be compared with cells of the same data type. */
export interface Cells {
  readonly count: number;
  readonly words: ArrayLike<number | string>;
  /** Number of words per cell. */
  readonly per: number;
}

export function cellsOf(tensor: Tensor): Cells {
  const words = wordsOf(tensor);
  return { count: tensor.size, words, per: tensor.size === 0 ? 1 : words.length / tensor.size };
}

/** Returns true if a cell contains the same value as a cell of other cells, by default at the same position. */
export function isSame(a: Cells, b: Cells, cell: number, otherCell = cell): boolean {
  const { per } = a;
  for (let w = 0; w < per; w++) {
    if (a.words[cell * per + w] !== b.words[otherCell * per + w]) return false;
  }
  return true;
}

/** Returns the positions of differing cells. */
export function differingCells(a: Cells, b: Cells): Uint32Array {
  const found = new Uint32Array(a.count);
  let count = 0;
  for (let cell = 0; cell < a.count; cell++) if (!isSame(a, b, cell)) found[count++] = cell;
  return found.slice(0, count);
}

/** Returns true if two tensors of the same data type and size differ. */
export const differ = (a: Tensor, b: Tensor): boolean =>
  differingCells(cellsOf(a), cellsOf(b)).length > 0;

/** Returns element bits as words of at most 32 bits, with identical bits for every NaN. Text does not change. */
function wordsOf({ dtype, data }: Tensor): ArrayLike<number | string> {
  if (!isNumericStorage(data)) return data;
  const { family } = DTYPES[dtype];
  if (family === "half") {
    const read = reader(dtype, data);
    return (data as Uint16Array).map((bits, p) => (Number.isNaN(read(p)) ? 0x7fff : bits));
  }
  const numbers = family === "float" || family === "complex" ? withOneNaN(data) : data;
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: bytes } = numbers;
  const words = bytes === 1 ? "uint8" : bytes === 2 ? "uint16" : "uint32";
  return viewOf(words, buffer, byteOffset, byteLength / Math.min(bytes, 4)) as Uint32Array;
}

function withOneNaN(data: Storage): Float32Array | Float64Array {
  const floats = data as Float32Array | Float64Array;
  const isNarrow = floats instanceof Float32Array;
  const same = floats.slice();
  const words = new Uint32Array(same.buffer);
  for (let p = 0; p < same.length; p++) {
    if (same[p] === same[p]) continue;
    // NaN is stored as explicit bits, because the bits of JavaScript's NaN depend on the machine.
    if (isNarrow) words[p] = 0x7fc00000;
    else [words[2 * p], words[2 * p + 1]] = [0, 0x7ff80000];
  }
  return same;
}

export type Value = number | bigint;

/** Returns a reader for numbers and bigints, or null for data types with other values. */
export const valuesOf = ({ dtype, data }: Tensor): ((element: number) => Value) | null =>
  ["float", "half", "int", "int64"].includes(DTYPES[dtype].family)
    ? (reader(dtype, data) as (element: number) => Value)
    : null;

/**
 * Returns a function that combines two values. Integers wrap at the limits of their data type. Floats are computed in
 * float64 without rounding.
 */
export function combinerOf(dtype: DType, step: Step): (a: Value, b: Value) => Value {
  if (step === "none") return (_, b) => b;
  const { family } = DTYPES[dtype];
  const combine =
    family === "int64"
      ? (BIGINTS[plainStep(step)] as (a: Value, b: Value) => Value)
      : (a: Value, b: Value) => combineNumbers(step, Number(a), Number(b));
  if (family !== "int" && family !== "int64") return combine;
  // An array of the data type wraps the values that are written to it.
  const wrapped = allocate(dtype, 1);
  return (a, b) => {
    wrapped[0] =
      family === "int" && step === "mul" ? Math.imul(Number(a), Number(b)) : combine(a, b);
    return wrapped[0] as Value;
  };
}

const BIGINTS = {
  add: (a: bigint, b: bigint) => a + b,
  sub: (a: bigint, b: bigint) => a - b,
  mul: (a: bigint, b: bigint) => a * b,
  max: (a: bigint, b: bigint) => (a > b ? a : b),
  min: (a: bigint, b: bigint) => (a < b ? a : b),
};

/** Performs the steps of a scatter. The functions modify `out`, which initially contains the values of data. */
export interface Machine<S> {
  apply(plan: Plan, step: Step, updates: S, out: S): void;
  divide(out: S, plan: Plan, counts: Uint32Array): void;
}

export type Compare = (which: "max" | "min", data: number, update: number) => number;

/** Functions that replace parts of a float type's normal arithmetic. Omitted parts are normal. */
export interface Arithmetic {
  /** Converts every operand before a step. */
  readonly read?: (value: number) => number;
  /** Compares operands in a max or min. */
  readonly compare?: Compare;
  /** Rounds each step's result. */
  readonly round?: (value: number) => number;
  /** Converts every element of the final result. */
  readonly finish?: (value: number) => number;
}

const same = (value: number): number => value;

/** Returns a machine that rounds to `dtype` after each step, with the given parts replaced. */
export function machineOf(dtype: DType, parts: Arithmetic): Machine<Float64Array> {
  const { read = same, compare, round = rounderOf(dtype) } = parts;
  const combine = (step: Exclude<Step, "none">, a: number, b: number): number => {
    const plain = plainStep(step);
    return compare !== undefined && (plain === "max" || plain === "min")
      ? compare(plain, a, b)
      : combineNumbers(step, a, b);
  };
  return {
    apply(plan, step, updates, out) {
      const offsets = absoluteOffsets(plan);
      const { slice, source } = plan;
      for (let p = 0; p < offsets.length; p++) {
        let u = (source === undefined ? p : source[p]) * slice;
        let t = offsets[p];
        for (const end = t + slice; t < end; t++, u++) {
          out[t] =
            step === "none" ? updates[u] : round(combine(step, read(out[t]), read(updates[u])));
        }
      }
    },
    divide(out, { offsets, slice }, counts) {
      for (let p = 0; p < offsets.length; p++) {
        for (let t = offsets[p]; t < offsets[p] + slice; t++) out[t] = round(out[t] / counts[p]);
      }
    },
  };
}

/** Returns a function that rounds to the nearest value of a float type, with ties to even. */
export function rounderOf(dtype: DType): (value: number) => number {
  if (dtype === "float64") return same;
  if (dtype === "float32") return Math.fround;
  const format = floatFormat(dtype);
  return (value) => decodeHalf(encodeHalf(Math.fround(value), format), format);
}

/** Converts a float tensor to float64 values. */
export function decode({ dtype, size, data }: Tensor): Float64Array {
  if (DTYPES[dtype].family === "float") return Float64Array.from(data as Float32Array);
  const read = reader(dtype, data);
  const values = new Float64Array(size);
  for (let p = 0; p < size; p++) values[p] = Number(read(p));
  return values;
}

/** Returns a tensor with the bits of `like`, except for the elements that `plan` selects, which are encoded. */
export function encode(like: Tensor, values: Float64Array, plan: Plan): Tensor {
  const { dtype, shape, size } = like;
  const data = like.data.slice() as Tensor["data"];
  const write = writer(dtype, data);
  for (const offset of absoluteOffsets(plan)) {
    for (let t = offset; t < offset + plan.slice; t++) write(t, values[t]);
  }
  return new Tensor(dtype, [...shape], size, data);
}

/** Returns the maximum relative error of one rounding, which is half of the gap between 1 and the next float. */
export const roundingError = (dtype: DType): number => 2 ** (-1 - floatFormat(dtype).fractionBits);

/** Returns the smallest positive normal value of a float type. */
export const leastNormal = (dtype: DType): number => 2 ** floatFormat(dtype).minExponent;

/** The greatest float32. */
const GREATEST = 2 ** 128 - 2 ** 104;

/** Returns a tensor of a data type, with each element of another tensor converted. */
export function mapped(given: Tensor, dtype: DType, convert: (value: never) => unknown): Tensor {
  const { shape, size } = given;
  const data = allocate(dtype, size);
  const read = reader(given.dtype, given.data);
  const write = writer(dtype, data);
  for (let p = 0; p < size; p++) write(p, convert(read(p) as never));
  return new Tensor(dtype, [...shape], size, data);
}

/**
 * Converts a tensor to another data type, as OpenVINO's CPU plugin does before a call, and back after the call. Integer
 * conversion keeps the low bits. Floats outside the range, including infinities, become the nearest bound.
 */
export const inType = (given: Tensor, dtype: DType): Tensor =>
  mapped(given, dtype, converter(dtype));

function converter(dtype: DType): (value: unknown) => unknown {
  if (dtype === "bool") return (value) => value !== 0;
  if (dtype === "float32" || dtype === "float64")
    return (value) => Math.fround(Math.max(-GREATEST, Math.min(GREATEST, Number(value))));
  const bits = 8 * DTYPES[dtype].bytes;
  const narrow = dtype.startsWith("u") ? BigInt.asUintN : BigInt.asIntN;
  return bits === 64
    ? (value) => narrow(bits, BigInt(value as number))
    : (value) => Number(narrow(bits, BigInt(value as number)));
}
