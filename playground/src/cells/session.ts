/** The page as components know it: its state, everything derived from the state, and the functions that change it. */

import type { Explanation, OperatorVersion } from "ndscatter";
import type { Edits } from "../document/edits.ts";
import type { Fix } from "../document/fixes.ts";
import type { Faults } from "../document/faults.ts";
import type { Action, PageState } from "../document/state.ts";
import type { Preset } from "../examples/preset.ts";
import type { Spot, TensorId } from "../values/spot.ts";
import type { State } from "../values/state.ts";
import type { Cells } from "./cells.ts";
import type { InputView } from "./input-view.ts";
import type { Links } from "./links.ts";
import type { CallView, Picture } from "./view.ts";

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

export interface Session extends Omit<PageState, "history"> {
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

  readonly call: CallView;
  readonly explanation: Explanation | null;
  readonly version: OperatorVersion | null;
  readonly faults: Faults;
  readonly fixes: readonly Fix[];
  /** The picture of the last valid call; null after another operator or output shape was chosen since. */
  readonly picture: Picture | null;
  /** The call's output shape; null if the shape is unknown, in which case no output is drawn. */
  readonly outputShape: readonly number[] | null;
  /** True if the picture shows the previous call because the current call has an error. */
  readonly isStale: boolean;
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
