/** The meaning of grey in a picture: an index without one target, or a target without a colour of its own. */

import { HUES, PLAIN } from "../cells/targets.ts";
import type { Picture } from "../cells/view.ts";

/** A sentence; null for a picture without grey cells. */
export function greyIn({ links, targets }: Pick<Picture, "links" | "targets">): string | null {
  const { kind, reached, tuples } = links;
  const isGather = kind === "gather";
  if (reached.size > HUES) {
    const isColoured = [...reached.keys()].some((slice) => targets.hueOf(slice) !== PLAIN);
    if (!isColoured) return `Grey cells are targets, too many for a colour each.`;
    return isGather
      ? "Colours mark what is read more than once; grey is read once."
      : "Colours mark targets of several updates; grey ones have one.";
  }
  const isGrey = tuples.some((_, tuple) => targets.hueOf(targets.ofTuple[tuple]) === PLAIN);
  if (!isGrey) return null;
  return tuples.some(({ places }) => places === null)
    ? "A grey index has no target."
    : "A grey index has several targets.";
}
