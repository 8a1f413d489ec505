/** Defines the last step of a mean, which divides each sum by its number of values. */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { divideSource } from "./arithmetic.ts";
import { laneSource, perWordOf } from "./elements.ts";
import { kernelOf } from "./kernel.ts";
import type { Recording, Span } from "./recording.ts";
import type { Guard } from "./status.ts";

/**
 * Divides each slice of `out` that has updates by the number of its values. Each invocation divides one element, or all
 * elements of one word. `counts` is the number of updates per slice. `extra` is 1 if the value of data also counts, and
 * otherwise 0.
 */
export function divideOnGpu(
  recording: Recording,
  dtype: DType,
  counts: Span,
  slice: number,
  size: number,
  extra: 0 | 1,
  out: Span,
  { status, slot }: Guard,
): void {
  const perWord = perWordOf(dtype);
  const isPair = DTYPES[dtype].bytes === 8;
  const whole = isPair
    ? `  let count = counts[i / params.slice];
  if (count == 0u) { return; }
  let quotient = divide(vec2(out[2u * i], out[2u * i + 1u]), count + params.extra);
  out[2u * i] = quotient.x;
  out[2u * i + 1u] = quotient.y;`
    : `  let count = counts[i / params.slice];
  if (count != 0u) { out[i] = divide(out[i], count + params.extra); }`;
  const inLanes = `  var word = out[i];
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = i * ${perWord}u + lane;
    if (element >= params.size) { break; }
    let count = counts[element / params.slice];
    if (count == 0u) { continue; }
    let old = (word >> shiftOf(element)) & MASK;
    word ^= (old ^ divide(old, count + params.extra)) << shiftOf(element);
  }
  out[i] = word;`;
  const kernel = kernelOf(`${dtype} divide`, () => ({
    isGuarded: true,
    params: ["slice", "extra", ...(perWord === 1 ? [] : ["size"])],
    buffers: { counts: "read", out: "write" },
    declarations: (perWord === 1 ? "" : laneSource(perWord)) + divideSource(dtype),
    body: perWord === 1 ? whole : inLanes,
  }));
  const params = { slice, extra, size, slot };
  const bytes = counts.bytes + 2 * size * DTYPES[dtype].bytes;
  recording.run(kernel, Math.ceil(size / perWord), bytes, params, { status, counts, out });
}
