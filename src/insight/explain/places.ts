/**
 * Converts Plan positions and offsets to coordinates of updates, output slices, indices and targets, and groups
 * positions by target, for both stories.
 *
 * A target is the row-major number of a data slice. A group consists of a target and all positions that address it.
 * Groups are ordered by target, and positions within a group are in Plan order.
 */

import type { PreparedCall } from "../../core/call/check.ts";
import { TensorError, type ErrorContext } from "../../core/errors.ts";
import { factOf, isArray, printValue } from "../../core/foreign.ts";
import type { Layout } from "../../core/operators/operator.ts";
import { describeIndex } from "../../core/plan/indices.ts";
import { absoluteOffsets, type Plan } from "../../core/plan/plan.ts";
import { coordinatesOf, printShape, product } from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { IndexStory, Lazy, Summary } from "./explanation.ts";

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

type TargetGroups = ReturnType<typeof groupByTarget>;

/**
 * Groups positions by target, with 8 bytes per position. `offsets` contains the offsets of all batches in data. Each
 * offset is the first element of a slice with `slice` elements.
 */
export function groupByTarget(offsets: Uint32Array, slice: number) {
  // Empty slices contain no elements to update or read.
  const total = slice === 0 ? 0 : offsets.length;
  // Each target and position form a 64-bit key, so that sorting needs no comparison callback. Sorting 10^6 keys takes
  // 65 ms instead of 280 ms.
  const keys = new BigUint64Array(total);
  const words = new Uint32Array(keys.buffer);
  for (let p = 0; p < total; p++) {
    words[2 * p] = p;
    words[2 * p + 1] = offsets[p] / slice;
  }
  keys.sort();
  const targetAt = (place: number): number => words[2 * place + 1];
  const begins = new Uint32Array(total + 1);
  let count = 0;
  for (let place = 0; place < total; place++) {
    if (place === 0 || targetAt(place) !== targetAt(place - 1)) begins[count++] = place;
  }
  begins[count] = total;
  const target = (group: number): number => targetAt(begins[group]);
  return {
    count,
    target,
    size: (group: number): number => begins[group + 1] - begins[group],
    /** Returns the `nth` position of a group, counted from 0. */
    position: (group: number, nth: number): number => words[2 * (begins[group] + nth)],
    /** Returns the group for a target, or -1 if no position addresses the target. */
    find: (wanted: number): number => searchAscending(count, target, wanted),
  };
}

/** Returns the position of a number in an ascending list of `count` numbers, or -1 if the number is not in the list. */
export function searchAscending(
  count: number,
  numberAt: (position: number) => number,
  wanted: number,
): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numberAt(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < count && numberAt(low) === wanted ? low : -1;
}

const MAX_MOST = 10;
const MAX_RANGES = 100;

/**
 * Summarizes a story with counts, the most frequent targets, and row ranges.
 *
 * `addressed` is the number of leading data axes that identify a target. `count` is the number of updates, or of output
 * slices.
 */
export function summaryOf(
  groups: TargetGroups,
  plan: Plan,
  dataShape: readonly number[],
  addressed: number,
  count: number,
): Summary {
  const targetShape = dataShape.slice(0, addressed);
  const most: { coordinates: readonly number[]; count: number }[] = [];
  const rows: [number, number][] = [];
  // Targets are counted per row, where a row is one coordinate on axis 0. If no axis is addressed, the only target
  // includes all rows.
  const inRow = addressed === 0 ? 0 : product(dataShape, 1, addressed);
  let repeats = 0;
  let rowRanges = 0;
  let lastRow = -2;
  for (let group = 0; group < groups.count; group++) {
    const size = groups.size(group);
    if (size > 1) {
      repeats++;
      if (most.length < MAX_MOST || size > most[MAX_MOST - 1].count) {
        // Sorting is stable, so groups with equal counts stay in order.
        most.push({ coordinates: coordinatesOf(groups.target(group), targetShape), count: size });
        most.sort((a, b) => b.count - a.count).splice(MAX_MOST);
      }
    }
    const first = inRow === 0 ? 0 : Math.floor(groups.target(group) / inRow);
    const last = inRow === 0 ? dataShape[0] - 1 : first;
    if (first > lastRow + 1) {
      rowRanges++;
      if (rowRanges <= MAX_RANGES) rows.push([first, last]);
    } else if (rowRanges <= MAX_RANGES) {
      rows[rows.length - 1][1] = last;
    }
    lastRow = last;
  }
  const untouched = plan.size - groups.count * plan.slice;
  return { count, targets: groups.count, repeats, most, rows, rowRanges, untouched, filled: 0 };
}
