/**
 * The layout of elements in the 32-bit words that kernels access: several elements per word (1 and 2 bytes), one per
 * word, or one in several words. Elements in the same word may belong to different invocations, so part of a word is
 * changed with an atomic exclusive or, whose operand the owner computes from the element's old bits.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";

/** Returns the number of elements per word for sizes of 1 or 2 bytes; 1 for all other sizes. */
export const perWordOf = (dtype: DType): 1 | 2 | 4 => {
  const { bytes } = DTYPES[dtype];
  return bytes === 1 ? 4 : bytes === 2 ? 2 : 1;
};

/** Returns WGSL functions for elements that share words, which find an element's word and its bits in the word. */
export const laneSource = (perWord: 2 | 4): string => `
const MASK = ${perWord === 4 ? "0xffu" : "0xffffu"};
fn wordOf(element: u32) -> u32 { return element / ${perWord}u; }
fn shiftOf(element: u32) -> u32 { return (element % ${perWord}u) * ${32 / perWord}u; }`;
