/** Properties of a tensor's lane: its content, and the edits of an input. */

import type { Corner, Lane, TensorId } from "./layout.ts";
import type { Head, Metrics } from "./metrics.ts";
import type { Cells } from "../cells/cells.ts";
import type { Spot } from "../story/vocabulary.ts";

/** A data type in the menu. */
export interface DTypeChoice {
  readonly name: string;
  /** The reason why the type cannot be chosen; null if the type can be chosen. */
  readonly reason: string | null;
}

/** Edits of an input. */
export interface Edits {
  readonly dtypes: readonly DTypeChoice[];
  onDType(dtype: string): void;
  onShape(shape: readonly number[]): void;
  /** Adds an axis at the end. */
  onGrow(): void;
  onValue(element: number, text: string): void;
  /** Replaces the tensor with the given text. Returns an error if the text is not a tensor. */
  onText(text: string): string | null;
  /** Handles a paste: into the cells from `element` on, or into the whole tensor if `element` is null. */
  onPaste(element: number | null, text: string): Promise<void>;
  /** Leaves out an optional input; null for a required input. */
  readonly onLeaveOut: (() => void) | null;
}

/** A matrix of a tensor, identified by the number of its leading coordinates. */
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
  /** The form of the header. Unless the header is full, one button opens all edits of the tensor. */
  readonly head: Head;
  /** True if a minimap of the whole tensor is above its table. */
  readonly hasMap: boolean;
  readonly wrongDimensions: ReadonlySet<number>;
  readonly isWrong: boolean;
  /** True if the tensor belongs to the previous call, because this call has an error. */
  readonly isStale: boolean;
  /** A remark next to the data type of an output. */
  readonly remark: string;
  /** The edits of the tensor; null for an output. */
  readonly edits: Edits | null;
  onSpot(spot: Spot | null, isFocus: boolean): void;
  /** A function that is called when the pointer is dragged to an element. */
  onScrub(id: TensorId, element: number): void;
  /** Brings an element into view. */
  onReveal(id: TensorId, element: number): void;
  onCorner(id: TensorId, corner: Corner): void;
  /** Pins the slice that is at the top of the view. */
  onPin(pin: Pin): void;
  /** Opens the tensor as text. */
  onText(id: number): void;
}
