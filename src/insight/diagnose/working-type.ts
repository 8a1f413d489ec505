/**
 * Simulates computation in another data type, as in OpenVINO's CPU plugin. Elements are converted before the call, and
 * the result is converted back. Integer conversion keeps the low bits. Floats outside the range, including infinities,
 * become the nearest bound.
 */

import { allocate, DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { reader, writer } from "../../core/tensor/scalar.ts";
import { Tensor } from "../../core/tensor/tensor.ts";

/** The greatest float32. */
const GREATEST = 2 ** 128 - 2 ** 104;

/** Converts a tensor to another data type. */
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
