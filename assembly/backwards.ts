/**
 * Kernels of gradients, in a separate module because only gradients need them. Addresses count bytes, offsets count
 * elements, and positions count slices. All loops keep the order of the Plan, so the bits equal those of the loops in
 * JavaScript.
 *
 * Every kernel finds the maximum. A minimum is computed as a maximum of flipped signs, with `flip` = 1. NaN is greater
 * than every number and equals NaN, and 0 equals -0. Counts stay below 2^24, so float32 represents them exactly.
 */

import { canonical } from "./arithmetic";
import { AHEAD, limit } from "./limits";
import { copy } from "./move";
import { prefetchSingles } from "./prefetch";

/**
 * Walks a Plan backwards: each slice moves to the sequential side and becomes 0. The last position of a target receives
 * the slice, and earlier positions receive 0.
 * @param length bytes of a slice
 * @param bytes bytes of an element
 */
export function take(
  random: usize,
  sequential: usize,
  offsets: usize,
  count: usize,
  length: usize,
  bytes: usize,
): void {
  // A word holds one element of 32 bits, or two elements of 16 bits.
  if (length == 4) {
    for (let p = offsets + 4 * count, to = sequential + 4 * count; p > offsets; ) {
      p -= 4;
      to -= 4;
      const from = random + bytes * <usize>load<u32>(p);
      store<u32>(to, load<u32>(from));
      store<u32>(from, 0);
    }
    return;
  }
  for (let p = offsets + 4 * count, to = sequential + length * count; p > offsets; ) {
    p -= 4;
    to -= length;
    let from = random + bytes * <usize>load<u32>(p);
    copy<u16>(to, from, length, false);
    const end = from + length;
    for (const wide = end - 15; from < wide; from += 16) v128.store(from, i64x2.splat(0));
    for (; from < end; from += 2) store<u16>(from, 0);
  }
}

/** Reads a vector, or a single element into every lane. */
@inline
function read<T>(at: usize, alone: bool): v128 {
  if (!alone) return v128.load(at);
  if (sizeof<T>() == 4) return v128.load32_splat(at);
  else return v128.load64_splat(at);
}

@inline
function write<T>(at: usize, v: v128, alone: bool): void {
  if (!alone) v128.store(at, v);
  else if (sizeof<T>() == 4) v128.store32_lane(at, v, 0);
  else v128.store64_lane(at, v, 0);
}

@inline
function ints<T>(value: i32): v128 {
  if (sizeof<T>() == 4) return i32x4.splat(value);
  else return i64x2.splat(value);
}

@inline
function minus<T>(a: v128, b: v128): v128 {
  if (sizeof<T>() == 4) return i32x4.sub(a, b);
  else return i64x2.sub(a, b);
}

/** Returns the share of `gradient` that each of `count` equal operands receives. */
@inline
function shared<T>(gradient: v128, count: v128): v128 {
  if (sizeof<T>() == 4) {
    const quotient = canonical<f32>(f32x4.div(gradient, f32x4.convert_i32x4_s(count)));
    return v128.bitselect(quotient, gradient, i32x4.gt_s(count, i32x4.splat(1)));
  } else {
    // The bits of 2^52 and a count are those of their sum.
    const large = f64x2.splat(4503599627370496);
    const divisor = f64x2.sub(v128.or(count, large), large);
    const quotient = canonical<f64>(f64x2.div(gradient, divisor));
    return v128.bitselect(quotient, gradient, i64x2.gt_s(count, i64x2.splat(1)));
  }
}

/**
 * Writes the gradients of a maximum target by target, so that the operands of a target stay in the cache. The positions
 * of target t are `positions[ends[t - 1]]` to `positions[ends[t] - 1]`.
 * @param dataStep bytes from an element of data's gradient to the next; 0 if that gradient is unwanted
 * @param updatesStep bytes from a slice of the updates' gradient to the next; 0 if that gradient is unwanted
 * @param divides 1 if equal operands share the gradient, 0 if each operand receives the whole gradient
 * @param includesSelf 1 if data is an operand
 */
@inline
export function extremes<T>(
  data: usize,
  gradient: usize,
  ofData: usize,
  updates: usize,
  ofUpdates: usize,
  targets: usize,
  ends: usize,
  positions: usize,
  count: usize,
  slice: usize,
  dataStep: usize,
  updatesStep: usize,
  flip: u32,
  divides: i32,
  includesSelf: i32,
): void {
  const length = slice * sizeof<T>();
  const sign = flips<T>(flip);
  // The mask keeps only the lowest bit of a count if gradients are not divided, so that no count exceeds 1.
  const mask = ints<T>(divides ? -1 : 1);
  const own = ints<T>(-includesSelf);
  const last = count == 0 ? positions : positions + 4 * <usize>load<u32>(ends + 4 * count - 4);
  const ahead = 4 * (limit(AHEAD) / length);
  let begin = positions;
  for (let t: usize = 0; t < 4 * count; t += 4) {
    const end = positions + 4 * <usize>load<u32>(ends + t);
    const target = <usize>load<u32>(targets + t);
    const from = sizeof<T>() * target;
    const to = ofData + dataStep * target;
    const stop = min(end + ahead, last);
    for (let p = begin + ahead; p < stop; p += 4) {
      const position = <usize>load<u32>(p);
      prefetch(updates + length * position, length);
      prefetch(ofUpdates + updatesStep * position, length);
    }
    let x: usize = 0;
    for (; x + 63 < length; x += 64) {
      block<T>(data + from + x, gradient + from + x, to + x, updates + x, ofUpdates + x, begin, end, length, updatesStep, sign, mask, own);
    }
    for (; x + 15 < length; x += 16) {
      column<T>(data + from + x, gradient + from + x, to + x, updates + x, ofUpdates + x, begin, end, length, updatesStep, sign, mask, own, false);
    }
    for (; x < length; x += sizeof<T>()) {
      column<T>(data + from + x, gradient + from + x, to + x, updates + x, ofUpdates + x, begin, end, length, updatesStep, sign, mask, own, true);
    }
    begin = end;
  }
}

@inline
function prefetch(at: usize, length: usize): void {
  for (const end = at + length; at < end; at += 64) load<u8>(at);
}

/** Returns the greater of two operands; NaN is greater than every number. */
@inline
function greater<T>(a: v128, b: v128): v128 {
  return v128.bitselect(b, v128.pmax<T>(a, b), v128.ne<T>(b, b));
}

/** Returns the number of operands equal to `best`, after `operand` was compared with the best operand before. */
@inline
function counted<T>(count: v128, before: v128, best: v128, operand: v128): v128 {
  const isKept = v128.or(v128.eq<T>(best, before), v128.ne<T>(before, before));
  return minus<T>(v128.and(count, isKept), same<T>(best, operand));
}

/** Returns lanes of ones where an operand equals the best operand, which is NaN if any operand is NaN. */
@inline
function same<T>(best: v128, operand: v128): v128 {
  return v128.or(v128.eq<T>(best, operand), v128.ne<T>(operand, operand));
}

/** Writes the gradients of one vector of every operand, or of one element of every operand. */
@inline
function column<T>(
  data: usize,
  gradient: usize,
  ofData: usize,
  updates: usize,
  ofUpdates: usize,
  begin: usize,
  end: usize,
  length: usize,
  updatesStep: usize,
  sign: v128,
  mask: v128,
  own: v128,
  alone: bool,
): void {
  const self = v128.xor(read<T>(data, alone), sign);
  let best = v128.bitselect(self, v128.splat<T>(-<T>Infinity), own);
  let count = v128.and(ints<T>(1), own);
  for (let p = begin; p < end; p += 4) {
    const operand = v128.xor(read<T>(updates + length * <usize>load<u32>(p), alone), sign);
    const before = best;
    best = greater<T>(before, operand);
    count = counted<T>(count, before, best, operand);
  }
  const share = shared<T>(read<T>(gradient, alone), v128.and(count, mask));
  write<T>(ofData, kept<T>(best, read<T>(data, alone), sign, v128.and(share, own)), alone);
  for (let p = begin; p < end; p += 4) {
    const position = <usize>load<u32>(p);
    const operand = read<T>(updates + length * position, alone);
    write<T>(ofUpdates + updatesStep * position, kept<T>(best, operand, sign, share), alone);
  }
}

/**
 * Writes the gradients of four vectors of every operand. A longer loop body costs fewer mispredicted branches, because
 * the number of operands differs from target to target. The sum of all operands is NaN if an operand is NaN or if
 * infinities of both signs occur; otherwise a comparison takes one instruction. Operands are counted only if one equals
 * the best operand before it.
 */
@inline
function block<T>(
  data: usize,
  gradient: usize,
  ofData: usize,
  updates: usize,
  ofUpdates: usize,
  begin: usize,
  end: usize,
  length: usize,
  updatesStep: usize,
  sign: v128,
  mask: v128,
  own: v128,
): void {
  const least = v128.splat<T>(-<T>Infinity);
  const d0 = v128.bitselect(v128.xor(v128.load(data, 0), sign), least, own);
  let b0 = d0;
  const d1 = v128.bitselect(v128.xor(v128.load(data, 16), sign), least, own);
  let b1 = d1;
  const d2 = v128.bitselect(v128.xor(v128.load(data, 32), sign), least, own);
  let b2 = d2;
  const d3 = v128.bitselect(v128.xor(v128.load(data, 48), sign), least, own);
  let b3 = d3;
  let sum = v128.and(v128.add<T>(v128.add<T>(d0, d1), v128.add<T>(d2, d3)), own);
  let ties = v128.splat<u32>(0);
  for (let p = begin; p < end; p += 4) {
    const from = updates + length * <usize>load<u32>(p);
    const u0 = v128.xor(v128.load(from, 0), sign);
    const u1 = v128.xor(v128.load(from, 16), sign);
    const u2 = v128.xor(v128.load(from, 32), sign);
    const u3 = v128.xor(v128.load(from, 48), sign);
    const e0 = v128.or(v128.eq<T>(b0, u0), v128.eq<T>(b1, u1));
    const e1 = v128.or(v128.eq<T>(b2, u2), v128.eq<T>(b3, u3));
    ties = v128.or(ties, v128.or(e0, e1));
    b0 = v128.pmax<T>(b0, u0);
    b1 = v128.pmax<T>(b1, u1);
    b2 = v128.pmax<T>(b2, u2);
    b3 = v128.pmax<T>(b3, u3);
    sum = v128.add<T>(sum, v128.add<T>(v128.add<T>(u0, u1), v128.add<T>(u2, u3)));
  }
  if (v128.any_true(v128.ne<T>(sum, sum))) {
    for (let x: usize = 0; x < 64; x += 16) {
      column<T>(data + x, gradient + x, ofData + x, updates + x, ofUpdates + x, begin, end, length, updatesStep, sign, mask, own, false);
    }
    return;
  }
  let s0 = v128.load(gradient, 0);
  let s1 = v128.load(gradient, 16);
  let s2 = v128.load(gradient, 32);
  let s3 = v128.load(gradient, 48);
  if (v128.any_true(ties)) {
    let c0 = minus<T>(ints<T>(0), v128.and(v128.eq<T>(b0, d0), own));
    let c1 = minus<T>(ints<T>(0), v128.and(v128.eq<T>(b1, d1), own));
    let c2 = minus<T>(ints<T>(0), v128.and(v128.eq<T>(b2, d2), own));
    let c3 = minus<T>(ints<T>(0), v128.and(v128.eq<T>(b3, d3), own));
    for (let p = begin; p < end; p += 4) {
      const from = updates + length * <usize>load<u32>(p);
      c0 = minus<T>(c0, v128.eq<T>(b0, v128.xor(v128.load(from, 0), sign)));
      c1 = minus<T>(c1, v128.eq<T>(b1, v128.xor(v128.load(from, 16), sign)));
      c2 = minus<T>(c2, v128.eq<T>(b2, v128.xor(v128.load(from, 32), sign)));
      c3 = minus<T>(c3, v128.eq<T>(b3, v128.xor(v128.load(from, 48), sign)));
    }
    s0 = shared<T>(s0, v128.and(c0, mask));
    s1 = shared<T>(s1, v128.and(c1, mask));
    s2 = shared<T>(s2, v128.and(c2, mask));
    s3 = shared<T>(s3, v128.and(c3, mask));
  }
  v128.store(ofData, v128.and(v128.and(v128.eq<T>(b0, d0), own), s0), 0);
  v128.store(ofData, v128.and(v128.and(v128.eq<T>(b1, d1), own), s1), 16);
  v128.store(ofData, v128.and(v128.and(v128.eq<T>(b2, d2), own), s2), 32);
  v128.store(ofData, v128.and(v128.and(v128.eq<T>(b3, d3), own), s3), 48);
  for (let p = begin; p < end; p += 4) {
    const position = <usize>load<u32>(p);
    const from = updates + length * position;
    const to = ofUpdates + updatesStep * position;
    const e0 = v128.eq<T>(b0, v128.xor(v128.load(from, 0), sign));
    v128.store(to, v128.and(e0, s0), 0);
    const e1 = v128.eq<T>(b1, v128.xor(v128.load(from, 16), sign));
    v128.store(to, v128.and(e1, s1), 16);
    const e2 = v128.eq<T>(b2, v128.xor(v128.load(from, 32), sign));
    v128.store(to, v128.and(e2, s2), 32);
    const e3 = v128.eq<T>(b3, v128.xor(v128.load(from, 48), sign));
    v128.store(to, v128.and(e3, s3), 48);
  }
}

/** Returns the share of an operand, which is 0 unless the operand equals the best. */
@inline
function kept<T>(best: v128, operand: v128, sign: v128, share: v128): v128 {
  return v128.and(same<T>(best, v128.xor(operand, sign)), share);
}

/*
 * The kernels below process single updates in the order of the Plan. No branch depends on a value, because a
 * mispredicted branch takes 5 to 20 ns and the outcome of a comparison is practically random. V8 compiles a `select` of
 * floats to a branch, so elements are in the first lane of a vector. Each element of data has a pair in one cache line:
 * the best operand, and the number of equal operands, which `settle` replaces with their share.
 */

@inline
function flips<T>(flip: u32): v128 {
  return sizeof<T>() == 4 ? i32x4.splat(<i32>(flip << 31)) : i64x2.splat(<i64>flip << 63);
}

/** Writes the pairs of data as the only operand of each element. */
@inline
export function begin<T>(data: usize, pairs: usize, size: usize, flip: u32): void {
  const sign = flips<T>(flip);
  const one = ints<T>(1);
  const end = data + sizeof<T>() * size;
  for (; data + 15 < end; data += 16, pairs += 32) {
    writePairs<T>(pairs, v128.xor(v128.load(data), sign), one);
  }
  for (; data < end; ) {
    write<T>(pairs, v128.xor(read<T>(data, true), sign), true);
    write<T>(pairs + sizeof<T>(), one, true);
    data += sizeof<T>();
    pairs += 2 * sizeof<T>();
  }
}

/** Compares each update with the best operand so far, and counts equal operands. */
@inline
export function tally<T>(pairs: usize, updates: usize, offsets: usize, count: usize, flip: u32): void {
  const sign = flips<T>(flip);
  for (const end = offsets + 4 * count; offsets < end; ) {
    const stop = prefetchSingles(pairs, 2 * sizeof<T>(), offsets, end);
    for (; offsets < stop; offsets += 4, updates += sizeof<T>()) {
      const at = pairs + 2 * sizeof<T>() * <usize>load<u32>(offsets);
      const operand = v128.xor(read<T>(updates, true), sign);
      const before = read<T>(at, true);
      const best = greater<T>(before, operand);
      const number = counted<T>(read<T>(at + sizeof<T>(), true), before, best, operand);
      write<T>(at, best, true);
      write<T>(at + sizeof<T>(), number, true);
    }
  }
}

/** Returns the first parts of the pairs in two vectors. */
@inline
function firsts<T>(a: v128, b: v128): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<u32>(a, b, 0, 2, 4, 6);
  else return v128.shuffle<u64>(a, b, 0, 2);
}

/** Returns the second parts of the pairs in two vectors. */
@inline
function seconds<T>(a: v128, b: v128): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<u32>(a, b, 1, 3, 5, 7);
  else return v128.shuffle<u64>(a, b, 1, 3);
}

/** Writes a vector of first parts and a vector of second parts as pairs. */
@inline
function writePairs<T>(pairs: usize, a: v128, b: v128): void {
  if (sizeof<T>() == 4) {
    v128.store(pairs, v128.shuffle<u32>(a, b, 0, 4, 1, 5));
    v128.store(pairs, v128.shuffle<u32>(a, b, 2, 6, 3, 7), 16);
  } else {
    v128.store(pairs, v128.shuffle<u64>(a, b, 0, 2));
    v128.store(pairs, v128.shuffle<u64>(a, b, 1, 3), 16);
  }
}

/** Replaces the counts in the pairs with shares, and writes the gradient of data. */
@inline
export function settle<T>(
  data: usize,
  gradient: usize,
  pairs: usize,
  ofData: usize,
  size: usize,
  flip: u32,
  divides: i32,
): void {
  const sign = flips<T>(flip);
  const mask = ints<T>(divides ? -1 : 1);
  const end = data + sizeof<T>() * size;
  for (; data + 15 < end; data += 16, gradient += 16, ofData += 16, pairs += 32) {
    const a = v128.load(pairs);
    const b = v128.load(pairs, 16);
    const best = firsts<T>(a, b);
    const share = shared<T>(v128.load(gradient), v128.and(seconds<T>(a, b), mask));
    v128.store(ofData, kept<T>(best, v128.load(data), sign, share));
    writePairs<T>(pairs, best, share);
  }
  for (; data < end; ) {
    const count = v128.and(read<T>(pairs + sizeof<T>(), true), mask);
    const share = shared<T>(read<T>(gradient, true), count);
    write<T>(ofData, kept<T>(read<T>(pairs, true), read<T>(data, true), sign, share), true);
    write<T>(pairs + sizeof<T>(), share, true);
    data += sizeof<T>();
    gradient += sizeof<T>();
    pairs += 2 * sizeof<T>();
    ofData += sizeof<T>();
  }
}

/** Writes the gradient of each update: its share if the update equals the best operand, else 0. */
@inline
export function spread<T>(
  pairs: usize,
  updates: usize,
  ofUpdates: usize,
  offsets: usize,
  count: usize,
  flip: u32,
): void {
  const sign = flips<T>(flip);
  for (const end = offsets + 4 * count; offsets < end; ) {
    const stop = prefetchSingles(pairs, 2 * sizeof<T>(), offsets, end);
    for (; offsets < stop; offsets += 4) {
      const at = pairs + 2 * sizeof<T>() * <usize>load<u32>(offsets);
      const share = read<T>(at + sizeof<T>(), true);
      write<T>(ofUpdates, kept<T>(read<T>(at, true), read<T>(updates, true), sign, share), true);
      updates += sizeof<T>();
      ofUpdates += sizeof<T>();
    }
  }
}
