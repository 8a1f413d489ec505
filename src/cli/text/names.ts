/** Suggests the name that was probably meant instead of an unknown one. */

import { nearestName } from "../../core/tensor/nearest.ts";
import { printName } from "./layout.ts";

/** Returns a question that offers the nearest name, or `otherwise` if no name is near. */
export function didYouMean(name: string, names: Iterable<string>, otherwise: string): string {
  const near = nearestName(name, names);
  return near === null ? otherwise : `did you mean ${printName(near)}?`;
}
