/**
 * Moving slices by a Plan: gathers, and scatters with reduction `none`.
 *
 * Elements move as bits, by their width: 8, 16 or 32 bits at once, 64 and 128 as several of 32. Reading a float as a
 * number can quiet a signalling NaN. It also keeps the loop at four array classes: with five and more, V8 falls from
 * 2 ns an element to 28 and more.
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

/** `random` is the side that offsets point into, `sequential` the one that is walked in order. */
function move(plan: Plan, random: Storage, sequential: Storage, scatter: boolean): void {
  if (plan.size === 0) return;
  const r = bitsOf(random);
  const s = bitsOf(sequential);
  const width = r.length / plan.size;
  if (scatter) moveSlices(plan, width, s, r, true);
  else moveSlices(plan, width, r, s, false);
}

/** From 16 units on, `set` beats the loop. */
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

/** The elements as bits, 1, 2 or 4 bytes at a time; strings as they are. */
function bitsOf(data: Storage): Bits | string[] {
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
