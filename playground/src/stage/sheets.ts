/**
 * Folds tensors into tables of rows and columns. Related tables share rows, so that an index tuple is next to its
 * updates.
 */

import type { IndexForm } from "../values/schema.ts";
import { sizeOf } from "../values/shape.ts";

export interface Sheet {
  readonly rows: number;
  readonly columns: number;
  /** The number of rows before each gap; 0 for no gaps. */
  readonly group: number;
  /** A row's height, as a number of rows in the adjacent table. */
  readonly span: number;
}

const sheet = (rows: number, columns: number, group = 0, span = 1): Sheet => ({
  rows,
  columns,
  group: group > 0 && group < rows ? group : 0,
  span,
});

/** Folds a list into a column, and any other tensor into rows along the last axis, with a gap after each matrix. */
export function plainSheet(shape: readonly number[]): Sheet {
  if (shape.length < 2) return sheet(sizeOf(shape), 1);
  const matrix = shape.length > 2 ? (shape.at(-2) ?? 0) : 0;
  return sheet(sizeOf(shape.slice(0, -1)), shape[shape.length - 1], matrix > 1 ? matrix : 0);
}

/** Returns the tables of indices, and of updates or a gather's output. */
function tupleSheets(
  indices: readonly number[],
  carrier: readonly number[],
  counted: number,
): { indices: Sheet; carrier: Sheet } {
  const tuples = sizeOf(indices.slice(0, counted));
  const width = sizeOf(indices.slice(counted));
  const slice = carrier.slice(counted);
  const block = sizeOf(slice.slice(0, -1));
  const columns = slice[slice.length - 1] ?? 1;
  const group = counted > 1 ? indices[counted - 1] : 0;
  const rows = columns === 0 ? 0 : Math.round(sizeOf(carrier) / columns);
  return block > 1
    ? { indices: sheet(tuples, width, 1, block), carrier: sheet(rows, columns, block) }
    : { indices: sheet(tuples, width, group), carrier: sheet(rows, columns, group) };
}

/** Returns each tensor's table, by role. */
export function sheetsOf(
  form: IndexForm | undefined,
  axis: number,
  shapes: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, Sheet> {
  const sheets = new Map<string, Sheet>();
  for (const [role, shape] of shapes) sheets.set(role, plainSheet(shape));
  const indices = shapes.get("indices");
  const carrierRole = shapes.has("updates") ? "updates" : "output";
  const carrier = shapes.get(carrierRole);
  if (indices === undefined) return sheets;
  const counted =
    form === "tuples" ? indices.length - 1 : form === "slices" && axis === 0 ? indices.length : -1;
  if (counted < 0) return sheets;
  const made = tupleSheets(indices, carrier ?? indices.slice(0, counted), counted);
  sheets.set("indices", made.indices);
  if (carrier !== undefined) sheets.set(carrierRole, made.carrier);
  return sheets;
}

/** Checks whether each row of indices is next to its updates or its part of a gather's output. */
export const isAligned = (indices: Sheet | undefined, carrier: Sheet | undefined): boolean =>
  indices !== undefined && carrier !== undefined && indices.rows * indices.span === carrier.rows;
