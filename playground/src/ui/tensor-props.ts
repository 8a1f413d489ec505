/** What the card of a tensor gets: what it shows, and what can be done to an input. */

import type { Tuple } from "../model/links.ts";
import type { Cells } from "./grid.tsx";
import type { Spot, TensorId } from "./vocabulary.ts";

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
  /** Adds an axis at the end: of the length that was cut off, else 1. */
  onGrow(): void;
  onValue(element: number, text: string): void;
  /** Takes the text of a whole tensor; the error, where it is none. */
  onText(text: string): string | null;
  /** Takes a paste: from a cell on, or in place of the tensor where no cell has the focus. */
  onPaste(element: number | null, text: string): Promise<void>;
  /** The error of such a text, without taking it. */
  errorOf(text: string): string | null;
  /** Leaves an optional input out; null where the input must be given. */
  readonly onLeaveOut: (() => void) | null;
}

export interface TensorCardProps {
  readonly id: TensorId;
  readonly name: string;
  readonly description: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly cells: Cells;
  readonly tuples: readonly Tuple[];
  /** Sentences about the tensor as a whole, its dimensions or its elements. */
  readonly faults: readonly string[];
  readonly wrongDimensions: ReadonlySet<number>;
  /** Whether the tensor is of a call before, because this one has an error. */
  readonly isStale: boolean;
  /** Null for an output. */
  readonly edits: Edits | null;
  onSpot(spot: Spot | null, isFocus: boolean): void;
}
