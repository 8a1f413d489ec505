/**
 * Complex numbers: interleaved pairs of T, f32 or f64. Every product and sum is rounded to T, never fused. Other
 * reductions are left to JavaScript.
 */

import { canonical } from "./arithmetic";
import { ADD } from "./reduction";

@unmanaged
export class Complex<T> {
  @inline
  get bytes(): usize {
    return 2 * sizeof<T>();
  }

  @inline
  step(op: i32, a: v128, b: v128, alone: bool): v128 {
    if (op == ADD) return canonical<T>(v128.add<T>(a, b));
    return canonical<T>(product<T>(a, b));
  }
}

/** (re a re b - im a im b, re a im b + im a re b) */
@inline
function product<T>(a: v128, b: v128): v128 {
  const minus = sizeof<T>() == 4 ? i64x2.splat(0x80000000) : i64x2(i64.MIN_VALUE, 0);
  const left = v128.mul<T>(reals<T>(a), b);
  const right = v128.mul<T>(imaginaries<T>(a), swapped<T>(b));
  return v128.add<T>(left, v128.xor(right, minus));
}

/** The real part of each number in both places. */
@inline
function reals<T>(v: v128): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<i32>(v, v, 0, 0, 2, 2);
  else return v128.shuffle<i64>(v, v, 0, 0);
}

/** The imaginary part of each number in both places. */
@inline
function imaginaries<T>(v: v128): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<i32>(v, v, 1, 1, 3, 3);
  else return v128.shuffle<i64>(v, v, 1, 1);
}

@inline
function swapped<T>(v: v128): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<i32>(v, v, 1, 0, 3, 2);
  else return v128.shuffle<i64>(v, v, 1, 0);
}
