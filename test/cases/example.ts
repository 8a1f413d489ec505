/** What a row of examples says, and the tensors that both domains' documents use. */

import type { DType } from "../../src/core/tensor/dtype.ts";

export interface Example {
  readonly source: string;
  readonly op: string;
  readonly domain?: "openvino";
  /** The versions that the document prints it for, or that run it alike. */
  readonly versions: readonly number[];
  readonly attributes?: Readonly<Record<string, number | string | boolean>>;
  readonly dtype: DType;
  readonly indexType: "int32" | "int64" | "uint8";
  readonly data: unknown;
  readonly indices?: unknown;
  readonly updates?: unknown;
  /** Where it is an input. */
  readonly axis?: unknown;
  readonly output: unknown;
}

// prettier-ignore
export const ONE = [[1, 2, 3, 4], [5, 6, 7, 8], [8, 7, 6, 5], [4, 3, 2, 1]];

// prettier-ignore
export const TWO = [[8, 7, 6, 5], [4, 3, 2, 1], [1, 2, 3, 4], [5, 6, 7, 8]];

export const CUBE = [ONE, ONE, TWO, TWO];

// prettier-ignore
export const SLICES = [
  [[5, 5, 5, 5], [6, 6, 6, 6], [7, 7, 7, 7], [8, 8, 8, 8]],
  [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3], [4, 4, 4, 4]],
];
