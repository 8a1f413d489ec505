/** What the lane of a tensor gets: what it shows, and what can be done to an input. */

import type { Corner, Lane, TensorId } from "./layout.ts";
import type { Metrics } from "./metrics.ts";
import type { Cells } from "../cells/cells.ts";
import type { Spot } from "../story/vocabulary.ts";

/** A data type of the menu. */
export interface DTypeChoice {
  readonly name: string;
  /** Why it cannot be chosen; null where it can. */
  readonly reason: string | null;
}

/** What can be done to an input. */
export interface Edits {
  readonly dtypes: readonly DTypeChoice[];
  onDType(dtype: string): void;
  onShape(shape: readonly number[]): void;
  /** Adds an axis at the end. */
  onGrow(): void;
  onValue(element: number, text: string): void;
  /** Takes the text of a whole tensor; the error, where it is none. */
  onText(text: string): string | null;
  /** Takes a paste: from an element on, or in place of the tensor where no element has the focus. */
  onPaste(element: number | null, text: string): Promise<void>;
  /** Leaves an optional input out; null where the input must be given. */
  readonly onLeaveOut: (() => void) | null;
}

/** A matrix of a tensor: the number of its leading coordinates. */
export interface Pin {
  readonly id: TensorId;
  readonly matrix: number;
}

export interface LaneProps {
  readonly id: TensorId;
  readonly name: string;
  readonly description: string;
  readonly dtype: string;
  readonly lane: Lane;
  readonly metrics: Metrics;
  readonly corner: Corner;
  readonly cells: Cells;
  /** Whether all that can be changed of the tensor is behind one button. */
  readonly isShort: boolean;
  /** Whether a picture of the whole tensor stands above its table. */
  readonly hasMap: boolean;
  readonly wrongDimensions: ReadonlySet<number>;
  readonly isWrong: boolean;
  /** Whether the tensor is of a call before, because this one has an error. */
  readonly isStale: boolean;
  /** What stands beside the data type of an output. */
  readonly remark: string;
  /** Null for an output. */
  readonly edits: Edits | null;
  onSpot(spot: Spot | null, isFocus: boolean): void;
  /** The pointer is dragged to an element. */
  onScrub(id: TensorId, element: number): void;
  /** Brings an element into view. */
  onReveal(id: TensorId, element: number): void;
  onCorner(id: TensorId, corner: Corner): void;
  /** Pins the slice that is at the top of the view. */
  onPin(pin: Pin): void;
  /** Opens the tensor as text. */
  onText(id: number): void;
}
