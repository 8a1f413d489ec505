/** Compares two tensors bit for bit, and finds the first differing cell. */

import { DTYPES, firstDifference, tensor, type Scalar, type Tensor } from "../../entries/index.ts";
import { printScalar, printShape } from "../../entries/operators.ts";
import { positionOf } from "./cells.ts";
import { printName } from "./layout.ts";
import { printType } from "./type-text.ts";

export interface Difference {
  /** The first differing cell; null if data types or shapes differ. */
  readonly at: readonly number[] | null;
  readonly got: string;
  readonly expected: string;
  readonly sentence: string;
  /** True if the two values are NaNs with different bits. */
  readonly isNaN: boolean;
}

/** Returns the first difference between `got` and `expected`, or null if they are equal. */
export function compareTensors(
  name: string,
  got: Tensor,
  expected: Tensor,
  file: string,
): Difference | null {
  const difference = (
    at: Difference["at"],
    left: string,
    right: string,
    isNaN = false,
  ): Difference => ({
    at,
    got: left,
    expected: right,
    sentence: `${printName(name)}${at?.length ? printShape(at) : ""} is ${left}, but ${file} has ${right}`,
    isNaN,
  });
  const types = [printType(got), printType(expected)] as const;
  if (types[0] !== types[1]) return difference(null, ...types);
  const at = firstDifference(got, expected);
  if (at === null) return null;
  const cells = [got, expected].map((one) => cellOf(one, at));
  const [left, right] = cells.map((cell) => printScalar(cell.dtype, cell.toArray() as Scalar));
  if (left !== right) return difference(at, left, right);
  // Two NaNs with different bits may look alike in print.
  const [leftBits, rightBits] = cells.map(printBits);
  return difference(at, `${left} (bits ${leftBits})`, `${right} (bits ${rightBits})`, true);
}

/** Returns one cell as a scalar tensor. */
export function cellOf({ dtype, shape, data }: Tensor, at: readonly number[]): Tensor {
  const { lanes } = DTYPES[dtype];
  const start = lanes * positionOf(at, shape);
  return tensor(dtype, [], data.slice(start, start + lanes));
}

function printBits({ data }: Tensor): string {
  if (!ArrayBuffer.isView(data)) return "";
  const bytes = [...new Uint8Array(data.buffer)].toReversed();
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
