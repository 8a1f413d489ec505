/**
 * Moves slices as bits, for gathers and for scatters without a reduction. `T` has the width of an element: u8, u16,
 * u32, u64 or v128. Offsets count elements. `pitch` is the distance between consecutive slices on the sequential side,
 * in elements, which is more than `slice` if only some columns of the slices are moved. `span` is the number of
 * elements in the range that contains all offsets.
 */

import { FAR, limit, LONG, PREFETCHED } from "./limits";

/** Bytes between the slice that a gather copies and the slice whose first byte it loads. */
@inline
const EARLY: usize = 4096;

/** Scatters: `out[offset p] = updates[p]`, in the order of p, so the last update wins. */
@inline
export function scatter<T>(
  out: usize,
  updates: usize,
  offsets: usize,
  count: usize,
  slice: usize,
  pitch: usize,
  span: usize,
): void {
  const end = offsets + 4 * count;
  if (slice == 1 && pitch == 1) {
    for (; offsets < end; offsets += 4, updates += sizeof<T>()) {
      store<T>(at<T>(out, offsets), load<T>(updates));
    }
    return;
  }
  const length = slice * sizeof<T>();
  const step = pitch * sizeof<T>();
  const isLong = length >= limit(LONG);
  for (; offsets < end; offsets += 4, updates += step) {
    copy<T>(at<T>(out, offsets), updates, length, isLong);
  }
}

/** Gathers: `out[p] = data[offset p]`. */
@inline
export function gather<T>(
  data: usize,
  out: usize,
  offsets: usize,
  count: usize,
  slice: usize,
  pitch: usize,
  span: usize,
): void {
  const end = offsets + 4 * count;
  if (slice == 1 && pitch == 1) {
    // Four loads come before their stores, so that 2,000,000 floats from 16 MB take 3.7 ms instead of 8.5 ms.
    const wide = end - 4 * (count & 3);
    for (; offsets < wide; offsets += 16, out += 4 * sizeof<T>()) {
      const a = load<T>(at<T>(data, offsets));
      const b = load<T>(at<T>(data, offsets + 4));
      const c = load<T>(at<T>(data, offsets + 8));
      const d = load<T>(at<T>(data, offsets + 12));
      store<T>(out, a);
      store<T>(out, b, sizeof<T>());
      store<T>(out, c, 2 * sizeof<T>());
      store<T>(out, d, 3 * sizeof<T>());
    }
    for (; offsets < end; offsets += 4, out += sizeof<T>()) {
      store<T>(out, load<T>(at<T>(data, offsets)));
    }
    return;
  }
  const length = slice * sizeof<T>();
  const step = pitch * sizeof<T>();
  if (span * sizeof<T>() >= limit(FAR) && length >= limit(PREFETCHED) && (length & 15) == 0) {
    gatherEarly(data, sizeof<T>(), out, offsets, end, length, step);
  } else {
    gatherSlices<T>(data, out, offsets, end, length, step);
  }
}

@inline
function gatherSlices<T>(
  data: usize,
  out: usize,
  offsets: usize,
  end: usize,
  length: usize,
  step: usize,
): void {
  const isLong = length >= limit(LONG);
  // V8 compiles the inner loop better than a single loop: slices of 2 to 16 bytes take a tenth less time.
  while (offsets < end) {
    const stop = isLong ? offsets + 4 : end;
    for (; offsets < stop; offsets += 4, out += step) copy<T>(out, at<T>(data, offsets), length, isLong);
  }
}

/**
 * Gathers slices, and loads the first byte of each some slices before it is copied: the processor then prefetches the
 * rest. Gathering 100,000 slices of 256 bytes from 26 MB takes 1.9 ms instead of 2.3 ms.
 */
function gatherEarly(
  data: usize,
  bytes: usize,
  out: usize,
  offsets: usize,
  end: usize,
  length: usize,
  step: usize,
): void {
  const isLong = length >= limit(LONG);
  const ahead = 4 * max(EARLY / max(length, 64), 1);
  const last = end - 4;
  for (; offsets < end; offsets += 4, out += step) {
    load<u8>(data + <usize>load<u32>(min(offsets + ahead, last)) * bytes);
    copy<v128>(out, data + <usize>load<u32>(offsets) * bytes, length, isLong);
  }
}

/** Returns the address of the element at an offset. */
@inline
function at<T>(base: usize, offset: usize): usize {
  return base + <usize>load<u32>(offset) * sizeof<T>();
}

/** Copies `length` bytes, with `memory.copy` for long slices. The two ranges must not overlap. */
@inline
export function copy<T>(to: usize, from: usize, length: usize, isLong: bool): void {
  if (isLong) {
    memory.copy(to, from, length);
    return;
  }
  const end = to + length;
  for (const wide = to + (length & ~63); to < wide; to += 64, from += 64) {
    const a = v128.load(from);
    const b = v128.load(from, 16);
    const c = v128.load(from, 32);
    const d = v128.load(from, 48);
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, d, 48);
  }
  for (const wide = end - (length & 15); to < wide; to += 16, from += 16) {
    v128.store(to, v128.load(from));
  }
  for (; to < end; to += sizeof<T>(), from += sizeof<T>()) store<T>(to, load<T>(from));
}
