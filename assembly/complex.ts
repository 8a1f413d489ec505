/**
 * Complex numbers: interleaved pairs of T, f32 or f64. Every product and sum is rounded to T, never fused.
 */

import { canonical } from "./arithmetic";
import { ADD, MIN, MUL, SUB } from "./reduction";

@unmanaged
export class Complex<T> {
  @inline
  get bytes(): usize {
    return 2 * sizeof<T>();
  }

  @inline
  step(op: i32, a: v128, b: v128, alone: bool): v128 {
    if (op == ADD) return canonical<T>(v128.add<T>(a, b));
    if (op == SUB) return canonical<T>(v128.sub<T>(a, b));
    if (op == MUL) return canonical<T>(product<T>(a, b));
    return canonical<T>(v128.bitselect(a, b, isKept<T>(op, a, b)));
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

/**
 * Where max or min keeps `a`, both parts alike. The order is lexicographic by value, and where the values are equal
 * by the signs of zeros; an operand with a NaN part wins, `a` first.
 */
@inline
function isKept<T>(op: i32, a: v128, b: v128): v128 {
  const less = v128.lt<T>(a, b);
  const equal = v128.eq<T>(a, b);
  // As integers, -0 is less than +0; it is asked only where the values are equal.
  const negative = sizeof<T>() == 4 ? i32x4.lt_s(a, b) : i64x2.lt_s(a, b);
  const same = sizeof<T>() == 4 ? i32x4.eq(a, b) : i64x2.eq(a, b);
  const bySign = v128.or(
    reals<T>(negative),
    v128.and(reals<T>(same), imaginaries<T>(negative)),
  );
  const byImaginary = v128.or(
    imaginaries<T>(less),
    v128.and(imaginaries<T>(equal), bySign),
  );
  const isBefore = v128.or(reals<T>(less), v128.and(reals<T>(equal), byImaginary));
  const isBetter = op == MIN ? isBefore : v128.not(isBefore);
  return v128.or(hasNaN<T>(a), v128.andnot(isBetter, hasNaN<T>(b)));
}

@inline
function hasNaN<T>(v: v128): v128 {
  const isNaN = v128.ne<T>(v, v);
  return v128.or(isNaN, swapped<T>(isNaN));
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
