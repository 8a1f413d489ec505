/**
 * The executor on WebAssembly. Where all tensors of a call live in its shared memory, kernels work on them as they are,
 * on as many threads as there are. Others pass through windows of a memory of its own, on one thread: copies into shared
 * memory are half as fast, and what they cost is more than threads save. What does not pay goes to JavaScript.
 */

import {
  DTYPES,
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
  type Step,
  type Storage,
} from "../../tensor/dtype.ts";
import { isTensorError } from "../../errors.ts";
import { readIndices } from "../../kernels/read-indices.ts";
import type { ElementJob, IndexJob, TupleJob } from "../../plan/index-job.ts";
import { greatestCommonDivisor, type Plan } from "../../plan/plan.ts";
import { bytesOf, copy, isSameMemory } from "../../tensor/storage.ts";
import type { Executor } from "../executor.ts";
import {
  copyWork,
  dealt,
  dealWork,
  runCalls,
  shares,
  splitWork,
  wholeOf,
  type Call,
  type Work,
} from "./calls.ts";
import { AXIS_BYTES, gridBytes, writeAxes, writeGrid } from "./kernels.ts";
import { Space } from "./space.ts";
import { stream, type Arrays } from "./stream.ts";
import { mayWait, Team } from "./team.ts";

/** Where WebAssembly begins to pay. */
export interface Limits {
  /** Bytes of a window, which should stay in the cache between the copy in and the use. */
  readonly window: number;
  /** Below this many elements to combine, copies and calls cost more than they save. */
  readonly work: number;
  /** Below this many indices JavaScript reads them as fast. */
  readonly indices: number;
  /** Up to this many bytes a slice moves faster here, copies of both tensors included. */
  readonly slice: number;
  /** From this many bytes to move, or indices to read, on, sharing them among threads is worth waking them. */
  readonly share: number;
  /** From this many bytes of targets on, which no cache holds, single updates are dealt out to threads. */
  readonly deal: number;
}

const LIMITS: Limits = {
  window: 2 ** 18,
  work: 2 ** 12,
  indices: 2 ** 10,
  slice: 2 ** 10,
  share: 2 ** 18,
  deal: 2 ** 26,
};

/** Rows of at least this many indices are looked at for holding one index throughout. */
const LEAST_RUN = 8;

/** A kernel to run over a Plan. */
interface Job extends Arrays {
  readonly kernel: number;
  readonly dtype: DType;
}

export class WasmExecutor implements Executor {
  readonly kind = "wasm";
  readonly #js: Executor;
  readonly #limits: Limits;
  /** Scratch for tensors of the heap. */
  readonly #own: Space;
  /** Tensors from `alloc`, and scratch for them; made when it is first needed, null where it cannot be had. */
  #shared: Space | null | undefined;
  readonly #team: Team | null;
  /** Whether the caller may wait for its team. */
  readonly #mayWait: boolean = mayWait();
  /** The end of all asynchronous work so far, how much of it is not done, and what is disposed of until then. */
  #flight: Promise<void> = Promise.resolve();
  #flights = 0;
  readonly #held: number[] = [];

  /**
   * @param own memory for scratch
   * @param shared memory for tensors and threads; by default made when it is first needed
   * @param threads how many work at once, this one among them; two need a shared memory
   */
  constructor(js: Executor, own: Space, shared?: Space | null, threads = 1, limits = LIMITS) {
    this.#js = js;
    this.#own = own;
    this.#shared = shared;
    this.#limits = limits;
    this.#team = threads > 1 && shared ? new Team(threads, shared) : null;
  }

  get threads(): number {
    return this.#mayWait ? this.laterThreads : 1;
  }

  get laterThreads(): number {
    return this.#team?.size ?? 1;
  }

  /** The team, where it is there to be waited for. */
  get #ready(): Team | null {
    return this.#mayWait && this.#team?.isReady === true ? this.#team : null;
  }

  allocate(dtype: DType, size: number): Storage {
    return this.#js.allocate(dtype, size);
  }

  alloc(dtype: DType, size: number): Storage {
    const { bytes, lanes } = DTYPES[dtype];
    if (this.#shared === undefined) this.#shared = sharedSpace();
    if (dtype === "string" || this.#shared === null) return this.#js.alloc(dtype, size);
    const { heap } = this.#shared;
    const pointer = heap.take(size * bytes);
    heap.bytesAt(pointer, size * bytes).fill(0);
    return viewOf(dtype, heap.memory.buffer, pointer, size * lanes);
  }

  recycle(data: Storage): void {
    if (isNumericStorage(data) && this.#shared?.heap.has(data) === true) {
      if (this.#flights > 0) this.#held.push(data.byteOffset);
      else this.#shared.heap.give(data.byteOffset);
    } else {
      this.#js.recycle(data);
    }
  }

  dispose(): void {
    this.#team?.stop();
    this.#js.dispose();
  }

  scope<T>(action: () => T): T {
    const own = (): T => this.#own.scope(action);
    return this.#shared ? this.#shared.scope(own) : own();
  }

  readonly readIndices = (job: IndexJob): ReturnType<typeof readIndices> => {
    if (job.count < Math.max(this.#limits.indices, 1)) return readIndices(job);
    const space = this.#spaceOf(job.words);
    let offsets: Uint32Array | null = null;
    attempt(() => {
      offsets = job.kind === "tuples" ? this.#readTuples(space, job) : this.#readRows(space, job);
    });
    // Of a bad index it is JavaScript that says which.
    return offsets ?? readIndices(job);
  };

  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): void {
    const done =
      isNumericStorage(data) &&
      isNumericStorage(out) &&
      this.#pays(plan, dtype, data, out) &&
      attempt(() => {
        const space = this.#spaceOf(data, out);
        const kernel = space.kernels.gather(DTYPES[dtype].bytes);
        this.#carryOut(space, plan, { kernel, dtype, data, target: null, sequential: out });
      });
    if (!done) this.#js.gather(plan, dtype, data, out);
  }

  scatter(
    plan: Plan,
    dtype: DType,
    reduction: Step,
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
        const space = this.#spaceOf(data, updates, out);
        const kernel = isMove
          ? space.kernels.scatter(DTYPES[dtype].bytes)
          : space.kernels.combine(dtype, reduction);
        this.#carryOut(space, plan, { kernel, dtype, data, target: out, sequential: updates });
      });
    if (!done) this.#js.scatter(plan, dtype, reduction, data, updates, out);
  }

  /** The memory to work in: the shared one where one of the arrays lives there. */
  #spaceOf(...arrays: NumericStorage[]): Space {
    const shared = this.#shared;
    return shared && arrays.some((array) => shared.heap.has(array)) ? shared : this.#own;
  }

  #isEnough({ batches, count, slice, source }: Plan): boolean {
    return source === undefined && batches * count * slice >= this.#limits.work;
  }

  /**
   * Whether a move between these pays. Where both are here nothing is copied. Else short slices pay, which JavaScript
   * moves one element at a time, if they are not few beside what has to be copied in.
   */
  #pays(plan: Plan, dtype: DType, random: NumericStorage, sequential: NumericStorage): boolean {
    if (!this.#isEnough(plan)) return false;
    const heap = this.#shared?.heap;
    if (heap?.has(random) === true && heap.has(sequential)) return true;
    const { batches, count, slice, size } = plan;
    const isShort = slice * DTYPES[dtype].bytes <= this.#limits.slice;
    return isShort && 8 * batches * count * slice >= size;
  }

  /** The offsets of tuples; null where an index is bad. */
  #readTuples(space: Space, { words, step, count, axes }: TupleJob): Uint32Array | null {
    const k = axes.length;
    const kernel = space.kernels.tuples(step);
    const pointer = space.borrow(4 * count);
    const table = space.borrow(AXIS_BYTES * k);
    writeAxes(space.heap, table, axes);
    const isGood = this.#read(space, words, count, k * step, (from, first, some) => ({
      kernel,
      args: [from, pointer + 4 * first, some, k, table],
    }));
    return isGood ? offsetsAt(space, pointer, count) : null;
  }

  /** The offsets of elements, or, where each row holds one index, of rows; null where an index is bad. */
  #readRows(space: Space, job: ElementJob): Uint32Array | null {
    const { count, shape, steps, step, merge } = job;
    const last = shape.length - 1;
    const row = shape[last];
    if (merge && steps[last] === 1 && row >= LEAST_RUN) {
      const rows = this.#readElements(space, job, space.kernels.uniform(step), 1);
      if (rows !== null) return offsetsAt(space, rows, count / row);
    }
    const elements = this.#readElements(space, job, space.kernels.elements(step), row);
    return elements === null ? null : offsetsAt(space, elements, count);
  }

  /** Rows of indices by a kernel that makes `perRow` offsets of each. Where they are; null where it found it cannot. */
  #readElements(space: Space, job: ElementJob, kernel: number, perRow: number): number | null {
    const { words, step, count, shape } = job;
    const row = shape[shape.length - 1];
    const rows = count / row;
    const pointer = space.borrow(4 * perRow * rows);
    // Tables count rows, so that each thread needs its own, and windows go on with one.
    let table = 0;
    const tableOf = (first: number): number => {
      table = space.borrow(gridBytes(shape.length));
      writeGrid(space.heap, table, job, first);
      return table;
    };
    const isHere = space.heap.has(words);
    const isGood = this.#read(space, words, rows, row * step, (from, first, some) => ({
      kernel,
      args: [
        from,
        pointer + 4 * perRow * first,
        some,
        row,
        isHere || first === 0 ? tableOf(first) : table,
      ],
    }));
    return isGood ? pointer : null;
  }

  /**
   * Reads `count` units of some words each, from where they are, on all threads, or through a window.
   * @returns whether all calls gave 0
   */
  #read(
    space: Space,
    words: Int32Array,
    count: number,
    perUnit: number,
    callOf: (from: number, first: number, some: number) => Call,
  ): boolean {
    const unit = 4 * perUnit;
    if (space.heap.has(words)) {
      const team = 4 * count * perUnit >= this.#limits.share ? this.#ready : null;
      const lists = shares(count, team?.size ?? 1).map(([first, some]) => [
        callOf(words.byteOffset + unit * first, first, some),
      ]);
      return this.#run(space, lists);
    }
    const most = Math.max(Math.floor(this.#limits.window / Math.max(unit, 1)), 1);
    const window = space.borrow(Math.min(most, count) * unit);
    for (let first = 0; first < count; first += most) {
      const some = Math.min(most, count - first);
      space.load(words, first * perUnit, some * perUnit, window);
      const { kernel, args } = callOf(window, first, some);
      if (space.call(kernel, ...args) !== 0) return false;
    }
    return true;
  }

  /** Runs lists of calls, each on a thread of its own if there is more than one. */
  #run(space: Space, lists: readonly Call[][]): boolean {
    if (lists.length > 1 && this.#ready !== null) return this.#ready.run(lists);
    return lists.every((list) => runCalls(space.kernels.all, list));
  }

  /** A Plan's offsets here, in fewer and longer slices where they form runs. */
  #addressOf(space: Space, plan: Plan): Pick<Work, "offsets" | "slice" | "count" | "lanes"> {
    const { offsets, slice, count, lanes = 1 } = plan;
    const { kernels, heap } = space;
    let address = offsets.byteOffset;
    if (!heap.has(offsets)) {
      address = space.borrow(offsets.byteLength);
      heap.bytesAt(address, offsets.byteLength).set(bytesOf(offsets));
    }
    const run = greatestCommonDivisor(
      space.call(kernels.runLength, address, offsets.length, slice),
      count,
    );
    if (run <= 1) return { offsets: address, slice, count, lanes };
    const starts = space.borrow((4 * offsets.length) / run);
    space.call(kernels.every, address, starts, offsets.length / run, run);
    return { offsets: starts, slice: slice * run, count: count / run, lanes: 1 };
  }

  /** A kernel over a Plan: a gather, or a scatter over a copy of data. */
  #carryOut(space: Space, plan: Plan, job: Job): void {
    const { data, target, sequential } = job;
    if (plan.batches * plan.count * plan.slice === 0) {
      if (target !== null && !isSameMemory(target, data)) copy(data, target);
      return;
    }
    const { heap } = space;
    const work = this.#workOf(space, plan, job);
    if (heap.has(target ?? data) && heap.has(sequential)) {
      const most = Math.max(plan.size, work.batches * work.count * work.slice) * work.bytes;
      const team = most >= this.#limits.share ? this.#ready : null;
      for (const lists of this.#rounds(space, work, job, team)) this.#run(space, lists);
    } else {
      stream(space, this.#limits.window, work, plan.size, job);
    }
  }

  #workOf(space: Space, plan: Plan, { kernel, dtype, data, target, sequential }: Job): Work {
    const places = this.#addressOf(space, plan);
    const { batches, span } = plan;
    return {
      kernel,
      isGather: target === null,
      bytes: DTYPES[dtype].bytes,
      random: (target ?? data).byteOffset,
      sequential: sequential.byteOffset,
      ...places,
      batches,
      span,
      stride: plan.offsets.length === plan.count ? 0 : places.count,
    };
  }

  /** Work on what is here, in rounds: each has a list of calls for each thread, and begins when the last is done. */
  #rounds(space: Space, work: Work, { data, target }: Job, team: Team | null): Call[][][] {
    const rounds: Call[][][] = [];
    if (target !== null && !isSameMemory(target, data)) {
      const { byteLength } = target;
      const threads = byteLength >= this.#limits.share ? (team?.size ?? 1) : 1;
      if (space.heap.has(data)) {
        const places = [target.byteOffset, data.byteOffset] as const;
        rounds.push(copyWork(space.kernels.copy, ...places, byteLength, threads));
      } else {
        bytesOf(target).set(bytesOf(data));
      }
    }
    const moved = work.batches * work.count * work.slice * work.bytes;
    const lists =
      team !== null && moved >= this.#limits.share
        ? (splitWork(work, team.size) ?? this.#deal(space, work, team.size))
        : null;
    rounds.push(lists ?? [wholeOf(work)]);
    return rounds;
  }

  /**
   * An executor that leaves what pays to the threads. Tensors of the heap are copied to them and results back, while
   * nothing else runs.
   */
  later(): { readonly executor: Executor; done(): Promise<void> } {
    let done = Promise.resolve();
    const leave = (plan: Plan, dtype: DType, kernel: (space: Space) => number, arrays: Arrays) => {
      const { data, target, sequential } = arrays;
      const [space, team] = [this.#shared, this.#team];
      if (!space || team === null || plan.source !== undefined) return false;
      if (plan.batches * plan.count * plan.slice < this.#limits.work) return false;
      return attempt(() => {
        const { heap } = space;
        const here = (array: NumericStorage): NumericStorage => {
          if (heap.has(array)) return array;
          const copied = space.view(array);
          bytesOf(copied).set(bytesOf(array));
          return copied;
        };
        const from = here(data);
        // A copy of data is as good a target as any.
        const elsewhere = (): NumericStorage => (from === data ? space.view(from) : from);
        const to = target === null || heap.has(target) ? target : elsewhere();
        const made = target === null && !heap.has(sequential) ? space.view(sequential) : null;
        const job: Job = {
          kernel: kernel(space),
          dtype,
          data: from,
          target: to,
          sequential: made ?? here(sequential),
        };
        const rounds = this.#rounds(space, this.#workOf(space, plan, job), job, team);
        const scratch = space.keep();
        const result = target ?? sequential;
        const resultHere = to ?? job.sequential;
        done = this.#fly(scratch, async () => {
          await rounds.reduce(
            (before, lists) => before.then(() => team.runLater(lists)),
            Promise.resolve(),
          );
          if (result !== resultHere) bytesOf(result).set(bytesOf(resultHere));
        });
      });
    };
    const executor: Executor = {
      kind: this.kind,
      threads: this.threads,
      laterThreads: this.laterThreads,
      allocate: (dtype, size) => this.allocate(dtype, size),
      alloc: (dtype, size) => this.alloc(dtype, size),
      recycle: (data) => this.recycle(data),
      scope: (action) => this.scope(action),
      readIndices: this.readIndices,
      gather: (plan, dtype, data, out) => {
        const isLeft =
          isNumericStorage(data) &&
          isNumericStorage(out) &&
          leave(plan, dtype, ({ kernels }) => kernels.gather(DTYPES[dtype].bytes), {
            data,
            target: null,
            sequential: out,
          });
        if (!isLeft) this.gather(plan, dtype, data, out);
      },
      scatter: (plan, dtype, reduction, data, updates, out) => {
        const kernel = ({ kernels }: Space): number =>
          reduction === "none"
            ? kernels.scatter(DTYPES[dtype].bytes)
            : kernels.combine(dtype, reduction);
        const isLeft =
          isNumericStorage(data) &&
          isNumericStorage(updates) &&
          isNumericStorage(out) &&
          leave(plan, dtype, kernel, { data, target: out, sequential: updates });
        if (!isLeft) this.scatter(plan, dtype, reduction, data, updates, out);
      },
      dispose: () => {},
    };
    return { executor, done: () => done };
  }

  /** Does `work` after all that was begun before; then memory is free again. */
  #fly(scratch: readonly number[], work: () => Promise<void>): Promise<void> {
    this.#flights++;
    const flight = this.#flight.then(work).finally(() => {
      this.#held.push(...scratch);
      if (--this.#flights === 0) {
        for (const pointer of this.#held.splice(0)) this.#shared?.heap.give(pointer);
      }
    });
    this.#flight = flight.catch(() => {});
    return flight;
  }

  /** Single updates dealt out by target, where they hit so much memory that it pays for each thread to look at all. */
  #deal(space: Space, work: Work, threads: number): Call[][] | null {
    const { slice, batches, span, bytes, count } = work;
    if (slice > 1 || batches > 1 || span * bytes < this.#limits.deal) return null;
    const most = dealt(count);
    const buffers = Array.from(
      { length: threads },
      () => [space.borrow(4 * most), space.borrow(bytes * most)] as const,
    );
    return dealWork(work, space.kernels.deal(bytes), buffers);
  }
}

/** A shared memory, where there are such. */
export function sharedSpace(): Space | null {
  if (typeof SharedArrayBuffer !== "function") return null;
  try {
    return new Space(true);
  } catch {
    return null;
  }
}

const offsetsAt = ({ heap }: Space, pointer: number, count: number): Uint32Array =>
  new Uint32Array(heap.memory.buffer, pointer, count);

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
