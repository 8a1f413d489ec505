/**
 * Combining slices: `out[offset p] = f(out[offset p], updates[p])` for p from 0 to count, in that order. Offsets are
 * counted in elements. `A` is the arithmetic, `op` a constant.
 */

@inline
export function combine<A>(
  op: i32,
  out: usize,
  updates: usize,
  offsets: usize,
  count: usize,
  slice: usize,
): void {
  const bytes = changetype<A>(0).bytes;
  const end = offsets + 4 * count;
  if (slice == 1) {
    for (; offsets < end; offsets += 4, updates += bytes) {
      single<A>(op, out + <usize>load<u32>(offsets) * bytes, updates);
    }
    return;
  }
  const length = slice * bytes;
  for (; offsets < end; offsets += 4, updates += length) {
    row<A>(op, out + <usize>load<u32>(offsets) * bytes, updates, length);
  }
}

/** One slice of `length` bytes. */
@inline
function row<A>(op: i32, target: usize, update: usize, length: usize): void {
  const a = changetype<A>(0);
  const wide = target + (length & ~15);
  const end = target + length;
  for (; target < wide; target += 16, update += 16) {
    v128.store(target, a.step(op, v128.load(target), v128.load(update), false));
  }
  for (; target < end; target += a.bytes, update += a.bytes) single<A>(op, target, update);
}

/** One element, in the first lane of a register: float maximum without a branch, and one arithmetic for all. */
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
