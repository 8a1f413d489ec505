/**
 * Moves slices according to a Plan, for gathers and for scatters with reduction `none`.
 *
 * Elements move as bits of their width: units of 8, 16 or 32 bits, or several 32-bit units for 64 and 128 bits. Reading
 * a float as a number could quiet a signalling NaN. Moving by width also limits the loop to four array classes: with
 * five or more, V8 takes at least 28 ns per element instead of 2 ns.
 */

import { MOVE } from "../limits.ts";
import { isNumericStorage, type Storage } from "../tensor/dtype.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import { bytesOf } from "../tensor/storage.ts";

type Bits = Uint8Array | Uint16Array | Uint32Array;

/** Scatters: `out[offset p] = updates[p]`. */
export function scatterMove(plan: Plan, updates: Storage, out: Storage): void {
  move(plan, out, updates, true);
}

/** Gathers: `out[p] = data[offset p]`. */
export function gatherMove(plan: Plan, data: Storage, out: Storage): void {
  move(plan, data, out, false);
}

/** Moves slices between `random`, which offsets point into, and `sequential`, which is accessed in order. */
function move(plan: Plan, random: Storage, sequential: Storage, scatter: boolean): void {
  if (plan.size === 0) return;
  const elements = plan.offsets.length * plan.slice;
  if (elements <= MOVE.few && plan.batches === 1 && plan.source === undefined) {
    const isDone =
      random instanceof Float32Array &&
      sequential instanceof Float32Array &&
      // complex64 has two array entries per element, so its lengths differ.
      random.length === plan.size &&
      (scatter
        ? moveFloats(plan, sequential, random, true)
        : moveFloats(plan, random, sequential, false));
    if (isDone) return;
  }
  const offsets = absoluteOffsets(plan);
  const r = asBits(random);
  const s = asBits(sequential);
  const isMoved = !Array.isArray(r) && !Array.isArray(s) && moveRows(plan, offsets, r, s, scatter);
  if (!isMoved) moveSlices(plan, offsets, r, s, scatter);
}

/**
 * Moves float32 elements as numbers, which preserves the bits of all numbers except NaN. Returns false if the move
 * stopped at a NaN.
 */
function moveFloats(
  { offsets, slice }: Plan,
  from: Float32Array,
  to: Float32Array,
  scatter: boolean,
): boolean {
  for (let p = 0, sequential = 0; p < offsets.length; p++, sequential += slice) {
    let read = scatter ? sequential : offsets[p];
    let write = scatter ? offsets[p] : sequential;
    for (const end = read + slice; read < end; read++, write++) {
      const value = from[read];
      if (value !== value) return false;
      to[write] = value;
    }
  }
  return true;
}

/** Size of a cache line, in bytes. */
const LINE = 64;

/**
 * Moves slices of at least a cache line, in a loop over words or with `set`. Returns false if nothing was moved,
 * because a loop over elements is faster.
 */
function moveRows(
  { source, slice, size }: Plan,
  offsets: Uint32Array,
  random: Bits,
  sequential: Bits,
  scatter: boolean,
): boolean {
  const bytes = random.byteLength / size;
  const length = slice * bytes;
  if (length < LINE) return false;
  const isFar = random.byteLength >= MOVE.far && length <= MOVE.followed;
  const Words = wordsFor(offsets, length, isFar, bytes, random, sequential);
  if (Words === null && !isFar && length / random.BYTES_PER_ELEMENT < MOVE.long) return false;
  // A loop does not wait for the targets of a scatter, because processors do not wait for stores.
  const isAhead = isFar && !(Words && scatter);
  const group = isAhead ? MOVE.ahead : offsets.length;
  const [data, near] = [random, sequential].map(bytesOf);
  const [from, to] = scatter ? [near, data] : [data, near];
  const { buffer, byteOffset } = from;
  const unit = Words?.BYTES_PER_ELEMENT ?? 1;
  const [fromWords, toWords] = [from, to].map(
    (side) => Words && new Words(side.buffer, side.byteOffset, Math.floor(side.byteLength / unit)),
  );
  for (let p = 0; p < offsets.length;) {
    const stop = Math.min(p + group, offsets.length);
    // V8 removes loads whose results are unused, so the result is written where the first slice is written next.
    const first = scatter ? offsets[p] * bytes : (source?.[p] ?? p) * length;
    if (isAhead) to[first] = prefetch(data, offsets.subarray(p, stop), bytes, length);
    for (; p < stop; p++) {
      const there = offsets[p] * bytes;
      const here = (source === undefined ? p : source[p]) * length;
      const read = scatter ? here : there;
      const write = scatter ? there : here;
      if (fromWords && toWords)
        copyWords(fromWords, read / unit, toWords, write / unit, length / unit);
      // Creating a view of the buffer is faster than `subarray`: a 256-byte slice takes 37 ns instead of 50 ns.
      else to.set(new Uint8Array(buffer, byteOffset + read, length), write);
    }
  }
  return true;
}

/**
 * Returns the widest integers that a loop copies without allocating memory, or null if slices are not aligned or if
 * `set` is faster or could be faster. V8 copies 256 bytes in 16 ns as 64-bit integers, in 29 ns as 32-bit integers and
 * in 36 ns with `set`; JavaScriptCore in 1,000 ns, 19 ns and 37 ns. SpiderMonkey copies 32-bit integers in 30 ns and in
 * 49 ns with `set`. Float64Array could change the bits of NaN. The type is that of either class, because words are only
 * copied.
 */
function wordsFor(
  offsets: Uint32Array,
  length: number,
  isFar: boolean,
  bytes: number,
  { byteOffset, byteLength }: Bits,
  other: Bits,
): Int32ArrayConstructor | null {
  // Positions of words must be integers of 31 bits.
  if (offsets.length * length < MOVE.large || byteLength + other.byteLength > 2 ** 32) return null;
  const agent = userAgent();
  const isV8 = /^(Node|Deno)|Chrome/.test(agent);
  const isFit = length <= MOVE.followed && length <= MOVE.words === isV8;
  if ((!isFar && !isFit) || (!isV8 && !/^Bun|Firefox|Safari/.test(agent))) return null;
  let bits = length | byteOffset | other.byteOffset;
  if (bytes < 8) for (let p = 0; p < offsets.length; p++) bits |= offsets[p] * bytes;
  const Words = (isV8 ? BigInt64Array : Int32Array) as Int32ArrayConstructor;
  return bits % Words.BYTES_PER_ELEMENT === 0 ? Words : null;
}

/** Returns the name of the platform, or empty text if a page's own `navigator` throws, which must not end a call. */
function userAgent(): string {
  try {
    const { navigator } = globalThis as { navigator?: { readonly userAgent?: unknown } | null };
    return String(navigator?.userAgent ?? "Node 20");
  } catch {
    return "";
  }
}

function copyWords(
  from: Int32Array,
  read: number,
  to: Int32Array,
  write: number,
  count: number,
): void {
  // V8 omits tests for overflow if it knows that positions are 32-bit integers: 256 bytes take 26 ns instead of 33 ns.
  let r = read | 0;
  let w = write | 0;
  const end = (r + count) | 0;
  for (const wide = end - 7; r < wide; r += 8, w += 8) {
    to[w] = from[r];
    to[w + 1] = from[r + 1];
    to[w + 2] = from[r + 2];
    to[w + 3] = from[r + 3];
    to[w + 4] = from[r + 4];
    to[w + 5] = from[r + 5];
    to[w + 6] = from[r + 6];
    to[w + 7] = from[r + 7];
  }
  for (; r < end; r++, w++) to[w] = from[r];
}

/**
 * Reads a byte of each cache line of slices, so that the processor fetches the lines concurrently. Reading eight slices
 * at a time takes half as long as one, because V8 tests the array in each iteration. Returns an arbitrary number.
 */
function prefetch(data: Uint8Array, offsets: Uint32Array, bytes: number, length: number): number {
  let seen = 0;
  for (let p = 7; p < offsets.length; p += 8) {
    const a = offsets[p - 7] * bytes;
    const b = offsets[p - 6] * bytes;
    const c = offsets[p - 5] * bytes;
    const d = offsets[p - 4] * bytes;
    const e = offsets[p - 3] * bytes;
    const f = offsets[p - 2] * bytes;
    const g = offsets[p - 1] * bytes;
    const h = offsets[p] * bytes;
    for (let at = 0; at < length; at += LINE) {
      seen |= data[a + at] | data[b + at] | data[c + at] | data[d + at];
      seen |= data[e + at] | data[f + at] | data[g + at] | data[h + at];
    }
  }
  return seen;
}

/** Moves the slices of a Plan in a loop over elements. */
function moveSlices(
  { source, slice: elements, size }: Plan,
  offsets: Uint32Array,
  random: Bits | string[],
  sequential: Bits | string[],
  scatter: boolean,
): void {
  const width = random.length / size;
  const slice = elements * width;
  const from = scatter ? sequential : random;
  const to = scatter ? random : sequential;
  if (slice === 1 && source === undefined) return moveSingles(offsets, from, to, scatter);
  for (let p = 0; p < offsets.length; p++) {
    const far = offsets[p] * width;
    const near = (source === undefined ? p : source[p]) * slice;
    let read = scatter ? near : far;
    let write = scatter ? far : near;
    const end = read + slice;
    // Units are copied four at a time: 16 units take 20 ns instead of 56 ns.
    for (const wide = end - 3; read < wide; read += 4, write += 4) {
      to[write] = from[read];
      to[write + 1] = from[read + 1];
      to[write + 2] = from[read + 2];
      to[write + 3] = from[read + 3];
    }
    for (; read < end; read++, write++) to[write] = from[read];
  }
}

/**
 * Moves single-element slices in minimal loops: the fewer instructions a loop has, the more elements the processor
 * fetches concurrently.
 */
function moveSingles(
  offsets: Uint32Array,
  from: Bits | string[],
  to: Bits | string[],
  scatter: boolean,
): void {
  if (scatter) for (let p = 0; p < offsets.length; p++) to[offsets[p]] = from[p];
  else for (let p = 0; p < offsets.length; p++) to[p] = from[offsets[p]];
}

/** Returns the elements as units of 1, 2 or 4 bytes; strings are returned unchanged. */
function asBits(data: Storage): Bits | string[] {
  if (data instanceof Uint8Array || data instanceof Uint16Array || data instanceof Uint32Array)
    return data;
  if (!isNumericStorage(data)) return data;
  const { buffer, byteOffset, byteLength } = data;
  switch (data.BYTES_PER_ELEMENT) {
    case 1:
      return new Uint8Array(buffer, byteOffset, byteLength);
    case 2:
      return new Uint16Array(buffer, byteOffset, byteLength / 2);
    default:
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
  }
}
