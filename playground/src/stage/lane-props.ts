/** Properties of a tensor on the stage: its content, and an input's edits. */

import type { Corner, Lane } from "./layout.ts";
import type { Head, Metrics } from "./metrics.ts";
import type { Cells } from "../cells/cells.ts";
import type { Edits } from "../document/edits.ts";
import type { Spot, TensorId } from "../values/spot.ts";

export interface LaneProps {
  readonly id: TensorId;
  readonly name: string;
  readonly description: string;
  readonly dtype: string;
  readonly lane: Lane;
  readonly metrics: Metrics;
  readonly corner: Corner;
  readonly cells: Cells;
  /** True if tabs stand beside the table, so that its cells need none. */
  readonly hasTabs: boolean;
  /** The header's form. Unless the header is full, a single button opens all edits of the tensor. */
  readonly head: Head;
  /** True if a minimap of the whole tensor is above its table. */
  readonly hasMap: boolean;
  readonly wrongDimensions: ReadonlySet<number>;
  readonly isWrong: boolean;
  /** True if the tensor belongs to the previous call because the current call has an error. */
  readonly isStale: boolean;
  /** A remark next to the output's data type. */
  readonly remark: string;
  readonly edits: Edits | null;
  onSpot(spot: Spot | null, isFocus: boolean): void;
  /** Called when the pointer is dragged to an element. */
  onScrub(id: TensorId, element: number): void;
  /** Scrolls an element into view. */
  onReveal(id: TensorId, element: number): void;
  onCorner(id: TensorId, corner: Corner): void;
  onText(id: number): void;
}
