/** Converts Plan positions and offsets to coordinates of updates, output slices, indices and targets, for both stories. */

import type { Layout } from "../../core/operators/operator.ts";
import { describeIndex } from "../../core/plan/indices.ts";
import { absoluteOffsets, type Plan } from "../../core/plan/plan.ts";
import type { PreparedCall } from "../../core/call/check.ts";
import { coordinatesOf, printShape, product } from "../../core/tensor/shape.ts";
import { factOf, isArray, printValue } from "../../core/foreign.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { IndexStory, Lazy } from "./explanation.ts";
import { groupByTarget, summaryOf } from "./targets.ts";

/**
 * Converts coordinates for one call. Update slices, or a gather's output slices, are numbered in row-major order. The
 * first `addressed` axes of data identify a target, and the other axes form a slice.
 */
export type Places = ReturnType<typeof placesOf>;

export function placesOf({ call, planInputs, data }: PreparedCall, plan: Plan) {
  const layout = call.operator.layout(planInputs, call);
  const { addressed } = layout;
  const { slice } = plan;
  const targetShape = data.shape.slice(0, addressed);
  const sliceShape = data.shape.slice(addressed);
  const offsets = absoluteOffsets(plan);
  const groups = groupByTarget(offsets, slice);
  // Plans do not contain offsets for some empty slices. Stories omit all empty slices, because these slices contain no
  // elements.
  const count = slice === 0 ? 0 : product(layout.positions);
  const targetAt = (target: number): readonly number[] => coordinatesOf(target, targetShape);
  /** Returns the index or tuple for a slice, whose `target` is null if the index addresses no element. */
  const indexOf = (nth: number, target: readonly number[] | null): IndexStory =>
    indexStory(layout, planInputs.indices, nth, target);
  return {
    ...{ offsets, sliceShape, slice, count, groups, targetAt, indexOf },
    /** Describes a slice of updates, or of a gather's output. */
    sliceOf: <T extends readonly number[] | null>(nth: number, { shape }: Tensor, target: T) => ({
      // The rank comes from the tensor, because the output's batch axes may be merged, and a tensor of any rank may
      // represent a scalar.
      at: coordinatesOf(nth * slice, shape).slice(0, shape.length - sliceShape.length),
      index: indexOf(nth, target),
      target,
    }),
    elementOf: (coordinates: readonly number[], { shape }: Tensor): number =>
      elementAt("the output", coordinates, shape, { ...call.fields, input: "output" }),
    /** Returns the part of a story that is the same for a scatter and a gather. */
    storyOf: <T>(make: (coordinates: readonly number[], group: number, count: number) => T) => {
      const one = (group: number): T =>
        make(targetAt(groups.target(group)), group, groups.size(group));
      return {
        addressed,
        summary: summaryOf(groups, plan, data.shape, addressed, count),
        targets: lazyList(groups.count, one),
        target(coordinates: readonly number[]): T | null {
          const target = flatOf(coordinates, targetShape);
          const group = target === null ? -1 : groups.find(target);
          return group === -1 ? null : one(group);
        },
      };
    },
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
  const given = axes.map((_, j) => describeIndex(indices, first * perTuple + j).got);
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
 * Returns the row-major position of an element of the input or output with the given title. Throws a `rank` or
 * `index-out-of-range` error for coordinates outside the shape.
 */
export function elementAt(
  title: string,
  coordinates: unknown,
  shape: readonly number[],
  fields: ErrorContext & { readonly input: string },
): number {
  const at = isArray(coordinates) ? (coordinates as readonly number[]) : null;
  const position = at && flatOf(at, shape);
  if (position !== null) return position;
  const printed = at === null ? printValue(coordinates) : printShape(at);
  const sentence = `${title} ${printShape(shape)} has no element ${printed}`;
  const axis = shape.findIndex((dim, d) => flatOf([Number(at?.[d])], [dim]) === null);
  if (at?.length !== shape.length || axis === -1) {
    const got = at?.length ?? factOf(coordinates);
    const expected = shape.length;
    throw new TensorError("rank", sentence, { ...fields, key: "coordinates", got, expected });
  }
  const size = shape[axis];
  const facts = { at, axis, got: Number(at[axis]), size, expected: [0, size - 1] as const };
  throw new TensorError("index-out-of-range", sentence, { ...fields, ...facts });
}

/** Returns a lazy list with `length` members. Every access calls `make`, and the results are not cached. */
export const lazyList = <T>(length: number, make: (position: number) => T): Lazy<T> => ({
  length,
  at(position) {
    const place = position < 0 ? position + length : position;
    return Number.isSafeInteger(place) && place >= 0 && place < length ? make(place) : undefined;
  },
  *[Symbol.iterator]() {
    for (let place = 0; place < length; place++) yield make(place);
  },
});
