/** The page as components know it: its state, everything derived from the state, and the functions that change it. */

import type { Explanation } from "ndscatter";
import type { Edits } from "../document/edits.ts";
import type { Fix } from "../document/fixes.ts";
import type { Action, PageState } from "../document/state.ts";
import type { Preset } from "../examples/preset.ts";
import type { Spot, TensorId } from "../values/spot.ts";
import type { State } from "../values/state.ts";
import type { Cells } from "./cells.ts";
import type { InputView } from "./input-view.ts";
import type { Links } from "./links.ts";
import type { Drawn } from "./use-picture.ts";

export interface Arrow {
  readonly from: Spot;
  readonly to: Spot;
  /** The tuple that determines the arrow's colour. */
  readonly tuple: number | null;
  /** True if no value moves along the arrow, which only shows an origin. */
  readonly isHint: boolean;
}

export interface Line {
  readonly text: string;
  /** The event's result, such as `5 + 3 = 8`. */
  readonly result?: string;
}

export interface Description {
  readonly title: string;
  readonly lines: readonly Line[];
  /** Arrows between the described cells. */
  readonly arrows: readonly Arrow[];
  /** The updates or reads that the description is about. */
  readonly orders: readonly number[];
}

export interface Session extends Omit<PageState, "history">, Drawn {
  readonly state: State;
  /** The preset that equals the state; null after the first change. */
  readonly preset: string | null;
  readonly example: Preset | null;
  /** True if a link opened the state, which nobody has changed. */
  readonly isLinked: boolean;
  readonly hasOwn: boolean;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  act(action: Action): void;
  /** Returns the newest state, which may not be drawn yet. */
  latest(): State;
  /** Loads the parser for pasted text. */
  load(): Promise<unknown>;

  readonly explanation: Explanation | null;
  readonly fixes: readonly Fix[];
  readonly links: Links | null;
  /** The number of updates or reads, and of those that are carried out in the picture. */
  readonly count: number;
  readonly at: number;
  readonly inputs: readonly InputView[];
  readonly edits: readonly Edits[];
  readonly output: Cells | null;

  /** The cell to describe: the cell under the pointer, or else the focused cell. */
  readonly spot: Spot | null;
  readonly isPointed: boolean;
  readonly description: Description | null;
  readonly summary: readonly string[];
  /** The sentence under the picture, which says how values move. */
  readonly route: string;
  /** What the call does, or that it fails, as one sentence. */
  readonly headline: string;
  /** The question of the link's sender; empty after the call was changed. */
  readonly question: string;
  /** The text for screen readers. */
  readonly toHear: string;
  /** The verb above the lines from updates to data. */
  readonly verb: string;
  onSpot(next: Spot | null, isFocus: boolean): void;
  onStep(step: number): void;
  /** Moves the player to the element under the pointer. */
  onScrub(id: TensorId, element: number): void;
}
