/** Where WebAssembly and threads begin to pay. Sizes that decide only how fast a call is, never what it gives. */

import type { Plan } from "../../plan/plan.ts";

export interface Limits {
  /** Bytes of a window, which should stay in the cache between the copy in and the use. */
  readonly window: number;
  /** Below this many elements to move or combine, copies and calls cost more than they save. */
  readonly work: number;
  /** Below this many indices JavaScript reads them as fast. */
  readonly indices: number;
  /** Up to this many bytes a slice moves faster here, copies of both tensors included. */
  readonly slice: number;
  /** From this many bytes to move, or indices to read, it is worth waking the workers. */
  readonly share: number;
  /** From this many bytes of targets, which no cache holds, single updates are partitioned by destination. */
  readonly partition: number;
}

export const LIMITS: Limits = {
  window: 2 ** 18,
  work: 2 ** 12,
  indices: 2 ** 10,
  slice: 2 ** 10,
  share: 2 ** 18,
  partition: 2 ** 26,
};

/** Rows of at least this many indices are checked for holding one index throughout. */
export const LEAST_ROW = 8;

/** Whether there is enough to do. Plans that leave offsets out go to JavaScript, which knows `source`. */
export const isEnough = ({ batches, count, slice, source }: Plan, limits: Limits): boolean =>
  source === undefined && batches * count * slice >= limits.work;

/**
 * Whether a move pays whose tensors have to be copied: short slices do, which JavaScript moves one element at a time, if
 * they are not few beside what is copied in.
 */
export function moveOfHeapPays(plan: Plan, bytes: number, limits: Limits): boolean {
  const { batches, count, slice, size } = plan;
  return slice * bytes <= limits.slice && 8 * batches * count * slice >= size;
}
