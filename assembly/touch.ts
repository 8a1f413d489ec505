/** How many bytes are sent for at once: they have to stay in the first cache until they are used. */
@inline
const TOUCHED: usize = 16384;

/** A cache line, in bytes. */
@inline
const LINE: usize = 64;

/**
 * Targets that lie in at least this many bytes are worth sending for; fewer stay in the caches.
 * 1,000,000 float32 added at random into 4 MB take 2.9 ms, and 4.0 when they are sent for; into 16 MB 10 and 8.4.
 */
export const FAR: usize = 0x800000;

/**
 * Sends for the slices of `length` bytes at the next offsets, from `first` up to `end` at most, so that they are there
 * when they are worked on. WebAssembly cannot prefetch, and a processor looks ahead a few hundred instructions, which is
 * less than a row: a loop that does nothing but load a byte of each line keeps many of them on their way.
 * 200,000 rows of 128 float32 added at random into 51 MB take 12.5 ms instead of 21; gathered, 11 instead of 13.
 *
 * @returns how far it got
 */
@inline
export function touch(base: usize, bytes: usize, first: usize, end: usize, length: usize): usize {
  // The processor follows long slices by itself.
  if (length >= TOUCHED) return end;
  const stop = min(first + 4 * (TOUCHED / max(length, LINE)), end);
  for (let at = first; at < stop; at += 4) {
    let line = base + <usize>load<u32>(at) * bytes;
    for (const last = line + length; line < last; line += LINE) load<u8>(line);
  }
  return stop;
}

/** The same for single elements. */
@inline
export function touchSingles(base: usize, bytes: usize, first: usize, end: usize): usize {
  const stop = min(first + 4 * (TOUCHED / LINE), end);
  for (const wide = stop - 12; first < wide; first += 16) {
    load<u8>(base + <usize>load<u32>(first) * bytes);
    load<u8>(base + <usize>load<u32>(first, 4) * bytes);
    load<u8>(base + <usize>load<u32>(first, 8) * bytes);
    load<u8>(base + <usize>load<u32>(first, 12) * bytes);
  }
  return stop;
}
