/** Suggests the most similar known name for an unknown name. */

import { nearestName } from "../../core/foreign.ts";
import { printName } from "./layout.ts";

/** Returns a question that suggests the most similar name, or returns `otherwise` if no name is similar. */
export function didYouMean(name: string, names: Iterable<string>, otherwise: string): string {
  const near = nearestName(name, names);
  return near === null ? otherwise : `did you mean ${printName(near)}?`;
}
