/** The page's limits, which prevent any input from blocking the page. */

import { TensorError } from "ndscatter";
import { printShape } from "ndscatter/operators";

/** The maximum number of elements in a tensor; each element is a cell on the page. */
export const MOST_ELEMENTS = 20_000;

/** The maximum rank of an input. An output may have a higher rank. */
export const MOST_AXES = 5;

/**
 * Checks that the page can show a shape. `what` is the tensor's name in error messages. Throws `shape-mismatch` for an
 * invalid dimension, and `rank` or `too-large` for a shape beyond the page's limits.
 */
export function checkShape(shape: readonly number[], what: string): void {
  const wrong = shape.find((dim) => !Number.isSafeInteger(dim) || dim < 0);
  if (wrong !== undefined) {
    const sentence = `a dimension of ${what} must be a non-negative integer, got ${Number.isNaN(wrong) ? "a text that is not a number" : wrong}`;
    throw new TensorError("shape-mismatch", sentence, { input: what, got: wrong });
  }
  if (shape.length > MOST_AXES) {
    const sentence = `the page shows tensors with up to ${MOST_AXES} axes, but ${what} has ${shape.length}`;
    throw new TensorError("rank", sentence, {
      input: what,
      got: shape.length,
      limit: MOST_AXES,
    });
  }
  checkExtent(shape, what);
}

export function checkExtent(shape: readonly number[], what: string): void {
  const extent = extentOf(shape);
  if (extent <= MOST_ELEMENTS) return;
  const [most, got] = [MOST_ELEMENTS, extent].map((count) => count.toLocaleString("en"));
  const sentence = shape.includes(0)
    ? `the page shows up to ${most} lists, but ${what} of shape ${printShape(shape)} has ${got}`
    : `the page shows up to ${most} elements, but ${what} of shape ${printShape(shape)} has ${got}`;
  throw new TensorError("too-large", sentence, { input: what, got: extent, limit: MOST_ELEMENTS });
}

/**
 * Returns the number of elements, counting empty axes as 1, because a shape such as [4000000000, 0] takes time to
 * process.
 */
const extentOf = (shape: readonly number[]): number =>
  shape.reduce((size, dim) => size * Math.max(dim, 1), 1);
