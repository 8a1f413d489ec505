/** Calls the engine on the memory of a workspace, with slices of equal length that rows address. */

import { callNow } from "../../../core/call/steps.ts";
import { divisorOf, stepsOf, type Reducing } from "../../../core/call/steps.ts";
import type { Executor } from "../../../core/engines/executor.ts";
import type { ErrorContext } from "../../../core/errors.ts";
import { divide } from "../../../core/kernels/divide.ts";
import type { Plan } from "../../../core/plan/plan.ts";
import { DTYPES, viewOf, type DType, type Step, type Storage } from "../../../core/tensor/dtype.ts";

/** Views bytes as elements of their data type. */
export function elementsOf(dtype: DType, bytes: Uint8Array): Storage {
  const entry = DTYPES[dtype].bytes / DTYPES[dtype].lanes;
  return viewOf(dtype, bytes.buffer, bytes.byteOffset, bytes.byteLength / entry);
}

/** Creates a Plan for slices. The values of `offsets` count elements. */
const planOf = (offsets: Uint32Array, slice: number, size: number, source?: Uint32Array): Plan => ({
  offsets,
  slice,
  count: offsets.length,
  size,
  batches: 1,
  span: size,
  ...(source !== undefined && { source }),
});

/** Converts slice numbers to element offsets, in place. */
export function toOffsets(rows: Uint32Array, slice: number): Uint32Array {
  if (slice !== 1) for (let p = 0; p < rows.length; p++) rows[p] *= slice;
  return rows;
}

/** Gathers slices of `slice` elements, so that output p is the slice of data at offset p. */
export function gatherSlices(
  executor: Executor,
  dtype: DType,
  offsets: Uint32Array,
  slice: number,
  data: Storage,
  out: Storage,
  fields: ErrorContext,
): void {
  const plan = planOf(offsets, slice, data.length / DTYPES[dtype].lanes);
  callNow(executor, fields, (session) => session.gather(plan, dtype, data, out));
}

/**
 * Writes slices of `slice` elements: update p, or update `source[p]` if `source` is given, replaces the slice of data
 * at `offsets[p]`.
 */
export function placeSlices(
  executor: Executor,
  dtype: DType,
  offsets: Uint32Array,
  slice: number,
  updates: Storage,
  data: Storage,
  fields: ErrorContext,
  source?: Uint32Array,
): void {
  scatter(
    executor,
    dtype,
    "none",
    planOf(offsets, slice, data.length / DTYPES[dtype].lanes, source),
    updates,
    data,
    fields,
  );
}

function scatter(
  executor: Executor,
  dtype: DType,
  step: Step,
  plan: Plan,
  updates: Storage,
  data: Storage,
  fields: ErrorContext,
): void {
  callNow(executor, fields, (session) => session.scatter(plan, dtype, step, data, updates, data));
}

/**
 * Applies a chunk's updates, either all together or in several parts. The result does not depend on the parts. Between
 * parts, this object remembers which targets already have updates, and how many.
 */
export class Combiner {
  readonly #executor: Executor;
  readonly #dtype: DType;
  readonly #data: Storage;
  readonly #slice: number;
  readonly #size: number;
  readonly #reducing: Reducing;
  readonly #fields: ErrorContext;
  /** The number of updates of each row so far; null if the reduction does not need it. */
  readonly #counts: Uint32Array | null;

  constructor(
    executor: Executor,
    dtype: DType,
    data: Storage,
    slice: number,
    reducing: Reducing,
    fields: ErrorContext,
  ) {
    this.#executor = executor;
    this.#dtype = dtype;
    this.#data = data;
    this.#slice = slice;
    this.#size = data.length / DTYPES[dtype].lanes;
    this.#reducing = reducing;
    this.#fields = fields;
    const { first, later, divides } = stepsOf(reducing, dtype);
    const isCounted = divides || first !== later;
    this.#counts = isCounted && slice > 0 ? new Uint32Array(this.#size / slice) : null;
  }

  /** `rows` contains one row per update, and is overwritten with offsets. */
  add(rows: Uint32Array, updates: Storage): void {
    const { first, later } = stepsOf(this.#reducing, this.#dtype);
    const counts = this.#counts;
    if (counts === null) return this.#scatter(later, toOffsets(rows, this.#slice), updates);
    const isFirst = new Uint8Array(rows.length);
    let firsts = 0;
    for (let p = 0; p < rows.length; p++) {
      isFirst[p] = counts[rows[p]]++ === 0 ? 1 : 0;
      firsts += isFirst[p];
    }
    const offsets = toOffsets(rows, this.#slice);
    if (first === later) return this.#scatter(first, offsets, updates);
    const pick = (wanted: number, length: number): [Uint32Array, Uint32Array] => {
      const picked = new Uint32Array(length);
      const source = new Uint32Array(length);
      for (let p = 0, i = 0; p < offsets.length; p++) {
        if (isFirst[p] !== wanted) continue;
        picked[i] = offsets[p];
        source[i++] = p;
      }
      return [picked, source];
    };
    const [firstOffsets, firstSource] = pick(1, firsts);
    this.#scatter(first, firstOffsets, updates, firstSource);
    const [laterOffsets, laterSource] = pick(0, offsets.length - firsts);
    this.#scatter(later, laterOffsets, updates, laterSource);
  }

  /**
   * Combines updates with the current values, even for the first update of a target. `positions` contains the position
   * of each row's update.
   */
  combine(rows: Uint32Array, updates: Storage, positions: Uint32Array): void {
    const { later } = stepsOf(this.#reducing, this.#dtype);
    this.#scatter(later, toOffsets(rows, this.#slice), updates, positions);
  }

  /** Divides means, after the last update. */
  end(): void {
    const counts = this.#counts;
    if (counts === null || !stepsOf(this.#reducing, this.#dtype).divides) return;
    let length = 0;
    for (let row = 0; row < counts.length; row++) if (counts[row] > 0) length++;
    const rows = new Uint32Array(length);
    const divisors = new Uint32Array(length);
    for (let row = 0, i = 0; row < counts.length; row++) {
      if (counts[row] === 0) continue;
      rows[i] = row;
      divisors[i++] = divisorOf(this.#reducing, counts[row]);
    }
    divide(this.#dtype, this.#data, this.#slice, toOffsets(rows, this.#slice), divisors);
  }

  #scatter(step: Step, offsets: Uint32Array, updates: Storage, source?: Uint32Array): void {
    const plan = planOf(offsets, this.#slice, this.#size, source);
    scatter(this.#executor, this.#dtype, step, plan, updates, this.#data, this.#fields);
  }
}
