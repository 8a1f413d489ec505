/**
 * Preserves the parts of an input that an edit removes: elements outside the new shape, and the tensor of an omitted
 * input. Unlike undo, the reserve restores elements when the axis grows again.
 */

import type { Reserve } from "./document.ts";
import { areNested, withShape } from "./edit.ts";
import { MOST_AXES, MOST_ELEMENTS } from "../values/limits.ts";
import { sizeOf } from "../values/shape.ts";
import type { TensorText } from "../values/state.ts";

/**
 * The maximum number of former tensors. Each former tensor may be as large as the page allows, and users rarely shrink
 * a tensor 16 times without undoing.
 */
const MOST_LAYERS = 16;

/** A reshaped input and its new reserve, or the reason why the shape is refused. */
type Reshaped =
  | { readonly input: TensorText; readonly reserve: Reserve }
  | { readonly error: string };

/** Reshapes an input. Elements that were removed earlier are restored if they fit the new shape. */
export function reshaped(input: TensorText, shape: readonly number[], reserve: Reserve): Reshaped {
  const layers = layersAt(input, shape, reserve.layers);
  const edited = withShape(input, shape, layers);
  return "error" in edited ? edited : { ...edited, reserve: { ...reserve, layers } };
}

/** Returns the former tensors of an input that is being reshaped. */
function layersAt(
  input: TensorText,
  shape: readonly number[],
  layers: readonly TensorText[],
): readonly TensorText[] {
  const before = input.shape;
  const isSameRank = before.length === shape.length;
  // A change of rank preserves all elements if their number stays the same, but may remove an axis of length 1.
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

/** Returns a former tensor with axes added or removed at the end to match another rank. */
function atRank(layer: TensorText, rank: number): readonly TensorText[] {
  const ones = Array.from({ length: rank - layer.shape.length }, () => 1);
  const edited = withShape(layer, [...layer.shape.slice(0, rank), ...ones]);
  return "error" in edited ? [] : [edited.input];
}

/** Drops former tensors whose elements all appear in a newer tensor of the same rank. */
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

/** Returns the shape with one more axis. The new axis has the length of the axis that was last removed, or 1. */
export function withAxis(shape: readonly number[], { layers }: Reserve): readonly number[] {
  const rank = shape.length;
  const last = layers.find((layer) => layer.shape.length === rank + 1)?.shape[rank] ?? 1;
  const isShown = rank < MOST_AXES && sizeOf(shape) * last <= MOST_ELEMENTS;
  return [...shape, isShown ? last : 1];
}

/** Returns an input's reserve after a change that may reshape or omit the input. */
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
