/**
 * Moves slices by a Plan: gathers, and scatters with reduction `none`.
 *
 * Elements move as bits of their width: units of 8, 16 or 32 bits, and several units of 32 for 64 and 128 bits. Reading
 * a float as a number could quiet a signalling NaN. By width the loop also meets only four array classes: with five or
 * more, V8 falls from 2 ns an element to 28 and more.
 */

import { isNumericStorage, type Storage } from "../tensor/dtype.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";

type Bits = Uint8Array | Uint16Array | Uint32Array;

/** `out[offset p] = updates[p]` */
export function scatterMove(plan: Plan, updates: Storage, out: Storage): void {
  move(plan, out, updates, true);
}

/** `out[p] = data[offset p]` */
export function gatherMove(plan: Plan, data: Storage, out: Storage): void {
  move(plan, data, out, false);
}

/** `random` is the side that offsets point into, `sequential` the side that is walked in order. */
function move(plan: Plan, random: Storage, sequential: Storage, scatter: boolean): void {
  if (plan.size === 0) return;
  const elements = plan.offsets.length * plan.slice;
  if (elements <= FEW && plan.batches === 1 && plan.source === undefined) {
    const isDone =
      random instanceof Float32Array &&
      sequential instanceof Float32Array &&
      // Not pairs, as of complex64.
      random.length === plan.size &&
      (scatter
        ? moveFloats(plan, sequential, random, true)
        : moveFloats(plan, random, sequential, false));
    if (isDone) return;
  }
  const r = asBits(random);
  const s = asBits(sequential);
  const width = r.length / plan.size;
  if (scatter) moveSlices(plan, width, s, r, true);
  else moveSlices(plan, width, r, s, false);
}

/**
 * Moves of so few elements are done without views of bits: the first look at the buffer of a new array of up to 64 bytes
 * moves the array out of the heap, which takes 0.3 µs, as long as all the rest of a small call.
 */
const FEW = 64;

/**
 * Moves float32 as numbers, which keeps the bits of all but NaN.
 * @returns whether there was no NaN; if there was, elements behind it were not moved
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

/** In units. From this length of a slice on, `set` is faster than the loop. */
const LONG = 16;

function moveSlices(
  plan: Plan,
  width: number,
  from: Bits | string[],
  to: Bits | string[],
  scatter: boolean,
): void {
  const offsets = absoluteOffsets(plan);
  const { source } = plan;
  const slice = plan.slice * width;
  const long = slice >= LONG && !Array.isArray(from) && !Array.isArray(to);
  for (let p = 0; p < offsets.length; p++) {
    const random = offsets[p] * width;
    const sequential = (source === undefined ? p : source[p]) * slice;
    let read = scatter ? sequential : random;
    let write = scatter ? random : sequential;
    if (long) {
      to.set(from.subarray(read, read + slice), write);
    } else {
      for (const end = read + slice; read < end; read++, write++) to[write] = from[read];
    }
  }
}

/** The elements as units of 1, 2 or 4 bytes; strings as they are. */
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
