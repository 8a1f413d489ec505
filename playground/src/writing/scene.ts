/** The stage as data: the visible part of a call, for saved pictures. */

import type { Cells } from "../cells/cells.ts";
import type { Corner, Layout } from "../stage/layout.ts";
import type { Wiring } from "../stage/wiring.ts";

/** A table of the stage. */
export interface SceneLane {
  /** `float32 [4, 3]` */
  readonly type: string;
  readonly cells: Cells;
  readonly corner: Corner;
}

export interface Scene {
  /** `ScatterND-18, reduction = add` */
  readonly title: string;
  /** The shapes term by term, and the faults. */
  readonly sentences: readonly string[];
  readonly layout: Layout;
  /** In the order of the layout's lanes. */
  readonly lanes: readonly SceneLane[];
  readonly wiring: Wiring;
  /** The verb above the lines: `add`. */
  readonly verb: string;
  /** The output after each step for an animation; empty for a still picture. */
  readonly frames: readonly Pick<Cells, "values" | "tints" | "hits">[];
}
