/** Converts a tensor's elements to another data type, as ONNX's `Cast` and OpenVINO's `Convert` define. */

import {
  allocate,
  DTYPES,
  integerRange,
  type DType,
  type NumericStorage,
  type Scalar,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { factOf } from "../../core/foreign.ts";
import { named, TensorError, type ErrorContext } from "../../core/errors.ts";
import {
  decodeMinifloat,
  encodeMinifloat,
  minifloat,
  reader,
  writer,
} from "../../core/tensor/scalar.ts";
import { coordinatesOf } from "../../core/tensor/shape.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { Tensor } from "../../core/tensor/tensor.ts";

/** Attributes of ONNX's Cast that affect 8-bit floats. Only float8e8m0 has a `round_mode`. */
export interface NarrowRules {
  readonly saturates: boolean;
  readonly roundMode: (typeof ROUND_MODES)[number];
}

export const ROUND_MODES = ["up", "down", "nearest"] as const;

/**
 * Converts a tensor to another data type. Floats are truncated to integers, integers wrap around, and every value
 * except zero becomes true. NaN keeps its sign. The `rules` are ONNX's rules for floats of at most 8 bits. Without
 * `rules`, narrow floats are rounded to nearest and do not saturate, as in OpenVINO. ONNX's node tests also require
 * that floats wrap around when they become 4-bit or 2-bit integers. Throws `dtype` for complex numbers and text, and
 * for floats outside the integer type's range, for which neither specification defines a result.
 */
export function castTensor(
  source: Tensor,
  dtype: DType,
  fields: ErrorContext,
  rules?: NarrowRules,
): Tensor {
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
  const isSmall = rules !== undefined && "bits" in DTYPES[dtype];
  const wrapped = integerRange(source.dtype) !== null ? Infinity : isSmall ? 2 ** 31 : 0;
  const isTruth = DTYPES[dtype].family === "bool";
  const narrow = rules === undefined ? null : narrowing(dtype, rules);
  const [signOf, copySign] = [nanSign(source), nanSigner(dtype, data)];
  for (let position = 0; position < size; position++) {
    const value = read(position);
    const sign = value === value ? 0 : signOf(position);
    const cast = isTruth
      ? Number(value) !== 0
      : narrow === null
        ? castNumber(value, range, wrapped)
        : narrow(Number(value), sign);
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
    if (value !== value) copySign(position, sign);
  }
  return new Tensor(dtype, shape, size, data);
}

/** Converts one number. Numbers with a magnitude below `wrapped` wrap around. */
function castNumber(
  value: Scalar,
  range: readonly [low: bigint, high: bigint] | null,
  wrapped: number,
): number | bigint {
  const number = typeof value === "bigint" ? value : Number(value);
  if (range === null) return number;
  const whole = typeof number === "bigint" ? number : Math.trunc(number);
  if (typeof whole === "number" && !Number.isFinite(whole)) return whole;
  const exact = BigInt(whole);
  if (Math.abs(Number(whole)) >= wrapped) return exact;
  const [low, high] = range;
  const count = high - low + 1n;
  const steps = (exact - low) % count;
  return low + (steps < 0n ? steps + count : steps);
}

/** Maps a number so that the narrow float's rounding to nearest gives the intended value. */
type Narrow = (value: number, sign: number) => number;

/**
 * Returns the rule of ONNX's Cast for a float of at most 8 bits; null for other data types.
 *
 * Source: ONNX, Cast-28. The specification leaves three cases open. In floats of 4 and 6 bits, NaN becomes 0 with the
 * opposite sign, as in ONNX's reference and node tests. In float8e8m0, negative numbers count as below the smallest
 * number, as in ONNX Runtime 1.32. A float64 is first rounded to float32, as in ONNX's reference and in ONNX Runtime.
 */
function narrowing(dtype: DType, { saturates, roundMode }: NarrowRules): Narrow | null {
  if (DTYPES[dtype].family !== "minifloat") return null;
  const format = minifloat(dtype);
  if (format.nan === null)
    return (value, sign) => (value === value ? Math.fround(value) : sign === 0 ? -0 : 0);
  const most = decodeMinifloat(format.last, format);
  const least = dtype === "float8e8m0" ? decodeMinifloat(0, format) : -most;
  const clamp = (value: number): number => Math.min(Math.max(value, least), most);
  if (dtype !== "float8e8m0") return saturates ? (value) => clamp(Math.fround(value)) : Math.fround;
  return (value) => {
    const rounded = Math.fround(value);
    const held = clamp(rounded);
    if (!saturates && held !== rounded) return NaN;
    const near = decodeMinifloat(encodeMinifloat(held, format) as number, format);
    if (roundMode === "up") return near < held ? 2 * near : near;
    return roundMode === "down" && near > held ? near / 2 : near;
  };
}

/**
 * Returns a function that reads a NaN's sign bit (0 or 128) from the number's highest byte. float8e8m0 has no sign bit.
 */
function nanSign({ dtype, data }: Tensor): (position: number) => number {
  const { bytes } = DTYPES[dtype];
  const stored = bytesOf(data as NumericStorage);
  const mask = dtype === "float8e8m0" ? 0 : 128;
  return (position) => stored[(position + 1) * bytes - 1] & mask;
}

/** Returns a function that copies the source's NaN sign. Some formats have only one NaN sign. */
function nanSigner(dtype: DType, data: Storage): (position: number, sign: number) => void {
  const { bytes, family } = DTYPES[dtype];
  const stored = bytesOf(data as NumericStorage);
  if (family === "minifloat" ? "bits" in DTYPES[dtype] : family !== "float" && family !== "half")
    return () => undefined;
  // The sign of a NaN in JavaScript depends on the machine. 8-bit floats are written as bits, so the sign must be
  // explicit.
  const kept = family === "minifloat" ? 255 : 127;
  return (position, sign) => {
    const at = (position + 1) * bytes - 1;
    stored[at] = (stored[at] & kept) | sign;
  };
}
