/**
 * Simulates arithmetic that differs from the data type's normal arithmetic. Each float step is computed in float64 and
 * then rounded by the given functions. A computation in another data type converts its tensors before and after.
 */

import { absoluteOffsets, type Plan } from "../../core/plan/plan.ts";
import { combineNumbers } from "../../core/kernels/combine.ts";
import { DTYPES, allocate, plainStep, type DType, type Step } from "../../core/tensor/dtype.ts";
import { decodeHalf, encodeHalf, floatFormat, reader, writer } from "../../core/tensor/scalar.ts";
import { Tensor } from "../../core/tensor/tensor.ts";

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

/**
 * Encodes values as a tensor with the data type and shape of `like`. `plan` selects the elements to encode. All other
 * elements keep the bits of `like`.
 */
export function encode(like: Tensor, values: Float64Array, plan?: Plan): Tensor {
  const { dtype, shape, size } = like;
  const data = plan === undefined ? allocate(dtype, size) : (like.data.slice() as Tensor["data"]);
  const write = writer(dtype, data);
  if (plan === undefined) for (let p = 0; p < size; p++) write(p, values[p]);
  else {
    for (const offset of absoluteOffsets(plan)) {
      for (let t = offset; t < offset + plan.slice; t++) write(t, values[t]);
    }
  }
  return new Tensor(dtype, [...shape], size, data);
}

/** Returns the maximum relative error of one rounding, which is half of the gap between 1 and the next float. */
export const roundingError = (dtype: DType): number => 2 ** (-1 - floatFormat(dtype).fractionBits);

/** Returns the smallest positive normal value of a float type. */
export const leastNormal = (dtype: DType): number => 2 ** floatFormat(dtype).minExponent;

/** The greatest float32. */
const GREATEST = 2 ** 128 - 2 ** 104;

/**
 * Converts a tensor to another data type, as OpenVINO's CPU plugin does before a call, and back after the call. Integer
 * conversion keeps the low bits. Floats outside the range, including infinities, become the nearest bound.
 */
export function inType(given: Tensor, dtype: DType): Tensor {
  const { shape, size } = given;
  const data = allocate(dtype, size);
  const read = reader(given.dtype, given.data);
  const write = writer(dtype, data);
  const convert = converter(dtype);
  for (let p = 0; p < size; p++) write(p, convert(read(p)) as never);
  return new Tensor(dtype, [...shape], size, data);
}

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
