/** The visible part of a call, as data for saved pictures. */

import type { Cells } from "../cells/cells.ts";
import type { Corner, Layout } from "../stage/layout.ts";
import type { Wiring } from "../stage/wiring.ts";
import type { Picture } from "../cells/view.ts";
import { routeOf } from "../story/route.ts";
import { summaryOf } from "../story/summary.ts";

export interface SceneLane {
  /** The data type and shape, such as `float32 [4, 3]`. */
  readonly type: string;
  readonly cells: Cells;
  readonly corner: Corner;
}

export interface Scene {
  /** The operator and its attributes, such as `ScatterND-18, reduction = add`. */
  readonly title: string;
  /** What the call does; for an invalid call, its shape rules and faults. */
  readonly sentences: readonly string[];
  readonly layout: Layout;
  /** Tensors in the order of the layout. */
  readonly lanes: readonly SceneLane[];
  readonly wiring: Wiring;
  /** The verb above the lines, such as `add`. */
  readonly verb: string;
}

/** Returns the sentences of a picture that explains itself: the headline, and where each part goes. */
export function sentencesOf({ explanation, links, state }: Picture): readonly string[] {
  const [headline = ""] = summaryOf(explanation, links.tuples, state.attributes["reduction"]);
  const sentences = [headline.replaceAll("`", ""), routeOf(explanation)];
  return sentences.filter((one) => one !== "");
}
