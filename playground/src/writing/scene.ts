/** The visible part of a call, as data for saved pictures. */

import type { Cells } from "../cells/cells.ts";
import type { Corner, Layout } from "../stage/layout.ts";
import type { Wiring } from "../stage/wiring.ts";

export interface SceneLane {
  /** The data type and shape, such as `float32 [4, 3]`. */
  readonly type: string;
  readonly cells: Cells;
  readonly corner: Corner;
}

export interface Scene {
  /** The operator and its attributes, such as `ScatterND-18, reduction = add`. */
  readonly title: string;
  /** The shape rules term by term, and the faults. */
  readonly sentences: readonly string[];
  readonly layout: Layout;
  /** Tensors in the order of the layout. */
  readonly lanes: readonly SceneLane[];
  readonly wiring: Wiring;
  /** The verb above the lines, such as `add`. */
  readonly verb: string;
  /** The output after each animation step; empty for a still picture. */
  readonly frames: readonly Pick<Cells, "values" | "tints" | "hits">[];
}
