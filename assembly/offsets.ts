/**
 * Converts indices to offsets, like `src/core/kernels/read-indices.ts`: reads each index once, wraps it, and checks it
 * against its own axis. Errors are ORed together and tested once at the end, which costs less than a branch per index;
 * the caller then finds the bad index. `I` is the type of an index, i32 or i64.
 *
 * The exported functions return 0 if all indices are in range; otherwise they return 1, and the offsets are
 * meaningless.
 */

import { limit, NARROW } from "./limits";

/**
 * Addressing along one axis. `wrap`, which is added to negative indices, is the dimension, or 0 if negative indices are
 * not allowed. `step` is the distance between the offsets of consecutive indices, in addition to the contributions of
 * their values. The table passed to `tuples` has an Axis for each component of a tuple.
 */
@unmanaged
class Axis {
  dim: i64;
  wrap: i64;
  stride: u32;
  step: u32;
}

/** Computes `offsets[t]`, the sum of `indices[t * k + j] * stride j` over the axes j. */
@inline
export function tuples<I>(
  indices: usize,
  offsets: usize,
  count: usize,
  k: usize,
  table: usize,
): u32 {
  const first = changetype<Axis>(table);
  if (k == 1) {
    return line<I>(indices, offsets, count, 0, first);
  }
  const end = offsets + 4 * count;
  let bad: u32 = 0;
  if (k == 2) {
    const second = changetype<Axis>(table + offsetof<Axis>());
    const narrow = <i64>limit(NARROW);
    if (first.dim <= narrow && second.dim <= narrow) {
      const wide = offsets + 4 * (count & ~3);
      bad = pairs<I>(indices, offsets, wide, first, second);
      indices += (count & ~3) * 2 * sizeof<I>();
      offsets = wide;
    }
  }
  for (; offsets < end; offsets += 4) {
    let offset: u32 = 0;
    const last = table + k * offsetof<Axis>();
    for (let row = table; row < last; row += offsetof<Axis>(), indices += sizeof<I>()) {
      const axis = changetype<Axis>(row);
      const index = wrapped(<i64>load<I>(indices), axis.wrap);
      bad |= isOutside(index, axis.dim);
      offset += <u32>index * axis.stride;
    }
    store<u32>(offsets, offset);
  }
  return bad;
}

/** Reads tuples of two indices, four tuples at a time, up to the offset at `end`. */
@inline
function pairs<I>(indices: usize, offsets: usize, end: usize, first: Axis, second: Axis): u32 {
  const dims = alternate(<i32>first.dim, <i32>second.dim);
  const wraps = alternate(<i32>first.wrap, <i32>second.wrap);
  const strides = alternate(first.stride, second.stride);
  let errors = i32x4.splat(0);
  for (; offsets < end; offsets += 16, indices += 8 * sizeof<I>()) {
    let left = wrappedLanes(lanes<I>(indices), wraps);
    let right = wrappedLanes(lanes<I>(indices + 4 * sizeof<I>()), wraps);
    errors = v128.or(errors, i32x4.ge_u(left, dims));
    errors = v128.or(errors, i32x4.ge_u(right, dims));
    left = i32x4.mul(left, strides);
    right = i32x4.mul(right, strides);
    const even = v128.shuffle<i32>(left, right, 0, 2, 4, 6);
    const odd = v128.shuffle<i32>(left, right, 1, 3, 5, 7);
    v128.store(offsets, i32x4.add(even, odd));
  }
  return u32(v128.any_true(errors));
}

/**
 * Checks indices along one axis without computing offsets; refuses negative indices. The greatest words suffice, because
 * a negative index is great as an unsigned word, or has a high word other than 0. 1,000,000 indices of 64 bits take
 * 0.08 ms.
 */
@inline
export function check<I>(indices: usize, count: usize, dim: u32): u32 {
  const length = count * sizeof<I>();
  const end = indices + length;
  let a = i32x4.splat(0);
  let b = a;
  for (const wide = indices + (length & ~31); indices < wide; indices += 32) {
    a = i32x4.max_u(a, v128.load(indices));
    b = i32x4.max_u(b, v128.load(indices, 16));
  }
  for (; indices < end; indices += sizeof<I>()) a = i32x4.max_u(a, v128.load_zero<I>(indices));
  // The odd lanes are the high words of indices with 64 bits.
  const greatest = alternate(dim - 1, sizeof<I>() == 8 ? 0 : dim - 1);
  return u32(v128.any_true(i32x4.gt_u(i32x4.max_u(a, b), greatest)));
}

/** Number of indices that `pick` checks before it follows them, while they are in the cache. */
const BLOCK: usize = 4096;

/**
 * Gathers straight from indices that are not negative: `out[i] = data[its row * dim + indices[i]]`, for elements of 4
 * bytes. Without offsets, which are written and read once more, 1,000,000 float32 take 0.3 ms instead of 0.7 ms. A
 * block of unchecked indices is checked before it is followed. Returns 1 at the first block that `check` refuses.
 */
@inline
export function pick<I>(
  indices: usize,
  out: usize,
  data: usize,
  rows: usize,
  row: usize,
  dim: usize,
  isChecked: u32,
): u32 {
  const most = max(BLOCK / row, 1);
  while (rows > 0) {
    const some = min(most, rows);
    if (!isChecked && check<I>(indices, some * row, <u32>dim)) return 1;
    pickRows<I>(indices, out, data, some, row, dim);
    indices += some * row * sizeof<I>();
    out += some * row * 4;
    data += some * dim * 4;
    rows -= some;
  }
  return 0;
}

@inline
function pickRows<I>(
  indices: usize,
  out: usize,
  data: usize,
  rows: usize,
  row: usize,
  dim: usize,
): void {
  for (; rows > 0; rows--, data += dim * 4) {
    const end = out + row * 4;
    for (const wide = end - (row & 3) * 4; out < wide; out += 4 * 4) {
      const a = load<u32>(data + <usize>load<u32>(indices) * 4);
      const b = load<u32>(data + <usize>load<u32>(indices, sizeof<I>()) * 4);
      const c = load<u32>(data + <usize>load<u32>(indices, 2 * sizeof<I>()) * 4);
      const d = load<u32>(data + <usize>load<u32>(indices, 3 * sizeof<I>()) * 4);
      store<u32>(out, a);
      store<u32>(out, b, 4);
      store<u32>(out, c, 2 * 4);
      store<u32>(out, d, 3 * 4);
      indices += 4 * sizeof<I>();
    }
    for (; out < end; out += 4, indices += sizeof<I>()) {
      store<u32>(out, load<u32>(data + <usize>load<u32>(indices) * 4));
    }
  }
}

/**
 * Addressing of rows of elements: the index selects the position along one axis, `place` and `step` give the position
 * along the last axis, and counters give the positions along the `outer` axes before it, whose records follow. `place`
 * and the counters describe the next row, and advance with each row.
 */
@unmanaged
class Grid extends Axis {
  place: u32;
  outer: u32;
}

/** An axis before the last axis. */
@unmanaged
class Outer {
  size: u32;
  step: u32;
  counter: u32;
}

/** Reads rows of indices: `offsets[i] = place of its row + i * step + indices[i] * stride`. */
@inline
export function elements<I>(
  indices: usize,
  offsets: usize,
  rows: usize,
  row: usize,
  table: usize,
): u32 {
  const grid = changetype<Grid>(table);
  let bad: u32 = 0;
  for (; rows > 0; rows--, indices += row * sizeof<I>(), offsets += 4 * row) {
    bad |= line<I>(indices, offsets, row, grid.place, grid);
    advance(grid);
  }
  return bad;
}

/**
 * Reads rows in which all indices are equal: `offsets[r] = place of the row + index * stride`, one offset per row.
 * Returns 1 as soon as it finds a row with two different indices.
 */
@inline
export function rows<I>(
  indices: usize,
  offsets: usize,
  count: usize,
  row: usize,
  table: usize,
): u32 {
  const grid = changetype<Grid>(table);
  const length = row * sizeof<I>();
  let bad: u32 = 0;
  for (; count > 0; count--, offsets += 4) {
    const end = indices + length;
    const first = v128.load_splat<I>(indices);
    let same = i32x4.splat(-1);
    for (const wide = end - (length & 15); indices < wide; indices += 16) {
      same = v128.and(same, v128.eq<I>(v128.load(indices), first));
    }
    for (; indices < end; indices += sizeof<I>()) {
      same = v128.and(same, v128.eq<I>(v128.load_splat<I>(indices), first));
    }
    if (!v128.all_true<i32>(same)) return 1;
    const index = wrapped(<i64>load<I>(end - sizeof<I>()), grid.wrap);
    bad |= isOutside(index, grid.dim);
    store<u32>(offsets, grid.place + <u32>index * grid.stride);
    advance(grid);
  }
  return bad;
}

/** Advances to the next row, by counting up the axes before the last axis like an odometer. */
@inline
function advance(grid: Grid): void {
  const table = changetype<usize>(grid) + offsetof<Grid>();
  let row = table + grid.outer * offsetof<Outer>();
  let place = grid.place;
  while (row > table) {
    row -= offsetof<Outer>();
    const axis = changetype<Outer>(row);
    place += axis.step;
    if (++axis.counter < axis.size) break;
    place -= axis.step * axis.size;
    axis.counter = 0;
  }
  grid.place = place;
}

/** Reads a row of indices along one axis: `offsets[i] = place + i * step + indices[i] * stride`. */
function line<I>(
  indices: usize,
  offsets: usize,
  count: usize,
  place: u32,
  axis: Axis,
): u32 {
  const step = axis.step;
  const dim = axis.dim;
  const wrap = axis.wrap;
  const stride = axis.stride;
  const end = offsets + 4 * count;
  let bad: u32 = 0;
  if (dim <= <i64>limit(NARROW)) {
    const wide = offsets + 4 * (count & ~3);
    const dims = i32x4.splat(<i32>dim);
    const wraps = i32x4.splat(<i32>wrap);
    const strides = i32x4.splat(stride);
    const steps = i32x4.splat(4 * step);
    let places = i32x4.add(i32x4.splat(place), i32x4.mul(i32x4(0, 1, 2, 3), i32x4.splat(step)));
    let errors = i32x4.splat(0);
    for (; offsets < wide; offsets += 16, indices += 4 * sizeof<I>()) {
      const four = wrappedLanes(lanes<I>(indices), wraps);
      errors = v128.or(errors, i32x4.ge_u(four, dims));
      v128.store(offsets, i32x4.add(places, i32x4.mul(four, strides)));
      places = i32x4.add(places, steps);
    }
    bad = u32(v128.any_true(errors));
    place += <u32>(count & ~3) * step;
  }
  for (; offsets < end; offsets += 4, indices += sizeof<I>(), place += step) {
    const index = wrapped(<i64>load<I>(indices), wrap);
    bad |= isOutside(index, dim);
    store<u32>(offsets, place + <u32>index * stride);
  }
  return bad;
}

/**
 * Returns four indices as 32-bit lanes. An index that does not fit becomes the smallest 32-bit integer, which is out of
 * range on every axis that uses 32-bit lanes, even after wrapping.
 */
@inline
function lanes<I>(indices: usize): v128 {
  if (sizeof<I>() == 4) return v128.load(indices);
  const a = v128.load(indices);
  const b = v128.load(indices, 16);
  const low = v128.shuffle<i32>(a, b, 0, 2, 4, 6);
  const high = v128.shuffle<i32>(a, b, 1, 3, 5, 7);
  const fits = i32x4.eq(high, i32x4.shr_s(low, 31));
  return v128.bitselect(low, i32x4.splat(i32.MIN_VALUE), fits);
}

@inline
function wrappedLanes(indices: v128, wraps: v128): v128 {
  return i32x4.add(indices, v128.and(wraps, i32x4.shr_s(indices, 31)));
}

@inline
function wrapped(index: i64, wrap: i64): i64 {
  return index + (wrap & (index >> 63));
}

@inline
function isOutside(index: i64, dim: i64): u32 {
  return u32(<u64>index >= <u64>dim);
}

@inline
function alternate(even: i32, odd: i32): v128 {
  return i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(even), 1, odd), 3, odd);
}
