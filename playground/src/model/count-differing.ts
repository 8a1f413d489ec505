/** Counts the elements in which two tensors differ, without allocating anything per element. */

import { DTYPES, zeros, type DType, type Tensor } from "ndscatter";
import { elementsOf } from "../values/tensor-text.ts";

/**
 * Returns the number of differing elements of two tensors with the same data type and shape. Elements are equal if their
 * bits are equal or if both are NaN, so 0 differs from -0.
 */
export function countDiffering({ dtype, data: one }: Tensor, { data: other }: Tensor): number {
  const { lanes, family } = DTYPES[dtype];
  const nans = family === "half" || family === "minifloat" ? nanPatterns(dtype) : new Set();
  let count = 0;
  for (let begin = 0; begin < one.length; begin += lanes) {
    for (let at = begin; at < begin + lanes; at++) {
      // The function Object.is distinguishes 0 from -0 but no NaN from another.
      if (Object.is(one[at], other[at]) || (nans.has(one[at]) && nans.has(other[at]))) continue;
      count++;
      break;
    }
  }
  return count;
}

/** Returns the bit patterns of NaN in a float type that has no array class of its own. */
function nanPatterns(dtype: DType): ReadonlySet<unknown> {
  const { bytes, bits = 8 * bytes } = { bits: undefined, ...DTYPES[dtype] };
  const all = zeros(dtype, [2 ** bits]);
  const patterns = all.data as Uint16Array;
  for (let at = 0; at < patterns.length; at++) patterns[at] = at;
  return new Set(elementsOf(all).flatMap((value, at) => (Number.isNaN(value) ? [at] : [])));
}
