/** How much the page takes, so that no input can stop it. */

import { printShape, TensorError } from "ndscatter";

/** Elements of a tensor, and cells of a picture. */
export const MOST_ELEMENTS = 20_000;

/** Axes of an input; an output has as many as follow. */
export const MOST_AXES = 5;

/**
 * A shape that the page can show.
 * @throws TensorError `shape-mismatch` for a dimension that is no size, `rank`, `too-large`
 */
export function checkShape(shape: readonly number[], what: string): void {
  const wrong = shape.find((dim) => !Number.isSafeInteger(dim) || dim < 0);
  if (wrong !== undefined) {
    const sentence = `a dimension of ${what} must be a non-negative integer, got ${wrong}`;
    throw new TensorError("shape-mismatch", sentence);
  }
  if (shape.length > MOST_AXES) {
    const sentence = `the page shows tensors of up to ${MOST_AXES} axes, ${what} has ${shape.length}`;
    throw new TensorError("rank", sentence, { got: shape.length });
  }
  checkExtent(shape, what);
}

/** @throws TensorError `too-large` */
export function checkExtent(shape: readonly number[], what: string): void {
  const extent = extentOf(shape);
  if (extent <= MOST_ELEMENTS) return;
  const most = MOST_ELEMENTS.toLocaleString("en");
  const sentence = shape.includes(0)
    ? `the page shows up to ${most} lists, and those of ${what}, ${printShape(shape)}, are ${extent.toLocaleString("en")}`
    : `the page shows up to ${most} elements, and ${what}, ${printShape(shape)}, has ${extent.toLocaleString("en")}`;
  throw new TensorError("too-large", sentence, { got: extent, expected: shape });
}

/** The number of elements, with empty axes counted as one: a shape such as [4000000000, 0] takes time all the same. */
const extentOf = (shape: readonly number[]): number =>
  shape.reduce((size, dim) => size * Math.max(dim, 1), 1);
