/** Where WebAssembly and threads begin to pay. Sizes that decide only how fast a call is, never what it gives. */

import type { Plan } from "../../plan/plan.ts";
import { DTYPES, type DType, type Step } from "../../tensor/dtype.ts";

export interface Limits {
  /** Bytes of a window, which should stay in the cache between the copy in and the use. */
  readonly window: number;
  /** Below this many elements to move or combine, the call of a kernel costs more than it saves. */
  readonly work: number;
  /** Below this many, workers that do it while the caller goes on cost more than they save. */
  readonly submit: number;
  /** Below this many indices JavaScript reads them as fast. */
  readonly indices: number;
  /** Up to this many bytes a slice moves faster here, copies of both tensors included. */
  readonly slice: number;
  /** To copy this many bytes of data costs as much as an element saves that is moved; twice as many if it is combined. */
  readonly element: number;
  /** A reduction on copies costs at least as much as to copy this many bytes; a move on copies three times as much. */
  readonly call: number;
  /** From this many bytes of data on the heap, single updates are sorted by region. */
  readonly regions: number;
  /** From this many bytes to move, or indices to read, it is worth waking the workers. */
  readonly share: number;
  /** From this many bytes of targets, which no cache holds, single updates are partitioned by destination. */
  readonly partition: number;
}

export const LIMITS: Limits = {
  window: 2 ** 18,
  work: 2 ** 7,
  submit: 2 ** 12,
  indices: 2 ** 8,
  slice: 2 ** 10,
  element: 2 ** 5,
  call: 3 * 2 ** 12,
  regions: 2 ** 24,
  share: 2 ** 18,
  partition: 2 ** 26,
};

/** Rows of at least this many indices are checked for holding one index throughout. */
export const LEAST_ROW = 8;

/** Whether there is enough to do. Plans that leave offsets out go to JavaScript, which knows `source`. */
export const isEnough = ({ batches, count, slice, source }: Plan, least: number): boolean =>
  source === undefined && batches * count * slice >= least;

/**
 * Whether kernels save more time than it takes to copy data for them. Measured, as a share of JavaScript's time: float32
 * added in place to 8 MB, 33,000 of them 2.4, 126,000 0.88; slices of 512 bytes gathered out of 8 MB, 4,096 of them 1.23,
 * 8,192 0.84; out of 64 batches of 1 MB, 512 slices of 256 bytes of each 0.92, 1,024 0.59.
 * @param copies how often data is copied for kernels alone
 */
export function windowsPay(
  plan: Plan,
  dtype: DType,
  step: Step,
  copies: number,
  limits: Limits,
): boolean {
  const { batches, count, slice, size } = plan;
  const { bytes, family } = DTYPES[dtype];
  const slices = batches * count;
  const copied = copies * size * bytes;
  if (step === "none") {
    // A slice costs JavaScript as much as 4 elements at least, and 40 at most.
    const saved = limits.element * Math.min(Math.max(slice, 4), 40);
    return slice * bytes <= limits.slice && slices * saved >= copied + 3 * limits.call;
  }
  // JavaScript adds a float32 in 2.5 ns, a float16 in 40, and waits 40 for a target that no cache holds.
  const missed = size * bytes >= limits.regions ? 512 : 0;
  const saved = slice * limits.element * (family === "half" ? 16 : 2) + missed;
  return slices * saved >= copied + limits.call;
}
