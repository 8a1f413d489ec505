/** How a tensor reads as text. */

import type { DType, Storage } from "./dtype.ts";

/** The fields of a tensor that printing needs. */
export interface Printable {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly size: number;
  readonly data: Storage;
}

export function printTensor({ dtype, shape }: Printable): string {
  return `tensor(${dtype}, [${shape.join(", ")}])`;
}
