/**
 * The executor in WebAssembly. Tensors of the heap stream through windows of its memory; the one that is accessed at
 * random is copied as a whole, or batch by batch where batches fit in a window. What is small, what only moves and
 * text are left to JavaScript: there the copies would cost more than they save.
 */

import {
  DTYPES,
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
  type Reduction,
  type Storage,
} from "../../dtype.ts";
import { isTensorError } from "../../errors.ts";
import { readIndices, type ElementJob, type IndexJob, type TupleJob } from "../../offsets.ts";
import { coarsen, type Plan } from "../../plan.ts";
import { bytesOf, copy, isSameMemory } from "../../storage.ts";
import type { Executor } from "../executor.ts";
import type { Heap } from "./heap.ts";
import { AXIS_BYTES, writeAxes, type Kernels, type SliceKernel } from "./kernels.ts";

/** Where WebAssembly begins to pay. */
export interface Limits {
  /** Bytes of a window, which should stay in the cache between the copy in and the use. */
  readonly window: number;
  /** Below this many elements to combine, copies and calls cost more than they save. */
  readonly work: number;
  /** Below this many indices, or indices in a row, JavaScript reads them as fast. */
  readonly indices: number;
  readonly row: number;
}

const LIMITS: Limits = { window: 2 ** 18, work: 2 ** 12, indices: 2 ** 10, row: 2 ** 6 };

export class WasmExecutor implements Executor {
  readonly kind = "wasm";
  readonly threads = 1;
  readonly #js: Executor;
  readonly #heap: Heap;
  readonly #kernels: Kernels;
  readonly #limits: Limits;
  /** What the scope that is open has taken. */
  #scratch: number[] = [];
  constructor(js: Executor, heap: Heap, kernels: Kernels, limits = LIMITS) {
    this.#limits = limits;
    this.#js = js;
    this.#heap = heap;
    this.#kernels = kernels;
  }

  allocate(dtype: DType, size: number): Storage {
    return this.#js.allocate(dtype, size);
  }

  alloc(dtype: DType, size: number): Storage {
    const { bytes, lanes } = DTYPES[dtype];
    if (dtype === "string" || !this.#heap.isShared) return this.#js.alloc(dtype, size);
    const pointer = this.#heap.take(size * bytes);
    this.#heap.bytesAt(pointer, size * bytes).fill(0);
    return viewOf(dtype, this.#heap.memory.buffer, pointer, size * lanes);
  }

  recycle(data: Storage): void {
    if (isNumericStorage(data) && this.#heap.has(data)) this.#heap.give(data.byteOffset);
    else this.#js.recycle(data);
  }

  dispose(): void {
    this.#js.dispose();
  }

  scope<T>(action: () => T): T {
    const outer = this.#scratch;
    this.#scratch = [];
    try {
      return action();
    } finally {
      for (const pointer of this.#scratch) this.#heap.give(pointer);
      this.#scratch = outer;
    }
  }

  readonly readIndices = (job: IndexJob): ReturnType<typeof readIndices> => {
    const isSmall =
      job.count < this.#limits.indices ||
      (job.kind === "elements" && job.shape[job.shape.length - 1] < this.#limits.row);
    // Of a bad index it is JavaScript that says which.
    const pointer = isSmall ? null : attempt(() => this.#read(job));
    if (pointer === null) return readIndices(job);
    return new Uint32Array(this.#heap.memory.buffer, pointer, job.count);
  };

  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): void {
    const done =
      plan.source === undefined &&
      this.#isResident(data) &&
      this.#isResident(out) &&
      attempt(() => {
        const coarse = coarsen(plan);
        const kernel = this.#kernels.gather(DTYPES[dtype].bytes);
        this.#eachBatch(coarse, dtype, kernel, data.byteOffset, out.byteOffset);
        return true;
      });
    if (!done) this.#js.gather(plan, dtype, data, out);
  }

  scatter(
    plan: Plan,
    dtype: DType,
    reduction: Reduction,
    data: Storage,
    updates: Storage,
    out: Storage,
  ): void {
    const isMove = reduction === "none";
    const isWorth = isMove
      ? this.#isResident(out) && this.#isResident(updates)
      : plan.batches * plan.count * plan.slice >= this.#limits.work;
    const done =
      isWorth &&
      plan.source === undefined &&
      isNumericStorage(data) &&
      isNumericStorage(updates) &&
      isNumericStorage(out) &&
      attempt(() => {
        const kernel = isMove
          ? this.#kernels.scatter(DTYPES[dtype].bytes)
          : this.#kernels.combine(dtype, reduction);
        this.#apply(coarsen(plan), dtype, kernel, data, updates, out);
        return true;
      });
    if (!done) this.#js.scatter(plan, dtype, reduction, data, updates, out);
  }

  #isResident(data: Storage): data is NumericStorage {
    return isNumericStorage(data) && this.#heap.has(data);
  }

  /** Memory until the scope ends. */
  #borrow(bytes: number): number {
    const pointer = this.#heap.take(bytes);
    this.#scratch.push(pointer);
    return pointer;
  }

  /** The address of a Plan's offsets, which are copied where they are not here. */
  #addressOf({ offsets }: Plan): number {
    if (this.#heap.has(offsets)) return offsets.byteOffset;
    const pointer = this.#borrow(offsets.byteLength);
    this.#heap.bytesAt(pointer, offsets.byteLength).set(bytesOf(offsets));
    return pointer;
  }

  /** The address of the offsets of `job`, or null where an index is bad. */
  #read(job: IndexJob): number | null {
    const pointer = this.#borrow(4 * job.count);
    const isGood =
      job.kind === "tuples" ? this.#readTuples(job, pointer) : this.#readElements(job, pointer);
    return isGood ? pointer : null;
  }

  #readTuples({ words, step, count, axes }: TupleJob, pointer: number): boolean {
    const k = axes.length;
    const table = this.#borrow(AXIS_BYTES * k);
    writeAxes(this.#heap, table, axes);
    const perTuple = k * step;
    const most = Math.max(Math.floor(this.#limits.window / 4 / Math.max(perTuple, 1)), 1);
    const window = this.#window(words, most * perTuple * 4);
    for (let tuple = 0; tuple < count; tuple += most) {
      const part = Math.min(most, count - tuple);
      const from = this.#load(words, tuple * perTuple, part * perTuple, window);
      if (this.#kernels.tuples(step)(from, pointer + 4 * tuple, part, k, table) !== 0) return false;
    }
    return true;
  }

  #readElements({ words, step, count, shape, steps, axis }: ElementJob, pointer: number): boolean {
    const last = shape.length - 1;
    const row = shape[last];
    const kernel = this.#kernels.elements(step);
    const [dim, wrap] = [BigInt(axis.dim), BigInt(axis.wrap)];
    const most = Math.max(Math.floor(this.#limits.window / 4 / (row * step)), 1);
    const window = this.#window(words, most * row * step * 4);
    const counters = shape.map(() => 0);
    let base = 0;
    for (let p = 0, from = 0, left = 0; p < count; p += row, left--) {
      if (left === 0) {
        left = Math.min(most, (count - p) / row);
        from = this.#load(words, p * step, left * row * step, window);
      }
      const bad = kernel(from, pointer + 4 * p, row, base, steps[last], dim, wrap, axis.stride);
      if (bad !== 0) return false;
      from += row * step * 4;
      for (let d = last - 1; d >= 0; d--) {
        base += steps[d];
        if (++counters[d] < shape[d]) break;
        base -= steps[d] * shape[d];
        counters[d] = 0;
      }
    }
    return true;
  }

  /** The address of a window for parts of `data`; none where it is here already. */
  #window(data: NumericStorage, bytes: number): number {
    return this.#heap.has(data) ? 0 : this.#borrow(bytes);
  }

  /** The address of `length` entries of `data` from `start` on, after a copy into the window where one is needed. */
  #load(data: NumericStorage, start: number, length: number, window: number): number {
    const offset = data.byteOffset + start * data.BYTES_PER_ELEMENT;
    if (window === 0) return offset;
    const bytes = length * data.BYTES_PER_ELEMENT;
    this.#heap.bytesAt(window, bytes).set(new Uint8Array(data.buffer, offset, bytes));
    return window;
  }

  /** A kernel over all batches of tensors that are here. */
  #eachBatch(
    plan: Plan,
    dtype: DType,
    kernel: SliceKernel,
    random: number,
    sequential: number,
  ): void {
    const { slice, count, batches, span } = plan;
    const { bytes } = DTYPES[dtype];
    const offsets = this.#addressOf(plan);
    const stride = plan.offsets.length === count ? 0 : 4 * count;
    for (let batch = 0; batch < batches; batch++) {
      kernel(
        random + batch * span * bytes,
        sequential + batch * count * slice * bytes,
        offsets + batch * stride,
        count,
        slice,
      );
    }
  }

  /** A scatter: data to `out`, with the kernel run over it on the way. */
  #apply(
    plan: Plan,
    dtype: DType,
    kernel: SliceKernel,
    data: NumericStorage,
    updates: NumericStorage,
    out: NumericStorage,
  ): void {
    const { slice, count, batches, span, size } = plan;
    const { bytes } = DTYPES[dtype];
    const offsets = this.#addressOf(plan);
    const stride = plan.offsets.length === count ? 0 : 4 * count;
    const length = slice * bytes;
    const isHere = this.#heap.has(out);
    // As many batches at once as fit in a window; one window for all where a batch does not fit.
    const fitting = Math.floor(this.#limits.window / Math.max(span * bytes, count * length, 1));
    const group = fitting === 0 ? batches : Math.min(fitting, batches);
    const region = isHere ? 0 : this.#borrow(group * span * bytes);
    const most = Math.max(Math.floor(this.#limits.window / length), 1);
    const window = this.#window(updates, Math.max(Math.min(most, group * count), 1) * length);
    const given = bytesOf(updates);
    if (isHere && !isSameMemory(out, data)) copy(data, out);
    const from = bytesOf(data);
    const to = bytesOf(out);
    for (let first = 0; first < batches; first += group) {
      const part = Math.min(group, batches - first);
      const begin = first * span * bytes;
      const end = begin + part * span * bytes;
      const base = isHere ? out.byteOffset + begin : region;
      if (!isHere) this.#heap.bytesAt(region, end - begin).set(from.subarray(begin, end));
      if (part * count <= most) {
        // All updates of these batches at once.
        const updatesAt = this.#load(given, first * count * length, part * count * length, window);
        for (let batch = 0; batch < part; batch++) {
          const mine = offsets + (first + batch) * stride;
          kernel(
            base + batch * span * bytes,
            updatesAt + batch * count * length,
            mine,
            count,
            slice,
          );
        }
      } else {
        for (let batch = 0; batch < part; batch++) {
          const mine = offsets + (first + batch) * stride;
          const position = (first + batch) * count;
          for (let p = 0; p < count; p += most) {
            const some = Math.min(most, count - p);
            const updatesAt = this.#load(given, (position + p) * length, some * length, window);
            kernel(base + batch * span * bytes, updatesAt, mine + 4 * p, some, slice);
          }
        }
      }
      if (!isHere) to.set(this.#heap.bytesAt(region, end - begin), begin);
    }
    // What no batch reaches is only copied.
    const reached = batches * span * bytes;
    if (!isHere && !isSameMemory(out, data)) to.set(from.subarray(reached, size * bytes), reached);
  }
}

/** What `action` gives; null where the memory does not suffice, so that JavaScript has to do it. */
function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (isTensorError(error, "too-large")) return null;
    throw error;
  }
}
