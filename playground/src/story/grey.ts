/** Explains grey cells: an index without a single target, or a target without its own colour. */

import { HUES, PLAIN } from "../cells/targets.ts";
import type { Picture } from "../cells/view.ts";

/** Returns a sentence that explains a picture's grey cells, or null if no cell is grey. */
export function greyIn({ links, targets }: Pick<Picture, "links" | "targets">): string | null {
  const { kind, reached, tuples } = links;
  const isGather = kind === "gather";
  if (reached.size > HUES) {
    const isColoured = [...reached.keys()].some((slice) => targets.hueOf(slice) !== PLAIN);
    if (!isColoured) return `Grey cells are targets; there are more targets than colours.`;
    return isGather
      ? "Coloured cells are read more than once; grey cells are read once."
      : "Coloured targets receive several updates; grey targets receive one.";
  }
  const isGrey = tuples.some((_, tuple) => targets.hueOf(targets.ofTuple[tuple]) === PLAIN);
  if (!isGrey) return null;
  return tuples.some(({ places }) => places === null)
    ? "A grey index has no target."
    : "A grey index has several targets.";
}
