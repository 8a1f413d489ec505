/** What an engine is: it carries Plans out, and nothing else. It checks nothing and knows no operator. */

import type { DType, Reduction, Storage } from "../dtype.ts";
import type { Plan } from "../plan.ts";

export interface Engine {
  readonly kind: "js";
  /** How many threads work at once. */
  readonly threads: number;
  /** `out[p] = data[offset p]`, bit for bit. The arrays must not overlap. */
  gather(plan: Plan, dtype: DType, data: Storage, out: Storage): void;
  /**
   * `out[offset p] = f(out[offset p], updates[p])` in the order of p, where f is the reduction in the arithmetic of
   * `dtype`. The arrays must not overlap.
   * @throws TensorError `too-large` where text outgrows what a string holds; `out` is half-written then
   */
  scatter(plan: Plan, dtype: DType, reduction: Reduction, updates: Storage, out: Storage): void;
}
