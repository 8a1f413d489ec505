/**
 * The layout of elements in the 32-bit words that kernels see: several per word (1 and 2 bytes), one, or one in several
 * words. A neighbour in the same word may belong to another invocation, so bits of a part of a word are changed by one
 * atomic exclusive or, whose operand the owner computes from the element's old bits.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";

/** Elements of 1 or 2 bytes in a word; 1 for all others. */
export const perWordOf = (dtype: DType): 1 | 2 | 4 => {
  const { bytes } = DTYPES[dtype];
  return bytes === 1 ? 4 : bytes === 2 ? 2 : 1;
};

/** Functions for elements that share words: the word's number, and the element's bits in it. */
export const laneSource = (perWord: 2 | 4): string => `
const MASK = ${perWord === 4 ? "0xffu" : "0xffffu"};
fn wordOf(element: u32) -> u32 { return element / ${perWord}u; }
fn shiftOf(element: u32) -> u32 { return (element % ${perWord}u) * ${32 / perWord}u; }`;
