/**
 * Describes the layout of elements in 32-bit words: several elements per word for 1 and 2 bytes, one element per word,
 * or several words per element. Elements in the same word may belong to different invocations, so part of a word is
 * changed with an atomic exclusive or. The owner computes the operand from the element's old bits.
 *
 * The kernels of this file replace elements one by one: the quotients of a mean, and negated gradients.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { divideSource, negatedSource } from "./arithmetic.ts";
import type { Kernel, Span } from "./kernel.ts";
import type { Recording } from "./recording.ts";
import { positionsOf, runOnTargets, type Targets } from "./targets.ts";

/** Returns the number of elements per word, which is 1 for elements of at least 4 bytes. */
export const perWordOf = (dtype: DType): 1 | 2 | 4 => {
  const { bytes } = DTYPES[dtype];
  return bytes === 1 ? 4 : bytes === 2 ? 2 : 1;
};

/** Returns WGSL functions that find the word of an element, and the element's bits in this word. */
export const laneSource = (perWord: 2 | 4): string => `
const MASK = ${perWord === 4 ? "0xffu" : "0xffffu"};
fn wordOf(element: u32) -> u32 { return element / ${perWord}u; }
fn shiftOf(element: u32) -> u32 { return (element % ${perWord}u) * ${32 / perWord}u; }`;

/** The new value of an element, as WGSL. */
interface Replacement {
  /** Statements that may use `element`, the number of the element. */
  readonly before?: string;
  /** The condition on which the element does not change. */
  readonly unless: string;
  /** The new bits, which are computed from the old bits `value`. */
  readonly next: string;
}

/**
 * Returns a guarded kernel that replaces the elements of `out`. An invocation replaces one element, or all elements of a
 * word except those beyond `params.elements`.
 */
function replacing(
  dtype: DType,
  elements: number,
  source: (dtype: DType) => string,
  { before = "", unless, next }: Replacement,
): Pick<Kernel, "declarations" | "body"> & { readonly threads: number } {
  const perWord = perWordOf(dtype);
  if (perWord !== 1) {
    return {
      threads: Math.ceil(elements / perWord),
      declarations: () => laneSource(perWord) + source(dtype),
      body: () => `  var word = out[i];
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = i * ${perWord}u + lane;
    if (element >= params.elements) { break; }
    ${before}
    if (${unless}) { continue; }
    let value = (word >> shiftOf(element)) & MASK;
    word ^= (value ^ ${next}) << shiftOf(element);
  }
  out[i] = word;`,
    };
  }
  const [old, store] =
    DTYPES[dtype].bytes === 8
      ? ["vec2(out[2u * i], out[2u * i + 1u])", "out[2u * i] = next.x; out[2u * i + 1u] = next.y;"]
      : ["out[i]", "out[i] = next;"];
  return {
    threads: elements,
    declarations: () => source(dtype),
    body: () => `  let element = i;
  ${before}
  if (${unless}) { return; }
  let value = ${old};
  let next = ${next};
  ${store}`,
  };
}

/**
 * Divides each slice of `out` that has updates by the number of its values. `counts` is the number of updates per slice.
 * `extra` is 1 if the value of data also counts, and otherwise 0.
 */
export function divideOnGpu(
  recording: Recording,
  dtype: DType,
  counts: Span,
  slice: number,
  elements: number,
  extra: 0 | 1,
  out: Span,
): void {
  recording.run({
    name: `${dtype} divide`,
    bytes: counts.bytes + 2 * elements * DTYPES[dtype].bytes,
    ...{
      guard: "stops",
      params: { slice, extra, elements },
      buffers: { read: { counts }, write: { out } },
    },
    ...replacing(dtype, elements, divideSource, {
      before: "let count = counts[element / params.slice];",
      unless: "count == 0u",
      next: "divide(value, count + params.extra)",
    }),
  });
}

/** Negates all slices of the sequential side that have a target, and replaces NaNs by the canonical NaN. */
export function negateOnGpu(recording: Recording, targets: Targets, dtype: DType, out: Span): void {
  const { slice } = targets;
  const elements = positionsOf(targets) * slice;
  runOnTargets(recording, targets, {
    name: `${dtype} negate`,
    bytes: 2 * out.bytes,
    ...{ guard: "stops", params: { slice, elements }, buffers: { write: { out } } },
    ...replacing(dtype, elements, negatedSource, {
      unless: "targetOf(element / params.slice) == NOWHERE",
      next: "negated(value)",
    }),
  });
}
