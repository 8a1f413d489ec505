/** Two tensors held against each other bit for bit, and the first cell in which they differ. */

import {
  DTYPES,
  firstDifference,
  printScalar,
  printShape,
  tensor,
  type Scalar,
  type Tensor,
} from "../index.ts";
import { printName } from "./layout.ts";
import { printType } from "./type-text.ts";

export interface Difference {
  /** The first cell that differs; null where data types or shapes do. */
  readonly at: readonly number[] | null;
  readonly got: string;
  readonly expected: string;
  readonly sentence: string;
}

/** The first difference of `got`, called `name`, from what `file` holds; null where there is none. */
export function compareTensors(
  name: string,
  got: Tensor,
  expected: Tensor,
  file: string,
): Difference | null {
  const difference = (at: Difference["at"], left: string, right: string): Difference => ({
    at,
    got: left,
    expected: right,
    sentence: `${printName(name)}${at?.length ? printShape(at) : ""} is ${left}, but ${file} has ${right}`,
  });
  const types = [printType(got), printType(expected)] as const;
  if (types[0] !== types[1]) return difference(null, ...types);
  const at = firstDifference(got, expected);
  if (at === null) return null;
  const cells = [got, expected].map((one) => cellOf(one, at));
  const [left, right] = cells.map((cell) => printScalar(cell.dtype, cell.toArray() as Scalar));
  if (left !== right) return difference(at, left, right);
  // NaN is not one value but many.
  const [these, those] = cells.map(printBits);
  return difference(at, `${left} (bits ${these})`, `${right} (bits ${those})`);
}

/** One cell as a tensor of its own. */
function cellOf({ dtype, shape, data }: Tensor, at: readonly number[]): Tensor {
  const { lanes } = DTYPES[dtype];
  const start =
    lanes * at.reduce((position, coordinate, axis) => position * shape[axis] + coordinate, 0);
  return tensor(dtype, [], data.slice(start, start + lanes));
}

function printBits({ data }: Tensor): string {
  if (!ArrayBuffer.isView(data)) return "";
  const bytes = [...new Uint8Array(data.buffer)].toReversed();
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
