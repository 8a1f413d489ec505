/** Defines hypotheses about mistaken coordinates, such as counting from 1 or listing the last axis first. */

import { isTensorError } from "../../core/errors.ts";
import { indexAt, indexWordsOf } from "../../core/plan/indices.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import {
  droppingOutside,
  hypothesis,
  takesNegative,
  within,
  type Change,
  type Hypothesis,
} from "./hypothesis.ts";
import { pick, placingOf, type PlaceOf, type Rule } from "./rule.ts";

/**
 * Hypotheses that change the interpretation of indices, and so also explain invalid calls. These hypotheses also affect
 * valid indices, so they do not determine which cells of an invalid call have no exact value.
 */
export const COORDINATES: readonly Hypothesis[] = [
  hypothesis("swapped-coordinates", "places", swapped),
];

export const COUNTING: readonly Hypothesis[] = [
  hypothesis("indices-from-one", "places", (rule) =>
    [
      ["indices were counted from 1: index 1 was the first position", -1] as const,
      ["1 was added to each index: index 0 was the second position", 1] as const,
    ].flatMap(([sentence, by]): Change[] => {
      const [wraps, drops] = [true, false].map((isWrapped) => shifted(rule, by, isWrapped));
      const leftOut = `${sentence}, and indices outside their axis were skipped`;
      return [
        [sentence, { placeOf: wraps }],
        ...(keepsAny(rule, drops) ? [[leftOut, { placeOf: drops }] as const] : []),
      ];
    }),
  ),
];

/**
 * Returns true if an interpretation keeps at least one update or element. Skipping all of them is not evidence for the
 * interpretation.
 */
function keepsAny(rule: Rule, placeOf: PlaceOf): boolean {
  const placing = placingIn(rule);
  if (placing === null) return false;
  const { axes, tupleAt, length, base } = placing;
  const { words, step } = indexWordsOf(rule.indices);
  return base.some((_, p) => {
    const after = p % length;
    const first = tupleAt(p) * axes.length;
    return axes.every(({ dim }, j) => {
      const index = indexAt(words, (first + j) * step, step) + after;
      return !Number.isNaN(placeOf(index, dim, after, length - 1 - after));
    });
  });
}

/**
 * Returns a function that assigns positions to indices. Returns null if another change makes the rule invalid, for
 * example with an axis that data does not have.
 */
function placingIn(rule: Rule): ReturnType<typeof placingOf> | null {
  try {
    return placingOf(rule);
  } catch (error) {
    if (isTensorError(error)) return null;
    throw error;
  }
}

/**
 * Returns a function that adds `by` to an index and returns its position. With `wraps`, a negative sum counts from the
 * end.
 */
function shifted(rule: Rule, by: number, wraps: boolean): PlaceOf {
  const { version, settings } = rule.call;
  if (version.indexForm === "sequences") {
    const isRing = settings.mode === "circular";
    return (index, dim) => (isRing ? (((index + by) % dim) + dim) % dim : within(index + by, dim));
  }
  const negative = wraps && takesNegative(rule);
  return (index, dim) => {
    const place = index + by;
    // The addition happens before the sign test, so -1 becomes 0.
    return within(negative && place < 0 ? place + dim : place, dim);
  };
}

/**
 * Returns changes that reorder tuple coordinates, by reversing all coordinates or by swapping two adjacent coordinates.
 */
function swapped(rule: Rule): readonly Change[] {
  const { indices, call } = rule;
  const k = indices.shape.at(-1) ?? 0;
  if (call.version.indexForm !== "tuples" || k < 2) return [];
  const straight = Array.from({ length: k }, (_, j) => j);
  const exchanged = (j: number): number[] => straight.with(j, j + 1).with(j + 1, j);
  const orders: readonly (readonly [order: readonly number[], how: string])[] = [
    [straight.toReversed(), "were read in reverse order"],
    ...(k === 2 ? [] : [0, k - 2]).map(
      (j) => [exchanged(j), `${j} and ${j + 1} were swapped`] as const,
    ),
  ];
  const dims = placingIn(rule)?.axes.map(({ dim }) => dim);
  if (dims === undefined) return [];
  return orders.flatMap(([order, how]): Change[] => {
    const shown = exampleOf(indices, order);
    if (shown === null) return [];
    const sentence = `the coordinates of index tuples ${how}: ${shown}`;
    const turned = {
      get indices() {
        return reordered(indices, order);
      },
    };
    const whole: Change = [sentence, { ...turned, placeOf: null }];
    const leavesOut = droppingOutside(rule);
    // Swapped coordinates can be out of range only if the axes have different sizes.
    return order.every((from, j) => dims[from] === dims[j]) ||
      !keepsAny({ ...rule, indices: reordered(indices, order) }, leavesOut)
      ? [whole]
      : [
          whole,
          [`${sentence}, and tuples outside data were skipped`, { ...turned, placeOf: leavesOut }],
        ];
  });
}

/**
 * Describes the first tuple that a different order changes, for example `[0, 2] led to [2, 0]`. Returns null if no
 * tuple changes.
 */
function exampleOf(indices: Tensor, order: readonly number[]): string | null {
  const { words, step } = indexWordsOf(indices);
  for (let first = 0; first < indices.size; first += order.length) {
    const tuple = order.map((_, j) => indexAt(words, (first + j) * step, step));
    const other = order.map((from) => tuple[from]);
    if (String(other) !== String(tuple)) {
      return `[${tuple.join(", ")}] led to [${other.join(", ")}]`;
    }
  }
  return null;
}

function reordered(indices: Tensor, order: readonly number[]): Tensor {
  const k = order.length;
  const offsets = Uint32Array.from({ length: indices.size }, (_, p) => p - (p % k) + order[p % k]);
  return pick(indices, offsets, indices.shape);
}
