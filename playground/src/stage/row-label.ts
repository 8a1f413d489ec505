/** Labels the rows of a table. */

import type { Lane } from "./layout.ts";
import { coordinatesOf } from "../values/shape.ts";

/** Returns a row's coordinates; a list has one row per element. */
export function rowLabel({ shape, sheet }: Lane, row: number): string {
  if (shape.length === 1) return sheet.columns === 1 ? String(row) : "";
  // The condition is true if indices is shown as a column in which each element is a tuple.
  const isFlat = sheet.columns === 1 && shape[shape.length - 1] !== 1;
  return coordinatesOf(row, isFlat ? shape : shape.slice(0, -1)).join(",");
}
