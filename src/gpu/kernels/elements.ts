/**
 * Describes the layout of elements in 32-bit words: several elements per word for 1 and 2 bytes, one element per word,
 * or several words per element. Elements in the same word may belong to different invocations, so part of a word is
 * changed with an atomic exclusive or. The owner computes the operand from the element's old bits.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";

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
