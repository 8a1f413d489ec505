/** Rearranges offsets before other kernels use them: merges runs, and partitions updates among threads. */

/**
 * Returns the greatest common divisor of the lengths of all runs of offsets that are `slice` apart, which is the number
 * of slices that can be merged into one. Random offsets reduce the divisor to 1 within a few steps, so the search costs
 * almost nothing if runs cannot be merged.
 */
export function run_length(offsets: usize, count: u32, slice: u32): u32 {
  let run = count;
  const steps = i32x4.splat(slice);
  for (let p: u32 = 1; p < count && run > 1; ) {
    if (p + 4 <= count) {
      const at = offsets + 4 * <usize>p;
      const expected = i32x4.add(v128.load(at - 4), steps);
      if (v128.all_true<i32>(i32x4.eq(v128.load(at), expected))) {
        p += 4;
        continue;
      }
    }
    const at = offsets + 4 * <usize>p;
    if (load<u32>(at) != load<u32>(at - 4) + slice) run = greatestCommonDivisor(run, p);
    p++;
  }
  return run;
}

function greatestCommonDivisor(a: u32, b: u32): u32 {
  while (b != 0) {
    const rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/** Computes `starts[p] = offsets[p * run]`; both arrays may be the same. */
export function every_nth(offsets: usize, starts: usize, count: usize, run: usize): void {
  for (const end = starts + 4 * count; starts < end; starts += 4, offsets += 4 * run) {
    store<u32>(starts, load<u32>(offsets));
  }
}

/**
 * Selects the single-element updates with targets in `[low, low + span)`, in order: writes their offsets to `targets`,
 * and the updates to `values`. The loop has no branch, because a branch would often be mispredicted. Returns the number
 * of selected updates.
 */
@inline
export function partition<T>(
  offsets: usize,
  updates: usize,
  count: usize,
  low: u32,
  span: u32,
  targets: usize,
  values: usize,
): u32 {
  const first = targets;
  for (const end = offsets + 4 * count; offsets < end; offsets += 4, updates += sizeof<T>()) {
    const offset = load<u32>(offsets);
    store<u32>(targets, offset);
    store<T>(values, load<T>(updates));
    const isMine = <usize>(offset - low < span);
    targets += 4 * isMine;
    values += sizeof<T>() * isMine;
  }
  return <u32>((targets - first) >> 2);
}

/**
 * Sorts single-element updates stably by region: writes offsets to `targets`, updates to `values`, and the end of each
 * region to `ends`. A region has `region` elements, which must be a power of two.
 */
@inline
export function distribute<T>(
  offsets: usize,
  updates: usize,
  count: usize,
  region: u32,
  ends: usize,
  regions: usize,
  targets: usize,
  values: usize,
): void {
  const shift = ctz(region);
  findBegins(offsets, count, shift, ends, regions);
  for (const end = offsets + 4 * count; offsets < end; offsets += 4, updates += sizeof<T>()) {
    const offset = load<u32>(offsets);
    const at = ends + 4 * (<usize>offset >> shift);
    const place = <usize>load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(targets + 4 * place, offset);
    store<T>(values + sizeof<T>() * place, load<T>(updates));
  }
}

/** Counts, for each region, the updates in all regions before it. */
function findBegins(
  offsets: usize,
  count: usize,
  shift: u32,
  begins: usize,
  regions: usize,
): void {
  memory.fill(begins, 0, 4 * regions);
  for (const end = offsets + 4 * count; offsets < end; offsets += 4) {
    const at = begins + 4 * (<usize>load<u32>(offsets) >> shift);
    store<u32>(at, load<u32>(at) + 1);
  }
  let sum: u32 = 0;
  for (const end = begins + 4 * regions; begins < end; begins += 4) {
    const here = load<u32>(begins);
    store<u32>(begins, sum);
    sum += here;
  }
}

/** Number of bytes to copy at once: `memory.copy` bypasses the caches for longer ranges. */
@inline
const BLOCK: usize = 262_144;

/** Copies bytes, so that threads can share a copy. Copying 16 MB in blocks takes 0.4 ms instead of 0.5 ms. */
export function copy_bytes(to: usize, from: usize, length: usize): void {
  for (; length > BLOCK; length -= BLOCK, to += BLOCK, from += BLOCK) memory.copy(to, from, BLOCK);
  memory.copy(to, from, length);
}

/**
 * Marks the slices at the offsets, with one byte for each of the `slices` in the range that contains all offsets.
 * Returns the number of different offsets; 0 if an offset is not a multiple of `slice`.
 */
export function mark(offsets: usize, count: usize, slice: u32, marks: usize, slices: usize): u32 {
  memory.fill(marks, 0, slices);
  let rest: u32 = 0;
  let marked: u32 = 0;
  for (const end = offsets + 4 * count; offsets < end; offsets += 4) {
    const offset = load<u32>(offsets);
    const number = offset / slice;
    rest |= offset - number * slice;
    const at = marks + number;
    marked += 1 - load<u8>(at);
    store<u8>(at, 1);
  }
  return rest == 0 ? marked : 0;
}

/** Copies the slices without a mark, of `length` bytes each. */
export function copy_unmarked(to: usize, from: usize, marks: usize, slices: usize, length: usize): void {
  const end = marks + slices;
  for (let at = marks; at < end; ) {
    let next = at;
    while (next < end && load<u8>(next) == 0) next++;
    const skipped = (at - marks) * length;
    if (next > at) copy_bytes(to + skipped, from + skipped, (next - at) * length);
    at = next + 1;
  }
}
