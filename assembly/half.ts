/**
 * Arithmetic of float16 and bfloat16, with eight elements per register. Each step is computed in float32 and rounded to
 * nearest even, as in `src/core/tensor/scalar.ts`.
 */

import { ADD, MAX, MAX_DATA, MAX_UPDATE, MIN, MIN_DATA, MUL } from "./reduction";

/**
 * The format float16, identified by the bits of its infinity, which has all exponent bits set. `BFLOAT16` is the format
 * bfloat16.
 */
@inline
const FLOAT16: i32 = 0x7c00;
@inline
const BFLOAT16: i32 = 0x7f80;

@unmanaged
export class Float16 {
  @inline
  get bytes(): usize {
    return 2;
  }

  @inline
  step(op: i32, a: v128, b: v128, alone: bool): v128 {
    return halves(FLOAT16, op, a, b, alone);
  }
}

@unmanaged
export class BFloat16 {
  @inline
  get bytes(): usize {
    return 2;
  }

  @inline
  step(op: i32, a: v128, b: v128, alone: bool): v128 {
    return halves(BFLOAT16, op, a, b, alone);
  }
}

@inline
function halves(format: i32, op: i32, a: v128, b: v128, alone: bool): v128 {
  if (op >= MAX_DATA) return choice(format, op, a, b);
  if (op == MAX || op == MIN) return extreme(format, op, a, b);
  const low = four(format, op, i32x4.extend_low_i16x8_u(a), i32x4.extend_low_i16x8_u(b));
  if (alone) return low;
  const high = four(format, op, i32x4.extend_high_i16x8_u(a), i32x4.extend_high_i16x8_u(b));
  return i16x8.narrow_i32x4_u(low, high);
}

/** Computes a step on four elements, which are 32-bit lanes before and after the step. */
@inline
function four(format: i32, op: i32, a: v128, b: v128): v128 {
  const x = decode(format, a);
  const y = decode(format, b);
  const value =
    op == ADD ? f32x4.add(x, y) : op == MUL ? f32x4.mul(x, y) : f32x4.sub(x, y);
  const quiet = i32x4.splat(format | (format >> 1));
  return v128.bitselect(encode(format, value), quiet, f32x4.eq(value, value));
}

/**
 * Computes max and min, which need no rounding. If the magnitude bits of negative numbers are inverted, numbers have
 * the same order as their bits read as integers, with -0 below +0; NaNs are beyond the infinities.
 */
@inline
function extreme(format: i32, op: i32, a: v128, b: v128): v128 {
  const x = ordered(a);
  const y = ordered(b);
  const chosen = ordered(op == MAX ? i16x8.max_s(x, y) : i16x8.min_s(x, y));
  return v128.bitselect(i16x8.splat(<i16>(format | (format >> 1))), chosen, eitherNaN(format, a, b));
}

/** Returns lanes of ones where an operand is NaN. */
@inline
function eitherNaN(format: i32, a: v128, b: v128): v128 {
  const magnitude = i16x8.splat(0x7fff);
  const infinity = i16x8.splat(<i16>format);
  return v128.or(
    i16x8.gt_s(v128.and(a, magnitude), infinity),
    i16x8.gt_s(v128.and(b, magnitude), infinity),
  );
}

/**
 * Computes a max or min that returns one operand unchanged: the target's value or the update stays unless the other is
 * greater or less, and neither is NaN.
 */
@inline
function choice(format: i32, op: i32, a: v128, b: v128): v128 {
  const isData = op == MAX_DATA || op == MIN_DATA;
  const stays = isData ? a : b;
  const other = isData ? b : a;
  const x = valued(stays);
  const y = valued(other);
  const isBeyond =
    op == MAX_DATA || op == MAX_UPDATE ? i16x8.gt_s(y, x) : i16x8.gt_s(x, y);
  return v128.bitselect(other, stays, v128.andnot(isBeyond, eitherNaN(format, a, b)));
}

/** Converts bits to integers with the same order, in which -0 equals 0. */
@inline
function valued(bits: v128): v128 {
  return i16x8.sub(ordered(bits), i16x8.shr_s(bits, 15));
}

/** Converts bits to integers with the same order, and back. */
@inline
function ordered(bits: v128): v128 {
  return v128.xor(bits, i16x8.shr_u(i16x8.shr_s(bits, 15), 1));
}

/** Converts the 16 bits of a half to a float32, which represents every half exactly. */
@inline
function decode(format: i32, bits: v128): v128 {
  if (format == BFLOAT16) return i32x4.shl(bits, 16);
  // After the shift, the exponent is too small by 127 - 15, for both normal and subnormal numbers. Infinity and NaN
  // become 65536 or more, and then get the largest exponent.
  const magnitude = i32x4.shl(v128.and(bits, i32x4.splat(0x7fff)), 13);
  const value = f32x4.mul(magnitude, i32x4.splat((127 + 112) << 23));
  const isGreat = f32x4.ge(value, f32x4.splat(65536));
  const infinity = v128.and(isGreat, i32x4.splat(0x7f800000));
  const sign = i32x4.shl(v128.and(bits, i32x4.splat(0x8000)), 16);
  return v128.or(v128.or(value, infinity), sign);
}

/** Returns the bits of the half nearest to a float32, ties to even; the result for NaN is arbitrary. */
@inline
function encode(format: i32, value: v128): v128 {
  if (format == BFLOAT16) {
    const odd = v128.and(i32x4.shr_u(value, 16), i32x4.splat(1));
    return i32x4.shr_u(i32x4.add(value, i32x4.add(odd, i32x4.splat(0x7fff))), 16);
  }
  // Magnitudes from 65520 become infinity, because 65536 has the bits of infinity. Adding 2^13 times the power of two
  // below the magnitude leaves 11 significant bits, which the addition rounds; numbers below 2^-14, the smallest normal
  // number, keep fewer bits.
  const magnitude = f32x4.pmin(v128.and(value, i32x4.splat(0x7fffffff)), f32x4.splat(65536));
  const exponent = v128.and(magnitude, i32x4.splat(0x7f800000));
  const normal = i32x4.max_s(exponent, i32x4.splat((127 - 14) << 23));
  const coarse = i32x4.add(normal, i32x4.splat(13 << 23));
  const rounded = f32x4.sub(f32x4.add(magnitude, coarse), coarse);
  const bits = i32x4.shr_u(f32x4.mul(rounded, i32x4.splat((127 - 112) << 23)), 13);
  return v128.or(bits, v128.and(i32x4.shr_u(value, 16), i32x4.splat(0x8000)));
}

/** A word that no copy of a half has, because the low bits of a copy are 0. */
@inline
const UNREAD: i32 = -1;

/**
 * Sums slices of float16, `out[offset p] += updates[p]`, each step rounded as by `four`, with a float32 copy of each
 * target at `copies + 2 * (its address - out)` while the updates run. Any two slices must be equal or disjoint, and
 * `slice` must be a multiple of 8. Copies are 2^112 times as great as the halves: what overflows a half then overflows a
 * float32, and rounding is integer addition, because no sum of halves has bits below the least half. Adding 20,000 rows of
 * 64 to 1,000 rows takes 0.4 ms instead of 0.9 ms.
 */
export function sum_float16(
  out: usize,
  updates: usize,
  offsets: usize,
  count: usize,
  slice: usize,
  pitch: usize,
  span: usize,
  copies: usize,
): void {
  const end = offsets + 4 * count;
  memory.fill(copies, <u8>UNREAD, 4 * span);
  for (let p = offsets; p < end; p += 4, updates += 2 * pitch) {
    const offset = <usize>load<u32>(p);
    const copy = copies + 4 * offset;
    if (load<i32>(copy) == UNREAD) {
      // A sum with -0 has all bits of the other operand.
      const zeros = i32x4.splat(i32.MIN_VALUE);
      for (let i: usize = 0; i < 4 * slice; i += 16) v128.store(copy + i, zeros);
      addRow(copy, out + 2 * offset, slice);
    }
    addRow(copy, updates, slice);
  }
  for (; offsets < end; offsets += 4) {
    const offset = <usize>load<u32>(offsets);
    const copy = copies + 4 * offset;
    if (load<i32>(copy) == UNREAD) continue;
    narrow(copy, out + 2 * offset, slice);
    store<i32>(copy, UNREAD);
  }
}

/** Adds halves to copies. */
function addRow(copies: usize, halves: usize, slice: usize): void {
  const end = halves + 2 * slice;
  let greatest = i16x8.splat(0);
  let copy = copies;
  for (let at = halves; at < end; at += 16, copy += 32) {
    greatest = i16x8.max_s(greatest, v128.and(v128.load(at), i16x8.splat(0x7fff)));
    addTo(copy, v128.load16x4_s(at));
    addTo(copy + 16, v128.load16x4_s(at, 8));
  }
  // Scaling made each NaN an infinity.
  if (!v128.any_true(i16x8.gt_s(greatest, i16x8.splat(<i16>FLOAT16)))) return;
  for (; halves < end; halves += 2, copies += 4) {
    if ((load<u16>(halves) & 0x7fff) > FLOAT16) store<f32>(copies, NaN);
  }
}

/** Adds four halves, as signed 32-bit lanes, to copies, and rounds to 11 significant bits, ties to even. */
@inline
function addTo(copy: usize, bits: v128): void {
  const small = v128.and(i32x4.shl(bits, 13), i32x4.splat(0x8fffe000));
  const factor = i32x4.splat((127 + 112) << 23);
  const value = f32x4.add(v128.load(copy), f32x4.mul(f32x4.mul(small, factor), factor));
  const odd = v128.and(i32x4.shr_u(value, 13), i32x4.splat(1));
  const rounded = i32x4.add(i32x4.add(value, i32x4.splat(0xfff)), odd);
  v128.store(copy, v128.and(rounded, i32x4.splat(~0x1fff)));
}

/** Copies float32 back as halves. */
function narrow(copy: usize, to: usize, slice: usize): void {
  for (const end = copy + 4 * slice; copy < end; copy += 16, to += 8) {
    const value = v128.load(copy);
    const factor = i32x4.splat((127 - 112) << 23);
    const small = f32x4.mul(f32x4.mul(v128.and(value, i32x4.splat(0x7fffffff)), factor), factor);
    const sign = v128.and(i32x4.shr_u(value, 16), i32x4.splat(0x8000));
    const magnitude = v128.and(i32x4.shr_u(small, 13), i32x4.splat(0x7fff));
    const quiet = i32x4.splat(FLOAT16 | (FLOAT16 >> 1));
    const bits = v128.bitselect(v128.or(magnitude, sign), quiet, f32x4.eq(value, value));
    v128.store64_lane(to, i16x8.narrow_i32x4_u(bits, bits), 0);
  }
}
