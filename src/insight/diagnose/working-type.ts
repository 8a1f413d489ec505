/**
 * Computation in another data type, as in OpenVINO's CPU plugin: elements are converted before the call, and the result
 * is converted back. Integers keep their low bits, and floats outside the range become its end.
 */

import { allocate, DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { reader, writer } from "../../core/tensor/scalar.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { hypothesis, type Hypothesis } from "./hypothesis.ts";
import type { Rule } from "./rule.ts";

/** The working types of OpenVINO 2026.4.1 that can be noticed in a result. */
const WORKING: Readonly<Partial<Record<DType, DType>>> = {
  int16: "int32",
  uint16: "int32",
  uint32: "int32",
  int64: "int32",
  uint64: "int32",
  float64: "float32",
};

/** The greatest float32. */
const GREATEST = 2 ** 128 - 2 ** 104;

/** Returns the tensor in another data type. */
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
  if (dtype === "float64") return (value) => value;
  if (dtype === "float32")
    return (value) => Math.fround(Math.max(-GREATEST, Math.min(GREATEST, Number(value))));
  const bits = 8 * DTYPES[dtype].bytes;
  const narrow = dtype.startsWith("u") ? BigInt.asUintN : BigInt.asIntN;
  return bits === 64
    ? (value) => narrow(bits, BigInt(value as number))
    : (value) => Number(narrow(bits, BigInt(value as number)));
}

/** Returns the type in which OpenVINO computes a call, or null for the type of data. */
function workingType({ data: { dtype }, call }: Rule): DType | null {
  // A difference of booleans is true unless it is 0. Sums of booleans are computed as logical operations.
  if (dtype === "bool") return call.settings.reduction === "sub" ? "uint8" : null;
  return WORKING[dtype] ?? null;
}

export const WORKING_TYPES: readonly Hypothesis[] = [
  hypothesis("other-type", "type", (rule) => {
    const type = workingType(rule);
    if (type === null) return [];
    return [[`elements of ${rule.data.dtype} were computed as ${type}`, { computedIn: type }]];
  }),
];
