/** From the numbers of a Plan to coordinates: where updates, slices of the output, indices and targets stand. */

import type { Layout, OperatorCall } from "../operators/operator.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import type { PreparedCall } from "../call/prepare.ts";
import { coordinatesOf, printShape, product } from "../tensor/shape.ts";
import { TensorError } from "../errors.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { IndexStory } from "./explanation.ts";

export interface Places {
  /** The target of each position of the Plan. */
  readonly offsets: Uint32Array;
  readonly addressed: number;
  /** The shape of a slice. */
  readonly sliceShape: readonly number[];
  /** How many slices there are in updates, or in the output of a gather. */
  readonly count: number;
  /** The coordinates of such a slice in the tensor that holds it. */
  sliceAt(source: number, tensor: Tensor): readonly number[];
  /** The index of such a slice, which leads to a target, or to none. */
  indexOf(source: number, target: readonly number[] | null): IndexStory;
  /** The coordinates of a target by its number, and the number of one by its coordinates; null where there is none. */
  targetAt(target: number): readonly number[];
  targetOf(coordinates: readonly number[]): number | null;
}

export function placesOf({ call, planInputs, data }: PreparedCall, plan: Plan): Places {
  const layout = call.operator.layout(planInputs, call);
  const { addressed } = layout;
  const targetShape = data.shape.slice(0, addressed);
  const sliceShape = data.shape.slice(addressed);
  const { slice } = plan;
  return {
    offsets: absoluteOffsets(plan),
    addressed,
    sliceShape,
    // Empty slices hold nothing that could be told.
    count: slice === 0 ? 0 : product(layout.positions),
    // Not by the layout's positions: a scalar may stand in a tensor of rank 2, and batches may be fused.
    sliceAt(at, { shape }) {
      const lead = shape.length - sliceShape.length;
      return coordinatesOf(at * slice, shape).slice(0, lead);
    },
    indexOf: (at, target) => tellIndex(layout, planInputs.indices, at, target),
    targetAt: (target) => coordinatesOf(target, targetShape),
    targetOf: (coordinates) => flatOf(coordinates, targetShape),
  };
}

function tellIndex(
  { positions, indexAt, axes }: Layout,
  indices: Tensor,
  source: number,
  target: readonly number[] | null,
): IndexStory {
  const at = indexAt(coordinatesOf(source, positions));
  const first = at.reduce((position, coordinate, d) => position * indices.shape[d] + coordinate, 0);
  const given = axes.map((_, j) => {
    // Where it has one axis more than coordinates, the last axis is the tuple.
    const exact = indices.data[first * (at.length < indices.shape.length ? axes.length : 1) + j];
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : (exact as bigint);
  });
  return { at, given, axes, places: target && axes.map((axis) => target[axis]) };
}

/** The position of an element in row-major order; null for coordinates that are none of the shape. */
function flatOf(coordinates: readonly number[], shape: readonly number[]): number | null {
  if (coordinates.length !== shape.length) return null;
  let position = 0;
  for (let d = 0; d < shape.length; d++) {
    const coordinate = coordinates[d];
    if (!(Number.isSafeInteger(coordinate) && coordinate >= 0 && coordinate < shape[d]))
      return null;
    position = position * shape[d] + coordinate;
  }
  return position;
}

/** @throws TensorError `index-out-of-range` */
export function elementOf(
  coordinates: readonly number[],
  { shape }: Tensor,
  { fields }: OperatorCall,
): number {
  const position = Array.isArray(coordinates) ? flatOf(coordinates, shape) : null;
  if (position !== null) return position;
  const got = Array.isArray(coordinates) ? printShape(coordinates) : String(coordinates);
  throw new TensorError(
    "index-out-of-range",
    `the output ${printShape(shape)} has no element ${got}`,
    fields,
  );
}
