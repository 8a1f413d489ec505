/** Arithmetic of places in a tensor: the flat number of an element, and its coordinates. */

export const sizeOf = (shape: readonly number[]): number =>
  shape.reduce((product, length) => product * length, 1);

export function coordinatesOf(element: number, shape: readonly number[]): number[] {
  const coordinates: number[] = [];
  let rest = element;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    coordinates.unshift(rest % shape[axis]);
    rest = Math.floor(rest / shape[axis]);
  }
  return coordinates;
}

/** Of an element, or of a slice by its leading coordinates. */
export const flatOf = (coordinates: readonly number[], shape: readonly number[]): number =>
  coordinates.reduce((position, coordinate, axis) => position * shape[axis] + coordinate, 0);

/** How a tensor of any rank lies on the page: grids of its last two dimensions. */
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
