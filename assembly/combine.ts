/**
 * Combines slices: computes `out[offset p] = f(out[offset p], updates[p])` for p from 0 to count, in that order.
 * Offsets count elements. `pitch` is the distance between consecutive updates, in elements, which is more than `slice`
 * if only some columns of the slices are combined. `span` is the number of elements in the range that contains all
 * targets. `A` is the arithmetic, and `op` is a constant.
 */

import { FAR, limit } from "./limits";
import { prefetchSingles, prefetchSlices } from "./prefetch";
import { ADD, MAX_DATA, MUL, SUB } from "./reduction";

@inline
export function combine<A>(
  op: i32,
  out: usize,
  updates: usize,
  offsets: usize,
  count: usize,
  slice: usize,
  pitch: usize,
  span: usize,
): void {
  const bytes = changetype<A>(0).bytes;
  const isFar = span * bytes >= limit(FAR);
  const end = offsets + 4 * count;
  if (slice == 1 && pitch == 1) {
    const a = changetype<A>(0);
    if (isDefined(a.singles) && (op == ADD || op == MUL || op == SUB)) {
      a.singles(op, out, updates, offsets, end);
    } else {
      singles<A>(op, out, updates, offsets, end, isFar);
    }
    return;
  }
  if (slice == 0) return;
  const length = slice * bytes;
  const step = pitch * bytes;
  while (offsets < end) {
    const stop = isFar ? prefetchSlices(out, bytes, offsets, end, length, updates, step) : end;
    for (; offsets < stop; offsets += 4, updates += step) {
      row<A>(op, out + <usize>load<u32>(offsets) * bytes, updates, length);
    }
  }
}

/**
 * Combines single elements. Computing max of 1,000,000 float32 at random positions in 16 MB takes 5.1 ms with
 * prefetching, and 12.4 ms without.
 */
@inline
function singles<A>(
  op: i32,
  out: usize,
  updates: usize,
  offsets: usize,
  end: usize,
  isFar: bool,
): void {
  const bytes = changetype<A>(0).bytes;
  while (offsets < end) {
    const stop = isFar ? prefetchSingles(out, bytes, offsets, end) : end;
    for (; offsets < stop; offsets += 4, updates += bytes) {
      single<A>(op, out + <usize>load<u32>(offsets) * bytes, updates);
    }
  }
}

/** Combines one slice of `length` bytes. */
@inline
function row<A>(op: i32, target: usize, update: usize, length: usize): void {
  const end = target + length;
  const a = changetype<A>(0);
  if (isDefined(a.plain) && op < MAX_DATA) {
    const wide = target + (length & ~63);
    for (; target < wide; target += 64, update += 64) block<A>(op, target, update);
  }
  const wide = end - (length & 15);
  for (; target < wide; target += 16, update += 16) register<A>(op, target, update);
  if (a.bytes == 16) return;
  for (; target < end; target += a.bytes, update += a.bytes) single<A>(op, target, update);
}

/**
 * Combines 64 bytes of the target's floats with those of an update. Making NaNs canonical takes four instructions per
 * register, so a block is first tested for NaNs. The processor looks ahead to the next row if the row has few
 * instructions: adding 200,000 rows of 128 float32 at random takes 19 ms, instead of 26 ms if each register is tested.
 */
@inline
function block<A>(op: i32, target: usize, update: usize): void {
  const a = changetype<A>(0);
  const x0 = v128.load(target);
  const x1 = v128.load(target, 16);
  const x2 = v128.load(target, 32);
  const x3 = v128.load(target, 48);
  const y0 = v128.load(update);
  const y1 = v128.load(update, 16);
  const y2 = v128.load(update, 32);
  const y3 = v128.load(update, 48);
  const v0 = a.plain(op, x0, y0);
  const v1 = a.plain(op, x1, y1);
  const v2 = a.plain(op, x2, y2);
  const v3 = a.plain(op, x3, y3);
  const w0 = a.witness(op, x0, y0, v0);
  const w1 = a.witness(op, x1, y1, v1);
  const w2 = a.witness(op, x2, y2, v2);
  const w3 = a.witness(op, x3, y3, v3);
  if (op < MAX_DATA && a.isAnyNaN(w0, w1, w2, w3)) {
    for (let i: usize = 0; i < 64; i += 16) register<A>(op, target + i, update + i);
  } else {
    v128.store(target, v0);
    v128.store(target, v1, 16);
    v128.store(target, v2, 32);
    v128.store(target, v3, 48);
  }
}

/** Combines 16 bytes. */
@inline
function register<A>(op: i32, target: usize, update: usize): void {
  const a = changetype<A>(0);
  v128.store(target, a.step(op, v128.load(target), v128.load(update), false));
}

/**
 * Combines an element in the first lane of a register, so that the maximum of floats needs no branch, and slices and
 * single elements share the same arithmetic.
 */
@inline
function single<A>(op: i32, target: usize, update: usize): void {
  const a = changetype<A>(0);
  if (a.bytes == 1) {
    const v = a.step(op, v128.load8_splat(target), v128.load8_splat(update), true);
    v128.store8_lane(target, v, 0);
  } else if (a.bytes == 2) {
    const v = a.step(op, v128.load16_splat(target), v128.load16_splat(update), true);
    v128.store16_lane(target, v, 0);
  } else if (a.bytes == 4) {
    const v = a.step(op, v128.load32_splat(target), v128.load32_splat(update), true);
    v128.store32_lane(target, v, 0);
  } else if (a.bytes == 8) {
    const v = a.step(op, v128.load64_splat(target), v128.load64_splat(update), true);
    v128.store64_lane(target, v, 0);
  } else {
    v128.store(target, a.step(op, v128.load(target), v128.load(update), true));
  }
}
