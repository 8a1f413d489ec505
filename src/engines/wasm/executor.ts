/**
 * The executor in WebAssembly. Tensors of the heap stream through windows of its memory; the one that is accessed at
 * random is copied as a whole, or batch by batch where batches fit in a window. What is small, moves of long slices or
 * of few elements out of many, and text are left to JavaScript: there the copies would cost more than they save.
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
import { MOST_CALLS, Team, type Call } from "./team.ts";
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
  /** Up to this many bytes a slice moves faster here, copies of both tensors included. */
  readonly slice: number;
  /** From this many elements or indices on, sharing them among threads is worth waking them. */
  readonly share: number;
}

const LIMITS: Limits = {
  window: 2 ** 18,
  work: 2 ** 12,
  indices: 2 ** 10,
  row: 2 ** 6,
  slice: 2 ** 10,
  share: 2 ** 15,
};

export class WasmExecutor implements Executor {
  readonly kind = "wasm";
  readonly #team: Team | null;
  readonly #js: Executor;
  readonly #heap: Heap;
  readonly #kernels: Kernels;
  readonly #limits: Limits;
  /** What the scope that is open has taken. */
  #scratch: number[] = [];

  /** @param threads how many threads work at once, this one among them; a shared memory is needed for two */
  constructor(js: Executor, heap: Heap, kernels: Kernels, limits = LIMITS, threads = 1) {
    const parts = { module: kernels.module, memory: heap.memory, kernels: kernels.all };
    this.#team = threads > 1 ? new Team(threads, parts) : null;
    this.#limits = limits;
    this.#js = js;
    this.#heap = heap;
    this.#kernels = kernels;
  }

  get threads(): number {
    return this.#team?.size ?? 1;
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
    this.#team?.stop();
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
    let pointer: number | null = null;
    if (!isSmall) attempt(() => void (pointer = this.#read(job)));
    // Of a bad index it is JavaScript that says which.
    if (pointer === null) return readIndices(job);
    return new Uint32Array(this.#heap.memory.buffer, pointer, job.count);
  };

  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): void {
    const done =
      isNumericStorage(data) &&
      isNumericStorage(out) &&
      this.#pays(plan, dtype, data, out) &&
      attempt(() => {
        const kernel = this.#kernels.gather(DTYPES[dtype].bytes);
        this.#carryOut(coarsen(plan), dtype, kernel, data, null, out);
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
    const done =
      isNumericStorage(data) &&
      isNumericStorage(updates) &&
      isNumericStorage(out) &&
      (isMove ? this.#pays(plan, dtype, out, updates) : this.#isEnough(plan)) &&
      attempt(() => {
        const kernel = isMove
          ? this.#kernels.scatter(DTYPES[dtype].bytes)
          : this.#kernels.combine(dtype, reduction);
        this.#carryOut(coarsen(plan), dtype, kernel, data, out, updates);
      });
    if (!done) this.#js.scatter(plan, dtype, reduction, data, updates, out);
  }

  #isEnough({ batches, count, slice, source }: Plan): boolean {
    return source === undefined && batches * count * slice >= this.#limits.work;
  }

  /**
   * Whether a move between these pays. Where both are here nothing is copied. Else short slices pay, which JavaScript
   * moves one element at a time, if they are not few beside what has to be copied in.
   */
  #pays(plan: Plan, dtype: DType, random: NumericStorage, sequential: NumericStorage): boolean {
    if (plan.source !== undefined) return false;
    if (this.#heap.has(random) && this.#heap.has(sequential)) return true;
    const { batches, count, slice, size } = plan;
    const isShort = slice * DTYPES[dtype].bytes <= this.#limits.slice;
    return this.#isEnough(plan) && isShort && 8 * batches * count * slice >= size;
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
    const kernel = this.#kernels.tuples(step);
    if (this.#team !== null && window === 0 && count >= this.#limits.share) {
      const place = this.#kernels.placeOf(kernel);
      const { byteOffset } = words;
      return this.#team.run(
        shares(count, this.#team.size).map(([first, part]): Call[] => [
          [place, byteOffset + 4 * perTuple * first, pointer + 4 * first, part, k, table],
        ]),
      );
    }
    for (let tuple = 0; tuple < count; tuple += most) {
      const part = Math.min(most, count - tuple);
      const from = this.#load(words, tuple * perTuple, part * perTuple, window);
      if (kernel(from, pointer + 4 * tuple, part, k, table) !== 0) return false;
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

  /**
   * A kernel run over a Plan: a gather from `data` to `sequential`, or, where there is a `target`, a scatter of
   * `sequential` over what is copied there from data. What is not here passes through windows: as many batches at once
   * as fit, and one where not even that does.
   */
  #carryOut(
    plan: Plan,
    dtype: DType,
    kernel: SliceKernel,
    data: NumericStorage,
    target: NumericStorage | null,
    sequential: NumericStorage,
  ): void {
    const { slice, count, batches, span, size } = plan;
    const { bytes } = DTYPES[dtype];
    const length = slice * bytes;
    if (batches * count * length === 0) {
      if (target !== null && !isSameMemory(target, data)) copy(data, target);
      return;
    }
    const offsets = this.#addressOf(plan);
    const stride = plan.offsets.length === count ? 0 : 4 * count;
    const random = target ?? data;
    const isHere = this.#heap.has(random);
    const fitting = Math.floor(this.#limits.window / Math.max(span * bytes, count * length));
    const group = Math.max(Math.min(fitting, batches), 1);
    const region = isHere ? 0 : this.#borrow(group * span * bytes);
    // Slices that pass through the window at once.
    const most = Math.max(Math.floor(this.#limits.window / length), 1);
    const window = this.#window(sequential, Math.min(most, group * count) * length);
    const ordered = bytesOf(sequential);
    const from = bytesOf(data);
    const to = target === null ? null : bytesOf(target);

    /** Runs `action` on the address of the `slices` from `first` on. */
    const through = (first: number, slices: number, action: (address: number) => void): void => {
      const begin = first * length;
      if (to !== null || window === 0) {
        action(this.#load(ordered, begin, slices * length, window));
      } else {
        action(window);
        ordered.set(this.#heap.bytesAt(window, slices * length), begin);
      }
    };

    if (to !== null && target !== null && isHere && !isSameMemory(target, data)) to.set(from);
    const places = { random: random.byteOffset, sequential: sequential.byteOffset, offsets };
    if (isHere && window === 0 && this.#share(plan, bytes, kernel, places, target === null)) return;
    for (let first = 0; first < batches; first += group) {
      const part = Math.min(group, batches - first);
      const begin = first * span * bytes;
      const end = begin + part * span * bytes;
      const base = isHere ? random.byteOffset + begin : region;
      if (!isHere) this.#heap.bytesAt(region, end - begin).set(from.subarray(begin, end));
      if (part * count <= most) {
        through(first * count, part * count, (address) => {
          for (let batch = 0; batch < part; batch++) {
            const mine = offsets + (first + batch) * stride;
            kernel(
              base + batch * span * bytes,
              address + batch * count * length,
              mine,
              count,
              slice,
            );
          }
        });
      } else {
        for (let batch = 0; batch < part; batch++) {
          const mine = offsets + (first + batch) * stride;
          const position = (first + batch) * count;
          for (let p = 0; p < count; p += most) {
            const some = Math.min(most, count - p);
            through(position + p, some, (address) => {
              kernel(base + batch * span * bytes, address, mine + 4 * p, some, slice);
            });
          }
        }
      }
      if (!isHere) to?.set(this.#heap.bytesAt(region, end - begin), begin);
    }
    // What no batch reaches is only copied.
    const reached = batches * span * bytes;
    if (!isHere) to?.set(from.subarray(reached, size * bytes), reached);
  }

  /**
   * Shares a Plan over tensors that are all here among the threads, by what is written: batches, or the slices of a
   * gather. Other scatters are left to one thread, which memory keeps busy enough.
   * @returns whether it was done
   */
  #share(
    { slice, count, batches, span, offsets }: Plan,
    bytes: number,
    kernel: SliceKernel,
    at: { readonly random: number; readonly sequential: number; readonly offsets: number },
    isGather: boolean,
  ): boolean {
    const team = this.#team;
    if (team === null || batches * count * slice < this.#limits.share) return false;
    const place = this.#kernels.placeOf(kernel);
    const length = slice * bytes;
    const stride = offsets.length === count ? 0 : 4 * count;
    const call = (batch: number, first: number, part: number): Call => [
      place,
      at.random + batch * span * bytes,
      at.sequential + (batch * count + first) * length,
      at.offsets + batch * stride + 4 * first,
      part,
      slice,
    ];
    if (batches >= team.size && batches / team.size <= MOST_CALLS) {
      const lists = shares(batches, team.size).map(([first, part]) =>
        Array.from({ length: part }, (_, batch) => call(first + batch, 0, count)),
      );
      team.run(lists);
      return true;
    }
    if (!isGather || batches > MOST_CALLS) return false;
    const lists = shares(count, team.size).map(([first, part]) =>
      Array.from({ length: batches }, (_, batch) => call(batch, first, part)),
    );
    team.run(lists);
    return true;
  }
}

/** `count` things in equal parts, as the first and the length of each. */
function shares(count: number, parts: number): (readonly [first: number, length: number])[] {
  return Array.from({ length: parts }, (_, part) => {
    const first = Math.floor((count * part) / parts);
    return [first, Math.floor((count * (part + 1)) / parts) - first] as const;
  });
}

/** Whether `action` could be done: not where the memory does not suffice, so that JavaScript has to do it. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (isTensorError(error, "too-large")) return false;
    throw error;
  }
}
