/** Converts Plan positions and offsets to coordinates of updates, output slices, indices and targets. */

import type { Layout, OperatorCall } from "../../core/operators/operator.ts";
import { absoluteOffsets, type Plan } from "../../core/plan/plan.ts";
import type { PreparedCall } from "../../core/call/prepare.ts";
import { coordinatesOf, printShape, product } from "../../core/tensor/shape.ts";
import { factOf, isArray, printValue } from "../../core/foreign.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { IndexStory } from "./explanation.ts";

/** Coordinate conversions for one call. Update slices, or a gather's output slices, are numbered in row-major order. */
export interface Places {
  /** First element of the data slice that each Plan position addresses. */
  readonly offsets: Uint32Array;
  /** Number of leading data axes that an offset addresses. */
  readonly addressed: number;
  readonly sliceShape: readonly number[];
  /** Number of update slices, or of output slices in a gather. */
  readonly count: number;
  /** Returns the coordinates of a slice within its tensor. */
  sliceAt(slice: number, tensor: Tensor): readonly number[];
  /** Returns the index or tuple for a slice, with its `target`, which is null if the index addresses no element. */
  indexOf(slice: number, target: readonly number[] | null): IndexStory;
  targetAt(target: number): readonly number[];
  /** Returns the target at the given coordinates, or null for coordinates outside data. */
  targetOf(coordinates: readonly number[]): number | null;
}

export function placesOf({ call, planInputs, data }: PreparedCall, plan: Plan): Places {
  const layout = call.operator.layout(planInputs, call);
  const { addressed } = layout;
  const targetShape = data.shape.slice(0, addressed);
  const sliceShape = data.shape.slice(addressed);
  return {
    offsets: absoluteOffsets(plan),
    addressed,
    sliceShape,
    // Plans do not contain offsets for some empty slices. Stories omit all empty slices, because these slices contain
    // no elements.
    count: plan.slice === 0 ? 0 : product(layout.positions),
    // The rank comes from the tensor, because the output's batch axes may be merged, and a tensor of any rank may
    // represent a scalar.
    sliceAt(slice, { shape }) {
      const lead = shape.length - sliceShape.length;
      return coordinatesOf(slice * plan.slice, shape).slice(0, lead);
    },
    indexOf: (slice, target) => indexStory(layout, planInputs.indices, slice, target),
    targetAt: (target) => coordinatesOf(target, targetShape),
    targetOf: (coordinates) => flatOf(coordinates, targetShape),
  };
}

function indexStory(
  { positions, indexAt, axes }: Layout,
  indices: Tensor,
  slice: number,
  target: readonly number[] | null,
): IndexStory {
  const at = indexAt(coordinatesOf(slice, positions));
  const first = at.reduce((position, coordinate, d) => position * indices.shape[d] + coordinate, 0);
  // If `at` has fewer coordinates than indices has axes, the last axis of indices contains the tuples.
  const perTuple = at.length < indices.shape.length ? axes.length : 1;
  const given = axes.map((_, j) => {
    const exact = indices.data[first * perTuple + j];
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : (exact as bigint);
  });
  return { at, given, axes, places: target && axes.map((axis) => target[axis]) };
}

/** Returns the row-major position of an element, or null for coordinates outside the shape. */
export function flatOf(coordinates: readonly number[], shape: readonly number[]): number | null {
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

/**
 * Returns the row-major position of an output element. Throws a `rank` or `index-out-of-range` error for coordinates
 * outside the output.
 */
export function outputElement(
  coordinates: readonly number[],
  { shape }: Tensor,
  { fields }: OperatorCall,
): number {
  const position = isArray(coordinates) ? flatOf(coordinates, shape) : null;
  if (position !== null) return position;
  throw noElement("the output", coordinates, shape, { ...fields, input: "output" });
}

/** Creates the error for coordinates outside a tensor. */
export function noElement(
  title: string,
  coordinates: unknown,
  shape: readonly number[],
  fields: ErrorContext & { readonly input: string },
): TensorError {
  const list = isArray(coordinates) ? coordinates : null;
  const printed = list === null ? printValue(coordinates) : printShape(list as readonly number[]);
  const sentence = `${title} ${printShape(shape)} has no element ${printed}`;
  const axis = shape.findIndex((dim, d) => flatOf([Number(list?.[d])], [dim]) === null);
  if (list?.length !== shape.length || axis === -1) {
    return new TensorError("rank", sentence, {
      ...fields,
      key: "coordinates",
      got: list?.length ?? factOf(coordinates),
      expected: shape.length,
    });
  }
  return new TensorError("index-out-of-range", sentence, {
    ...fields,
    at: list as readonly number[],
    axis,
    got: Number(list[axis]),
    size: shape[axis],
    expected: [0, shape[axis] - 1],
  });
}
