/**
 * Reduces gathers with batch dimensions to a few batches. All remaining batches keep the same rows of indices, so that
 * the cropped call has the same form as the whole call. Batches and rows with an index out of range come first.
 */

import type { Tensor } from "ndscatter";
import { sizeOf } from "../values/shape.ts";
import {
  across,
  outOfRange,
  Axis,
  census,
  first,
  gridAround,
  indicesOf,
  numberAt,
  remarkOn,
  reshaped,
  taken,
  type Part,
  type Tensors,
} from "./crop-parts.ts";
import { MOST_ELEMENTS } from "../values/limits.ts";

/** The maximum number of rows of indices per batch, reduced if data would become too large for the page. */
const MOST_ROWS = 8;
/** Returns the maximum number of batches along each batch axis. */
const mostBatches = (axes: number): number => (axes === 1 ? 4 : axes === 2 ? 3 : 2);

/** Crops a GatherND call with batch dimensions. */
export function ofBatchedTuples({ data, indices }: Tensors, batchDims: number): Part | null {
  const k = indices?.shape.at(-1) ?? 0;
  if (data === undefined || indices === undefined || k === 0) return null;
  if (indices.shape.length <= batchDims) return null;
  const found = cropped(data, indices, batchDims, { axis: batchDims, k });
  if (found === null) return null;
  const { kept, remarks, values } = found;
  const shape = [...kept.map(({ length }) => length), k];
  return { tensors: { data: found.data, indices: indicesOf(indices, shape, values) }, remarks };
}

/** Crops OpenVINO's Gather with batch dimensions. */
export function ofBatchedRows(
  { data, indices }: Tensors,
  written: number,
  batchDims: number,
): Part | null {
  if (data === undefined || indices === undefined) return null;
  const axis = written < 0 ? written + data.shape.length : written;
  if (axis < batchDims) return null;
  const found = cropped(data, indices, batchDims, { axis, k: 1 });
  if (found === null) return null;
  const { kept, remarks, values } = found;
  const shape = kept.map(({ length }) => length);
  return { tensors: { data: found.data, indices: indicesOf(indices, shape, values) }, remarks };
}

/** The axes of data that tuples with `k` coordinates address. */
interface Addressed {
  readonly axis: number;
  readonly k: number;
}

interface BatchedPart {
  readonly data: Tensor;
  /** The remaining coordinates along each batch axis, followed by the remaining rows of indices. */
  readonly kept: readonly (readonly number[])[];
  readonly values: readonly number[];
  readonly remarks: string[];
}

function cropped(
  data: Tensor,
  indices: Tensor,
  batchDims: number,
  addressed: Addressed,
): BatchedPart | null {
  for (let rows = MOST_ROWS; ; rows = Math.floor(rows / 2)) {
    const part = croppedTo(rows, data, indices, batchDims, addressed);
    if (part === null || rows === 1 || part.data.size <= MOST_ELEMENTS) return part;
  }
}

function croppedTo(
  mostRows: number,
  data: Tensor,
  indices: Tensor,
  batchDims: number,
  { axis, k }: Addressed,
): BatchedPart | null {
  const batches = data.shape.slice(0, batchDims);
  const own = indices.shape.slice(0, batchDims);
  const sizes = data.shape.slice(axis, axis + k);
  const count = indices.size / k;
  if (String(own) !== String(batches) || sizes.length < k || count === 0) return null;
  const shape = [...batches, count / sizeOf(batches)];
  const isIn = (index: number, c: number): boolean => index >= -sizes[c] && index < sizes[c];
  const found = census(count, (position) =>
    sizes.every((_, c) => isIn(numberAt(indices, position * k + c), c)) ? position : -1,
  );
  const kept = gridAround(found.bad.slice(0, 400), shape, (d) =>
    d === batchDims ? mostRows : mostBatches(batchDims),
  );
  const part = taken(reshaped(indices, [...shape, k]), [...kept, null]);
  const values = Array.from({ length: part.size }, (_, position) => numberAt(part, position));
  const axes = sizes.map(
    (size, c) =>
      new Axis(
        size,
        values.filter((_, at) => at % k === c),
      ),
  );
  const width = across(data.shape.length - batchDims - k);
  const coordinates = data.shape.map((dim, d) => {
    if (d < batchDims) return kept[d];
    return axes[d - axis]?.kept ?? first(dim, width);
  });
  return {
    data: taken(data, coordinates),
    kept,
    values: values.map((one, at) => axes[at % k].index(one)),
    remarks: [
      `${outOfRange(found.bad, count, `${k === 1 ? "indices" : "index tuples"} in all batches`)}; these come first.`,
      ...batches.flatMap((size, d) => remarkOn("data", d, kept[d], size)),
      ...axes.flatMap((one, c) => one.remark(axis + c)),
    ],
  };
}
