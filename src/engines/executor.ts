/** What carries Plans out, and nothing else: the inside of an engine. It checks nothing and knows no operator. */

import type { DType, Step, Storage } from "../tensor/dtype.ts";
import type { ReadIndices } from "../plan/index-job.ts";
import type { Plan } from "../plan/plan.ts";

export interface Executor {
  readonly kind: "js" | "wasm";
  /** How many threads work at once. */
  readonly threads: number;
  /**
   * Storage for the `size` elements of a result. Its contents are arbitrary: every element gets written.
   * @throws TensorError `too-large` where memory does not hold it
   */
  allocate(dtype: DType, size: number): Storage;
  /**
   * Zeroed storage where this executor uses it without a copy.
   * @throws TensorError `too-large`
   */
  alloc(dtype: DType, size: number): Storage;
  /** Takes back what `allocate` or `alloc` gave. Views of an ordinary buffer become empty. */
  recycle(data: Storage): void;
  /** What `action` gives. Memory that a Plan or its execution needs on the way is given back after it. */
  scope<T>(action: () => T): T;
  /** How indices become the offsets of a Plan; the Plan is good until the scope ends. */
  readonly readIndices: ReadIndices;
  /** `out[p] = data[offset p]`, bit for bit. The arrays must not overlap. */
  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): void;
  /**
   * A copy of data into `out`, and then `out[offset p] = f(out[offset p], updates[p])` in the order of p, where f is
   * the reduction in the arithmetic of `dtype`. `out` may be `data`; else the arrays must not overlap.
   * @throws TensorError `too-large` where text outgrows what a string holds; `out` is half-written then
   */
  scatter(
    plan: Plan,
    dtype: DType,
    reduction: Step,
    data: Storage,
    updates: Storage,
    out: Storage,
  ): void;
  /**
   * An executor for one call, of which the checks and offsets are made at once, and the work on threads while the caller
   * goes on; absent where there are none.
   */
  later?(): { readonly executor: Executor; done(): Promise<void> };
  /** How many threads work on what {@link later} leaves to them. */
  readonly laterThreads: number;
  /** Gives all memory and threads back. */
  dispose(): void;
}
