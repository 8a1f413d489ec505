/** Performs the last step of a mean: divides each sum by the number of values that were added. */

import {
  DTYPES,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Storage,
} from "../tensor/dtype.ts";
import { decodeHalf, encodeHalf, floatFormat } from "../tensor/scalar.ts";
import { nanWriter } from "./combine.ts";

/**
 * Computes `data[offset p] /= counts[p]` for slices of `slice` elements. The quotient is computed as a double and
 * rounded to the data type; integer quotients are rounded toward minus infinity. `dtype` must be a type that has a
 * mean.
 */
export function divide(
  dtype: DType,
  data: Storage,
  slice: number,
  offsets: Uint32Array,
  counts: Uint32Array | Int32Array,
): void {
  if (!isNumericStorage(data)) return;
  const { lanes } = DTYPES[dtype];
  const step = divider(dtype, data);
  for (let p = 0; p < offsets.length; p++) {
    const end = (offsets[p] + slice) * lanes;
    for (let at = offsets[p] * lanes; at < end; at++) step(at, counts[p]);
  }
}

/** Returns a function that divides the array entry at a position. A complex number has two array entries. */
export function divider(dtype: DType, data: NumericStorage): (at: number, count: number) => void {
  switch (DTYPES[dtype].family) {
    case "int64": {
      const wide = data as BigInt64Array | BigUint64Array;
      return (at, count) => void (wide[at] = floorDivide(wide[at], BigInt(count)));
    }
    case "int":
      // The sum and the count are less than 2^32, so rounding the quotient to a double never moves it across an
      // integer.
      return (at, count) => void (data[at] = Math.floor(Number(data[at]) / count));
    case "half": {
      const format = floatFormat(dtype);
      return (at, count) =>
        void (data[at] = encodeHalf(decodeHalf(Number(data[at]), format) / count, format));
    }
    default: {
      const floats = data as Float32Array | Float64Array;
      const canonicalNaN = nanWriter(floats);
      return (at, count) => {
        const quotient = floats[at] / count;
        if (quotient === quotient) floats[at] = quotient;
        else canonicalNaN(at);
      };
    }
  }
}

function floorDivide(value: bigint, count: bigint): bigint {
  const quotient = value / count;
  return value < 0n && quotient * count !== value ? quotient - 1n : quotient;
}
