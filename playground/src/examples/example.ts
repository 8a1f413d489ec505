/** Defines the presets, each of which is a call as short as possible. */

import type { DType } from "ndscatter";
import type { State, TensorText } from "../values/state.ts";
import { textFrom } from "../values/tensor-text.ts";

export interface Example {
  readonly title: string;
  /** A reader's question, which the picture answers. */
  readonly question: string;
  /** A note about the picture. If the document has an erratum, the note gives the printed and the correct result. */
  readonly note?: string;
  readonly attributes?: State["attributes"];
  readonly inputs: State["inputs"];
}

/** The examples of an operator's document. An example of another version than the document's newest has its own opset. */
export interface Examples {
  readonly op: string;
  readonly opset: number;
  readonly examples: readonly (Example & { readonly opset?: number })[];
}

/** Returns a function that converts nested lists to a tensor. */
const maker =
  (dtype: DType) =>
  (nested: unknown): TensorText =>
    textFrom(dtype, nested);

export const bool = maker("bool");
export const f16 = maker("float16");
export const f32 = maker("float32");
export const i4 = maker("int4");
export const i8 = maker("int8");
export const i32 = maker("int32");
export const i64 = maker("int64");
export const u8 = maker("uint8");

// Tensors that illustrate slices in the documents of both domains.
// prettier-ignore
const ONE = [[1, 2, 3, 4], [5, 6, 7, 8], [8, 7, 6, 5], [4, 3, 2, 1]];
// prettier-ignore
const TWO = [[8, 7, 6, 5], [4, 3, 2, 1], [1, 2, 3, 4], [5, 6, 7, 8]];
export const CUBE = [ONE, ONE, TWO, TWO];
// prettier-ignore
export const SLICES = [
  [[5, 5, 5, 5], [6, 6, 6, 6], [7, 7, 7, 7], [8, 8, 8, 8]],
  [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3], [4, 4, 4, 4]],
];
