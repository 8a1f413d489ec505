/**
 * Describes the layout of elements in 32-bit words: several elements per word for 1 and 2 bytes, one element per word,
 * or several words per element. Elements in the same word may belong to different invocations, so part of a word is
 * changed with an atomic exclusive or. The owner computes the operand from the element's old bits.
 *
 * The kernels of this file replace elements one by one: the quotients of a mean, and negated gradients.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { divideSource, negatedSource } from "./arithmetic.ts";
import { kernelOf } from "./kernel.ts";
import type { Recording, Span } from "./recording.ts";
import type { Guard } from "./status.ts";
import { lookupOf, lookupParams, positionsOf, type Targets } from "./targets.ts";

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
  readonly before: string;
  /** The condition on which the element does not change. */
  readonly unless: string;
  /** The new bits, which are computed from the old bits `value`. */
  readonly next: string;
}

/**
 * Returns the parts of a guarded kernel that replaces the elements of `out`. An invocation replaces one element, or all
 * elements of a word except those beyond `params.elements`.
 */
function replacing(dtype: DType, { before, unless, next }: Replacement) {
  const perWord = perWordOf(dtype);
  if (perWord === 1) {
    const [old, store] =
      DTYPES[dtype].bytes === 8
        ? [
            "vec2(out[2u * i], out[2u * i + 1u])",
            "out[2u * i] = next.x;\n  out[2u * i + 1u] = next.y;",
          ]
        : ["out[i]", "out[i] = next;"];
    const body = `  let element = i;
  ${before}
  if (${unless}) { return; }
  let value = ${old};
  let next = ${next};
  ${store}`;
    return { declarations: "", body };
  }
  const body = `  var word = out[i];
  for (var lane = 0u; lane < ${perWord}u; lane++) {
    let element = i * ${perWord}u + lane;
    if (element >= params.elements) { break; }
    ${before}
    if (${unless}) { continue; }
    let value = (word >> shiftOf(element)) & MASK;
    word ^= (value ^ ${next}) << shiftOf(element);
  }
  out[i] = word;`;
  return { declarations: laneSource(perWord), body };
}

const wordsOf = (dtype: DType, elements: number): number => Math.ceil(elements / perWordOf(dtype));

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
  { status, slot }: Guard,
): void {
  const kernel = kernelOf(`${dtype} divide`, () => {
    const { declarations, body } = replacing(dtype, {
      before: "let count = counts[element / params.slice];",
      unless: "count == 0u",
      next: "divide(value, count + params.extra)",
    });
    return {
      isGuarded: true,
      params: ["slice", "extra", "elements"],
      buffers: { counts: "read", out: "write" },
      declarations: declarations + divideSource(dtype),
      body,
    };
  });
  const params = { slice, extra, elements, slot };
  const bytes = counts.bytes + 2 * elements * DTYPES[dtype].bytes;
  recording.run(kernel, wordsOf(dtype, elements), bytes, params, { status, counts, out });
}

/** Negates all slices of the sequential side that have a target, and replaces NaNs by the canonical NaN. */
export function negateOnGpu(
  recording: Recording,
  targets: Targets,
  dtype: DType,
  out: Span,
  { status, slot }: Guard,
): void {
  const lookup = lookupOf(targets);
  const { slice } = targets;
  const elements = positionsOf(targets) * slice;
  const kernel = kernelOf(`${dtype} negate ${lookup.name}`, () => {
    const { declarations, body } = replacing(dtype, {
      before: "",
      unless: "targetOf(element / params.slice) == NOWHERE",
      next: "negated(value)",
    });
    return {
      isGuarded: true,
      params: ["slice", "elements", ...lookup.params],
      buffers: { targets: "read", out: "write" },
      declarations: lookup.declarations + declarations + negatedSource(dtype),
      body,
    };
  });
  const params = { ...lookupParams(targets), slice, elements, slot };
  const bytes = targets.targets.bytes + 2 * out.bytes;
  const buffers = { status, targets: targets.targets, out };
  recording.run(kernel, wordsOf(dtype, elements), bytes, params, buffers);
}
