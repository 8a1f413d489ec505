/** Draws an input tensor: its cells, their colours and their errors. */

import { printShape } from "ndscatter/operators";
import { tabsOf } from "./tabs.ts";
import { firstOf, sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import type { Faults } from "../document/faults.ts";
import { tintsOf } from "./targets.ts";
import { NOTHING_SAID, type Cells } from "./cells.ts";
import { hitsOf, type Picture } from "./view.ts";

export interface InputView {
  readonly sentences: readonly string[];
  readonly dimensions: ReadonlySet<number>;
  readonly cells: Cells;
}

const NO_TINTS = new Int8Array(0);

/**
 * Returns the content of an input's cells. With `isStale`, `picture` shows the previous call because the current call
 * has an error, so its colours and tabs would be wrong.
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
    if ("at" in place) cells.set(firstOf(place.at, shape), sentence);
    if ("dims" in place) for (const axis of place.dims) dimensions.add(axis);
  }
  const before = picture?.state.inputs[position];
  const fits =
    picture !== null &&
    !isStale &&
    picture.state.op === state.op &&
    printShape(before?.shape ?? []) === printShape(shape);
  const role = picture?.explanation.inputs[position]?.role ?? "";
  const size = sizeOf(shape);
  const shown: Cells = {
    ...NOTHING_SAID,
    values: text?.values ?? [],
    tints: fits ? tintsOf(picture.links, picture.targets, role, size) : NO_TINTS,
    hits: fits ? hitsOf(picture.links, role, size) : null,
    tabs: fits ? tabsOf(picture.links, state.op, role, shape) : NOTHING_SAID.tabs,
    faults: cells,
  };
  return {
    sentences: mine.map(({ sentence }) => sentence),
    dimensions,
    cells: shown,
  };
}
