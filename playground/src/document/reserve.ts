/**
 * What must not be lost with an input: what a change of its shape has cut off, and the tensor itself while it is left
 * out. Undo is not done here: this is what comes back when a size comes back.
 */

import { areNested, withShape } from "./edit.ts";
import { MOST_AXES, MOST_ELEMENTS } from "../values/limits.ts";
import { sizeOf } from "../values/shape.ts";
import type { TensorText } from "../values/state.ts";

/** The tensors of one input as they were before, newest first. They share their values with former states. */
export interface Reserve {
  readonly layers: readonly TensorText[];
  /** The input as it was left out; null while it is given. */
  readonly leftOut: TensorText | null;
}

export const NO_RESERVE: Reserve = { layers: [], leftOut: null };

/** More than a person cuts off without a way back by undo; each may have as many elements as the page shows. */
const MOST_LAYERS = 16;

/** An input in another shape, with what is now cut off; or the reason why the shape is refused. */
export type Reshaped =
  | { readonly input: TensorText; readonly reserve: Reserve }
  | { readonly error: string };

/** The input in another shape. Elements that were cut off before come back where the shape has room for them. */
export function reshaped(input: TensorText, shape: readonly number[], reserve: Reserve): Reshaped {
  const layers = layersAt(input, shape, reserve.layers);
  const edited = withShape(input, shape, layers);
  return "error" in edited ? edited : { ...edited, reserve: { ...reserve, layers } };
}

/** The layers below an input that gets another shape. */
export function layersAt(
  input: TensorText,
  shape: readonly number[],
  layers: readonly TensorText[],
): readonly TensorText[] {
  const before = input.shape;
  const isSameRank = before.length === shape.length;
  // With as many elements at another rank all stay, but an axis of length 1 may be gone.
  const keepsAll = isSameRank
    ? before.every((length, axis) => length <= shape[axis])
    : shape.length > before.length && areNested(shape, before);
  const isReordered =
    !isSameRank && !areNested(shape, before) && sizeOf(shape) === input.values.length;
  const all = keepsAll || isReordered ? layers : [input, ...layers];
  const moved =
    isSameRank || !areNested(shape, before)
      ? all
      : all.flatMap((layer) =>
          layer.shape.length === before.length ? [layer, ...atRank(layer, shape.length)] : [layer],
        );
  return withoutCovered(moved).slice(0, MOST_LAYERS);
}

/** A layer with axes added or removed at the end, so that it meets the coordinates of the other rank. */
function atRank(layer: TensorText, rank: number): readonly TensorText[] {
  const ones = Array.from({ length: rank - layer.shape.length }, () => 1);
  const edited = withShape(layer, [...layer.shape.slice(0, rank), ...ones]);
  return "error" in edited ? [] : [edited.input];
}

/** Leaves out layers of which every element is in a newer layer of the same rank. */
const withoutCovered = (layers: readonly TensorText[]): TensorText[] =>
  layers.filter(
    ({ shape }, position) =>
      !layers
        .slice(0, position)
        .some(
          (newer) =>
            newer.shape.length === shape.length &&
            shape.every((length, axis) => length <= newer.shape[axis]),
        ),
  );

/** The shape with one axis more: of the length that was cut off, else 1. */
export function withAxis(shape: readonly number[], { layers }: Reserve): readonly number[] {
  const rank = shape.length;
  const last = layers.find((layer) => layer.shape.length === rank + 1)?.shape[rank] ?? 1;
  const isShown = rank < MOST_AXES && sizeOf(shape) * last <= MOST_ELEMENTS;
  return [...shape, isShown ? last : 1];
}

/** The reserve of an input after a change that may be of its shape, or leave the input out. */
export function reserveAfter(
  before: TensorText | null,
  after: TensorText | null,
  reserve: Reserve,
): Reserve {
  if (before === after) return reserve;
  if (after === null) return { ...reserve, leftOut: before };
  if (before === null) return { ...reserve, leftOut: null };
  const isSame = String(before.shape) === String(after.shape);
  return isSame ? reserve : { ...reserve, layers: layersAt(before, after.shape, reserve.layers) };
}
