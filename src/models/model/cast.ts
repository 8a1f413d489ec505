/** Casts the elements of a tensor to another data type: ONNX's `Cast` and OpenVINO's `Convert`. */

import {
  allocate,
  DTYPES,
  integerRange,
  type DType,
  type Scalar,
} from "../../core/tensor/dtype.ts";
import { factOf, named, TensorError, type ErrorContext } from "../../core/errors.ts";
import { reader, writer } from "../../core/tensor/scalar.ts";
import { coordinatesOf } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";

/**
 * Truncates floats to integers and wraps integers around; everything but zero becomes true.
 * @throws TensorError `dtype` for complex numbers and text, and for floats outside the range of the integer type, for
 *   which neither specification defines a result
 */
export function castTensor(source: Tensor, dtype: DType, fields: ErrorContext): Tensor {
  if (source.dtype === dtype) return source;
  for (const one of [source.dtype, dtype]) {
    const { family } = DTYPES[one];
    if (family === "complex" || family === "string") {
      throw new TensorError("dtype", `${one} cannot be converted`, {
        ...named(fields, "to"),
        got: one,
      });
    }
  }
  const { shape, size } = source;
  const read = reader(source.dtype, source.data);
  const data = allocate(dtype, size);
  const write = writer(dtype, data);
  const range = integerRange(dtype);
  const isWhole = integerRange(source.dtype) !== null;
  const isTruth = DTYPES[dtype].family === "bool";
  for (let position = 0; position < size; position++) {
    const value = read(position);
    const cast = isTruth ? Number(value) !== 0 : castNumber(value, range, isWhole);
    if (!write(position, cast)) {
      throw new TensorError(
        "dtype",
        `${dtype} has no value for the ${String(value)} of the input`,
        {
          ...named(fields, "input"),
          at: coordinatesOf(position, shape),
          got: factOf(value),
          expected: dtype,
        },
      );
    }
  }
  return new Tensor(dtype, shape, size, data);
}

function castNumber(
  value: Scalar,
  range: readonly [low: bigint, high: bigint] | null,
  isWhole: boolean,
): number | bigint {
  const number = typeof value === "bigint" ? value : Number(value);
  if (range === null) return number;
  if (isWhole) {
    const [low, high] = range;
    const count = high - low + 1n;
    const steps = (BigInt(number) - low) % count;
    return low + (steps < 0n ? steps + count : steps);
  }
  const whole = Math.trunc(Number(number));
  return Number.isFinite(whole) ? BigInt(whole) : whole;
}
