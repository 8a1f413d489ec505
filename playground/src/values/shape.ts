/**
 * Shape arithmetic: sizes, coordinates, and positions of elements in row-major order. These functions do not check
 * their arguments.
 */

export const sizeOf = (shape: readonly number[]): number =>
  shape.reduce((product, dim) => product * dim, 1);

export function coordinatesOf(position: number, shape: readonly number[]): number[] {
  const at = Array.from(shape, () => 0);
  for (let axis = shape.length - 1, rest = position; axis >= 0; axis--) {
    at[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  return at;
}

/** Returns an element's position; for leading coordinates, the number of the slice. */
export function positionOf(at: readonly number[], shape: readonly number[]): number {
  let position = 0;
  for (let axis = 0; axis < at.length; axis++) position = position * shape[axis] + at[axis];
  return position;
}

/** Returns the position of a slice's first element. */
export const firstOf = (at: readonly number[], shape: readonly number[]): number =>
  positionOf(at, shape) * sizeOf(shape.slice(at.length));

/** Returns the grids that show a tensor of any rank: one grid for each matrix along its last two axes. */
export function gridsOf(shape: readonly number[]): {
  rows: number;
  columns: number;
  grids: number;
} {
  const rank = shape.length;
  return {
    columns: rank === 0 ? 1 : shape[rank - 1],
    rows: rank < 2 ? 1 : shape[rank - 2],
    grids: sizeOf(shape.slice(0, -2)),
  };
}
