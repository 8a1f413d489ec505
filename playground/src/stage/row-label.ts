/** Labels the rows of a table. */

import type { Lane } from "./layout.ts";
import { coordinatesOf } from "../values/shape.ts";

/** Returns a row's coordinates, and the row's number in the larger tensor of which this is a part. */
export function rowLabel(lane: Lane, row: number): string {
  const { shape, rowNumbers } = lane;
  const label = coordinatesLabel(lane, row);
  const number = rowNumbers?.[Number(label.split(",")[0])];
  return label === "" || number === undefined || shape.length === 0
    ? label
    : `${label}=${number.toLocaleString("en")}`;
}

/** Returns a row's coordinates; a list has one row per element. */
function coordinatesLabel({ shape, sheet }: Lane, row: number): string {
  if (shape.length === 1) return sheet.columns === 1 ? String(row) : "";
  // The condition is true if indices is shown as a column in which each element is a tuple.
  const isFlat = sheet.columns === 1 && shape[shape.length - 1] !== 1;
  return coordinatesOf(row, isFlat ? shape : shape.slice(0, -1)).join(",");
}
