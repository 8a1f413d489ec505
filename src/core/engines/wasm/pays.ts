/** Decides when WebAssembly pays off, using the `WASM` limits in `src/core/limits.ts`. */

import { hasCode } from "../../errors.ts";
import { MOVE, type WasmLimits } from "../../limits.ts";
import type { Plan } from "../../plan/plan.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { DTYPES, type DType, type Step } from "../../tensor/dtype.ts";

/**
 * Returns true if kernels save more time than copying data for them takes. Compared with JavaScript, WebAssembly takes
 * 2.4 times as long for adding 33,000 float32 in place to 8 MB, and 0.88 times as long for 126,000. Gathering 256-byte
 * slices from 12 MB takes 1.4 times as long for 11,700 slices, and 0.71 times as long for 32,800.
 * @param copies the number of copies of data that only kernels need
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
    // JavaScript takes as long for a slice as for 4 to 40 single elements, and half as long if it moves words.
    const length = slice * bytes;
    const isWide = length >= 64 && length % 8 === 0 && slices * length >= MOVE.large;
    const cost = isWide ? limits.element / 2 : limits.element;
    const saved = cost * Math.min(Math.max(slice, 4), 40);
    return length <= limits.slice && slices * saved >= copied + 3 * limits.call;
  }
  // JavaScript adds a float32 in 2.5 ns and a float16 in 40 ns, and waits 40 ns for a target that is not in a cache.
  const missed = size * bytes >= limits.regions ? 512 : 0;
  const saved = slice * limits.element * (family === "half" ? 16 : 2) + missed;
  return slices * saved >= copied + limits.call;
}

/** Returns the kernel for a step, or for a gather if `step` is null; undefined if JavaScript must do the work. */
export function kernelOf(
  memory: KernelMemory,
  dtype: DType,
  step: Step | null,
): number | undefined {
  const kernels = memory.kernels();
  const { bytes } = DTYPES[dtype];
  if (step === null) return kernels.gather(bytes);
  return step === "none" ? kernels.scatter(bytes) : kernels.combine(dtype, step);
}

/**
 * Returns the scratch bytes that a Plan needs: a batch of the random side, a merged slice of up to that length, and the
 * offsets before and after merging.
 */
export const bytesFor = ({ span, offsets }: Plan, dtype: DType): number =>
  2 * (span * DTYPES[dtype].bytes + offsets.byteLength);

/** Returns the result of `action`, or null if memory is too small and JavaScript must do the work. */
export function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (hasCode(error, "too-large")) return null;
    throw error;
  }
}
