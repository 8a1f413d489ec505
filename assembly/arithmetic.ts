/**
 * Arithmetic of data types that registers hold directly: floats, integers and booleans.
 *
 * An arithmetic is a class without fields: `bytes` is the width of an element, and `step` combines a full register, or
 * only the first element if `alone` is true. Generic code takes the class as its type argument and calls the methods on
 * a null reference, which costs nothing, because AssemblyScript dispatches at compile time. `block` in combine.ts uses
 * the other methods of `Float`.
 */

import { plainSingles } from "./singles";
import {
  ADD,
  MAX,
  MAX_DATA,
  MAX_UPDATE,
  MIN,
  MIN_DATA,
  MIN_UPDATE,
  MUL,
  SUB,
} from "./reduction";

/**
 * Replaces each NaN in a register with the canonical quiet NaN, because the bits of a computed NaN depend on the
 * machine.
 */
@inline
export function canonical<T>(v: v128): v128 {
  const quiet = v128.splat<T>(<T>NaN);
  return v128.bitselect(v, quiet, v128.eq<T>(v, v));
}

/** IEEE 754 arithmetic of f32 and f64. */
@unmanaged
export class Float<T> {
  @inline
  get bytes(): usize {
    return sizeof<T>();
  }

  @inline
  step(op: i32, a: v128, b: v128, alone: bool): v128 {
    const v = this.plain(op, a, b);
    if (op >= MAX_DATA) return v;
    if (op == ADD || op == MUL || op == SUB) return canonical<T>(v);
    const isNumber = v128.and(v128.eq<T>(a, a), v128.eq<T>(b, b));
    return v128.bitselect(v, v128.splat<T>(<T>NaN), isNumber);
  }

  /** Computes a step, correctly if neither operands nor result are NaN. */
  @inline
  plain(op: i32, a: v128, b: v128): v128 {
    if (op == ADD) return v128.add<T>(a, b);
    if (op == MUL) return v128.mul<T>(a, b);
    if (op == SUB) return v128.sub<T>(a, b);
    // pmax is `a < b ? b : a` and pmin `b < a ? b : a`: the first operand stays, with all its bits.
    if (op == MAX_DATA) return v128.pmax<T>(a, b);
    if (op == MIN_DATA) return v128.pmin<T>(a, b);
    if (op == MAX_UPDATE) return v128.pmax<T>(b, a);
    if (op == MIN_UPDATE) return v128.pmin<T>(b, a);
    // Computes `a < b ? b : a` in both orders, whose results differ only for zeros of different signs; AND then gives
    // +0, and OR gives -0. Each operation is a single instruction, whereas WebAssembly's max and min take nine.
    if (op == MAX) return v128.and(v128.pmax<T>(a, b), v128.pmax<T>(b, a));
    return v128.or(v128.pmin<T>(a, b), v128.pmin<T>(b, a));
  }

  /** Returns a register that is NaN wherever `v`, the result of `plain`, differs from the correct step. */
  @inline
  witness(op: i32, a: v128, b: v128, v: v128): v128 {
    return op == MAX || op == MIN ? v128.add<T>(a, b) : v;
  }

  @inline
  singles(op: i32, out: usize, updates: usize, offsets: usize, end: usize): void {
    plainSingles<T>(op, out, updates, offsets, end);
  }

  /** Returns true if one of four witnesses is NaN, which persists in their sum. Infinities may cause a false alarm. */
  @inline
  isAnyNaN(a: v128, b: v128, c: v128, d: v128): bool {
    const sum = v128.add<T>(v128.add<T>(a, b), v128.add<T>(c, d));
    return v128.any_true(v128.ne<T>(sum, sum));
  }
}

/** Arithmetic of integers with wraparound. Only max and min use the signedness of T. */
@unmanaged
export class Int<T> {
  @inline
  get bytes(): usize {
    return sizeof<T>();
  }

  @inline
  singles(op: i32, out: usize, updates: usize, offsets: usize, end: usize): void {
    plainSingles<T>(op, out, updates, offsets, end);
  }

  @inline
  step(op: i32, a: v128, b: v128, alone: bool): v128 {
    if (op == ADD) return v128.add<T>(a, b);
    if (op == SUB) return v128.sub<T>(a, b);
    if (op == MUL) {
      if (sizeof<T>() == 1) return mulBytes(a, b);
      else return v128.mul<T>(a, b);
    }
    if (sizeof<T>() == 8) {
      const flip = i64x2.splat(isSigned<T>() ? 0 : i64.MIN_VALUE);
      const greater = i64x2.gt_s(v128.xor(a, flip), v128.xor(b, flip));
      return op == MAX ? v128.bitselect(a, b, greater) : v128.bitselect(b, a, greater);
    } else {
      return op == MAX ? v128.max<T>(a, b) : v128.min<T>(a, b);
    }
  }
}

/** Multiplies even and odd bytes separately as 16-bit numbers, because WebAssembly cannot multiply bytes. */
@inline
function mulBytes(a: v128, b: v128): v128 {
  const even = v128.and(i16x8.mul(a, b), i16x8.splat(0xff));
  const odd = i16x8.mul(i16x8.shr_u(a, 8), i16x8.shr_u(b, 8));
  return v128.or(even, i16x8.shl(odd, 8));
}

/** Arithmetic of booleans, which are 0 or 1: add and max are OR, mul and min are AND, and sub is XOR. */
@unmanaged
export class Bool {
  @inline
  get bytes(): usize {
    return 1;
  }

  @inline
  step(op: i32, a: v128, b: v128, alone: bool): v128 {
    if (op == ADD || op == MAX) return v128.or(a, b);
    if (op == SUB) return v128.xor(a, b);
    return v128.and(a, b);
  }
}
