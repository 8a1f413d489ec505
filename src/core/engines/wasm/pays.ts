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
 * Whether kernels save more time than it takes to copy data for them. Measured times of WebAssembly as multiples of
 * JavaScript's: adding 33,000 float32 in place to 8 MB 2.4, adding 126,000 0.88; gathering 4,096 slices of 512 bytes from 8
 * MB 1.23, gathering 8,192 0.84; gathering 512 slices of 256 bytes from each of 64 batches of 1 MB 0.92, gathering 1,024
 * 0.59.
 * @param copies how many copies of data only the kernels need
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
