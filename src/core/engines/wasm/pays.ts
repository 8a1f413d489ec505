/** Decides when WebAssembly pays, by the limits of `WASM` (`src/core/limits.ts`). */

import type { WasmLimits } from "../../limits.ts";
import type { Plan } from "../../plan/plan.ts";
import { DTYPES, type DType, type Step } from "../../tensor/dtype.ts";

/**
 * True if a Plan has at least `least` elements. A Plan that leaves offsets out has a `source`, which only JavaScript
 * handles.
 */
export const isEnough = ({ batches, count, slice, source }: Plan, least: number): boolean =>
  source === undefined && batches * count * slice >= least;

/**
 * True if kernels save more time than copying data for them takes. Measured times of WebAssembly as multiples of
 * JavaScript's: adding float32 in place to 8 MB takes 2.4 for 33,000 and 0.88 for 126,000; gathering slices of 512
 * bytes from 8 MB takes 1.23 for 4,096 and 0.84 for 8,192; gathering slices of 256 bytes from each of 64 batches of 1
 * MB takes 0.92 for 512 and 0.59 for 1,024.
 * @param copies number of copies of data that only the kernels need
 */
export function windowsPay(
  plan: Plan,
  dtype: DType,
  step: Step,
  copies: number,
  limits: WasmLimits,
): boolean {
  const { batches, count, slice, size } = plan;
  const { bytes, family } = DTYPES[dtype];
  const slices = batches * count;
  const copied = copies * size * bytes;
  if (step === "none") {
    // A slice takes JavaScript as long as 4 elements at least, and as 40 at most.
    const saved = limits.element * Math.min(Math.max(slice, 4), 40);
    return slice * bytes <= limits.slice && slices * saved >= copied + 3 * limits.call;
  }
  // JavaScript adds a float32 in 2.5 ns and a float16 in 40 ns, and waits 40 ns for a target that no cache holds.
  const missed = size * bytes >= limits.regions ? 512 : 0;
  const saved = slice * limits.element * (family === "half" ? 16 : 2) + missed;
  return slices * saved >= copied + limits.call;
}
