/**
 * Prefetches memory with loads. WebAssembly has no prefetch instruction, and a processor looks ahead a few hundred
 * instructions, which is less than a row. A loop that only loads one byte per cache line keeps many lines in flight:
 * adding 200,000 rows of 128 float32 at random into 51 MB takes 12.5 ms instead of 21 ms.
 */

import { AHEAD, limit } from "./limits";

/** Size of a cache line, in bytes. */
@inline
const LINE: usize = 64;

/**
 * Prefetches the slices of `length` bytes at the offsets from `first` to `end`, and their counterparts on the
 * sequential side, which are `step` bytes apart. The processor itself prefetches counterparts that are contiguous, but
 * not if two threads each process half of every row: adding rows of 128 float16 on two threads takes 19 ms with this
 * prefetching and 29 ms without; one thread takes 32 ms.
 * @returns the address after the last offset whose slice was prefetched
 */
export function prefetchSlices(
  base: usize,
  bytes: usize,
  first: usize,
  end: usize,
  length: usize,
  ordered: usize,
  step: usize,
): usize {
  const ahead = limit(AHEAD);
  // The processor itself prefetches long slices.
  if (length >= ahead) return end;
  const stop = min(first + 4 * (ahead / max(length, LINE)), end);
  for (let at = first; at < stop; at += 4, ordered += step) {
    const slice = base + <usize>load<u32>(at) * bytes;
    for (let line: usize = 0; line < length; line += LINE) {
      load<u8>(slice + line);
      load<u8>(ordered + line);
    }
  }
  return stop;
}

/**
 * Prefetches single elements like `prefetchSlices`, four at a time; up to three elements at the end are not
 * prefetched.
 */
export function prefetchSingles(base: usize, bytes: usize, first: usize, end: usize): usize {
  const stop = min(first + 4 * (limit(AHEAD) / LINE), end);
  for (const wide = stop - 12; first < wide; first += 16) {
    load<u8>(base + <usize>load<u32>(first) * bytes);
    load<u8>(base + <usize>load<u32>(first, 4) * bytes);
    load<u8>(base + <usize>load<u32>(first, 8) * bytes);
    load<u8>(base + <usize>load<u32>(first, 12) * bytes);
  }
  return stop;
}
