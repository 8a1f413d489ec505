/** What the card of an input shows: its cells, their colours, and its faults. */

import { printShape } from "ndscatter";
import { marksOf } from "../model/links.ts";
import { sizeOf } from "../model/shape.ts";
import type { State } from "../model/state.ts";
import { elementAt, type Faults } from "./faults.ts";
import type { Cells } from "./grid.tsx";
import { notesOf, nowOf, type Picture } from "./view.ts";

export interface InputView {
  readonly sentences: readonly string[];
  readonly dimensions: ReadonlySet<number>;
  /** The cells after so many steps of the player. */
  at(step: number, picture: Picture | null): Cells;
}

export const NO_NOTES: ReadonlyMap<number, string> = new Map();
const NOWHERE: readonly [number, number] = [0, 0];

/**
 * The view of an input.
 * @param picture the last picture; after an error the input keeps its colours where the shape still fits
 * @param isStale whether the picture is of a call before, because this one has an error
 */
export function inputView(
  picture: Picture | null,
  isStale: boolean,
  state: State,
  position: number,
  { inputs }: Faults,
): InputView {
  const text = state.inputs[position];
  const mine = inputs.get(position) ?? [];
  const shape = text?.shape ?? [];
  const cells = new Map<number, string>();
  const dimensions = new Set<number>();
  for (const { place, sentence } of mine) {
    if ("at" in place) cells.set(elementAt(place.at, shape), sentence);
    if ("dims" in place) for (const axis of place.dims) dimensions.add(axis);
  }
  const before = picture?.state.inputs[position];
  const fits =
    picture !== null &&
    picture.state.op === state.op &&
    printShape(before?.shape ?? []) === printShape(shape);
  const role = picture?.explanation.inputs[position]?.role ?? "";
  const marks = fits ? marksOf(picture.links, role, sizeOf(shape)) : [];
  const isNoted = fits && !isStale && role === "indices";
  const still: Cells = {
    values: text?.values ?? [],
    marks,
    shown: null,
    notes: isNoted ? notesOf(picture.links, shape) : NO_NOTES,
    faults: cells,
    now: NOWHERE,
  };
  return {
    sentences: mine.map(({ sentence }) => sentence),
    dimensions,
    at: (step, now) => {
      if (now === null || isStale) return still;
      const range = nowOf(now.links, role, step, shape);
      return range[0] === range[1] ? still : { ...still, now: range };
    },
  };
}
