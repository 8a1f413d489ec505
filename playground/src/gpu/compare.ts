/** Compares GPU results with those of the JavaScript engine, bit for bit. */

import { DTYPES, firstDifference, isTensorError, type Tensor } from "ndscatter";
import { printShape } from "ndscatter/operators";

/** The result of a call: a tensor, or an error's code and message. */
export type Outcome =
  | { readonly tensor: Tensor }
  | { readonly code: string; readonly sentence: string };

/** Returns the result of `action`, or the library error that it throws. Other errors are rethrown. */
export async function outcomeOf(action: () => Tensor | Promise<Tensor>): Promise<Outcome> {
  try {
    return { tensor: await action() };
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return { code: error.code, sentence: error.message };
  }
}

/** Describes how an outcome differs from the expected outcome; null if both agree. */
export function differenceOf(right: Outcome, got: Outcome): string | null {
  if ("code" in right) {
    if ("code" in got) {
      return got.code === right.code
        ? null
        : `the error is ${got.code} instead of ${right.code}: ${got.sentence}`;
    }
    return `a result was returned instead of the error ${right.code}`;
  }
  if ("code" in got) return `the error ${got.code}: ${got.sentence}`;
  return differenceOfTensors(right.tensor, got.tensor);
}

function differenceOfTensors(right: Tensor, got: Tensor): string | null {
  const [a, b] = [right, got].map(({ dtype, shape }) => `${dtype} ${printShape(shape)}`);
  if (a !== b) return `the result is ${b} instead of ${a}`;
  const at = firstDifference(right, got);
  if (at === null) return null;
  const { dtype, shape, size } = right;
  const width = DTYPES[dtype].bytes;
  const [wanted, found] = [bytesOf(right), bytesOf(got)];
  const hex = (bytes: Uint8Array, element: number): string =>
    [...bytes.subarray(element * width, (element + 1) * width)]
      .toReversed()
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
  const wrong = Array.from({ length: size }, (_, p) => p).filter(
    (p) => hex(wanted, p) !== hex(found, p),
  );
  const first = wrong[0];
  return (
    `${wrong.length} of ${size} elements of ${dtype} ${printShape(shape)} differ; ` +
    `[${at.join(", ")}] has the bits ${hex(found, first)} instead of ${hex(wanted, first)}`
  );
}

function bytesOf({ data }: Tensor): Uint8Array {
  if (Array.isArray(data)) throw new TypeError("strings cannot be compared bit by bit");
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
