/**
 * Crops a call that is larger than the page can show, and preserves its errors. Index tuples out of range come first,
 * followed by tuples that share a target. Rows of data that no remaining index names are omitted, so indices are
 * renumbered.
 */

import type { Tensor } from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import { attempt } from "../values/attempt.ts";
import { defaultText } from "../values/schema.ts";
import { positionOf, sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { textOf } from "../values/tensor-text.ts";
import { ofBatchedRows, ofBatchedTuples } from "./crop-batches.ts";
import {
  across,
  around,
  outOfRange,
  Axis,
  census,
  chosen,
  countsOf,
  gridAround,
  indicesOf,
  MOST_TUPLES,
  numberAt,
  reshaped,
  taken,
  type Part,
  type Tensors,
} from "./crop-parts.ts";
import { ofSequences } from "./crop-sequences.ts";

export interface Cropped {
  readonly state: State;
  readonly remarks: readonly string[];
}

/**
 * `tensors` are in the order of the version's inputs; an input keeps its tensor if the entry is null. `at` is a cell of
 * the output that the crop should contain; calls with batches and sequences ignore it. Returns null for an operator
 * whose crop would have a different meaning than the whole call.
 */
export function cropOf(
  state: State,
  tensors: readonly (Tensor | null)[],
  at: readonly number[] | null = null,
): Cropped | null {
  const version = resolve(state);
  const byRole: Tensors = {};
  for (const [position, schema] of version.inputs.entries()) {
    const one = tensors[position];
    if (one != null) byRole[roleOf(schema)] = one;
  }
  const { op, attributes } = state;
  const settingOf = (name: string): string => attributes[name] ?? defaultText(version, name) ?? "";
  const axis = Number(byRole.axis === undefined ? settingOf("axis") : byRole.axis.data[0]);
  const given = Number(settingOf("batch_dims"));
  const batchDims = given < 0 ? given + (byRole.indices?.shape.length ?? 0) : given;
  const crop = {
    ScatterND: () => ofTuples(byRole, at),
    ScatterNDUpdate: () => ofTuples(byRole, at),
    GatherND: () => (batchDims === 0 ? ofTuples(byRole, at) : ofBatchedTuples(byRole, batchDims)),
    ScatterElements: () => ofElements(byRole, axis, at),
    ScatterElementsUpdate: () => ofElements(byRole, axis, at),
    Scatter: () => ofElements(byRole, axis, at),
    GatherElements: () => ofElements(byRole, axis, at),
    Gather: () =>
      batchDims === 0 ? ofRows(byRole, axis, at) : ofBatchedRows(byRole, axis, batchDims),
    TensorScatter: () => ofSequences(byRole, axis, settingOf("mode") === "circular"),
  }[op];
  if (crop === undefined) return null;
  const found = attempt(crop);
  if (found === null || "error" in found) return null;
  const inputs = version.inputs.map((schema, position) => {
    // The axis input is not cropped.
    const { [roleOf(schema)]: one } = { axis: byRole.axis, ...found.tensors };
    if (one === undefined) return state.inputs[position] ?? null;
    return roleOf(schema) === "data" && found.rows !== undefined
      ? { ...textOf(one), rows: found.rows }
      : textOf(one);
  });
  // A negative batch_dims would be wrong in the crop, where all rows of indices form a single axis.
  const settled = given < 0 ? { ...attributes, batch_dims: String(batchDims) } : attributes;
  return { state: { ...state, attributes: settled, inputs }, remarks: found.remarks };
}

/** A cell of the output that the crop should contain, or null. */
type At = readonly number[] | null;

function ofTuples({ data, indices, updates }: Tensors, cell: At): Part | null {
  if (data === undefined || indices === undefined) return null;
  const k = indices.shape.at(-1) ?? 0;
  const count = sizeOf(indices.shape.slice(0, -1));
  if (k === 0 || k > data.shape.length || count === 0) return null;
  const at = (position: number): number[] =>
    Array.from({ length: k }, (_, c) => numberAt(indices, position * k + c));
  const slice = data.shape.slice(k);
  const lead = cell?.slice(0, cell.length - slice.length);
  const wanted =
    lead && positionOf(lead, updates === undefined ? indices.shape.slice(0, -1) : data.shape);
  const found = census(
    count,
    (position) => {
      let target = 0;
      for (let c = 0; c < k; c++) {
        const size = data.shape[c];
        const index = numberAt(indices, position * k + c);
        if (index < -size || index >= size) return -1;
        target = target * size + (index < 0 ? index + size : index);
      }
      return target;
    },
    (position, target) => (updates === undefined ? position : target) === wanted,
  );
  const kept = chosen(found, MOST_TUPLES);
  const tuples = kept.map(at);
  const axes = Array.from(
    { length: k },
    (_, c) =>
      new Axis(
        data.shape[c],
        tuples.map((one) => one[c]),
      ),
  );
  const width = across(slice.length);
  const ends = slice.map((size, d) => around(size, width, cell?.[(lead?.length ?? 0) + d]));
  const batch =
    updates === undefined
      ? null
      : reshaped(updates, [count, ...updates.shape.slice(indices.shape.length - 1)]);
  return {
    tensors: {
      data: taken(data, [...axes.map((one) => one.kept), ...ends]),
      indices: indicesOf(
        indices,
        [kept.length, k],
        tuples.flatMap((one) => one.map((index, c) => axes[c].index(index))),
      ),
      ...(batch === null ? {} : { updates: taken(batch, [kept, ...ends]) }),
    },
    rows: axes[0].kept,
    remarks: [countsOf(found, count, "index tuples"), ...axes.flatMap((one, c) => one.remark(c))],
  };
}

function ofRows({ data, indices }: Tensors, written: number, cell: At): Part | null {
  if (data === undefined || indices === undefined) return null;
  const axis = written < 0 ? written + data.shape.length : written;
  const size = data.shape[axis];
  if (size === undefined) return null;
  const count = sizeOf(indices.shape);
  const rank = indices.shape.length;
  const wanted = cell && positionOf(cell.slice(axis, axis + rank), indices.shape);
  const found = census(
    count,
    (position) => {
      const index = numberAt(indices, position);
      return index < -size || index >= size ? -1 : index < 0 ? index + size : index;
    },
    (position) => position === wanted,
  );
  const kept = chosen(found, MOST_TUPLES);
  const values = kept.map((position) => numberAt(indices, position));
  const own = new Axis(size, values);
  const width = across(data.shape.length - 1);
  return {
    tensors: {
      data: taken(
        data,
        data.shape.map((dim, d) =>
          d === axis ? own.kept : around(dim, width, cell?.[d < axis ? d : d - 1 + rank]),
        ),
      ),
      indices: indicesOf(
        indices,
        [kept.length],
        values.map((one) => own.index(one)),
      ),
    },
    rows: axis === 0 ? own.kept : undefined,
    remarks: [`${outOfRange(found.bad, count, "indices")}; these come first.`, ...own.remark(axis)],
  };
}

function ofElements({ data, indices, updates }: Tensors, written: number, cell: At): Part | null {
  if (data === undefined || indices === undefined) return null;
  const { shape } = indices;
  const rank = data.shape.length;
  const axis = written < 0 ? written + rank : written;
  const size = data.shape[axis];
  if (size === undefined || shape.length !== rank || sizeOf(shape) === 0) return null;
  const strides = shape.map((_, d) => sizeOf(shape.slice(d + 1)));
  const coordinate = (position: number, d: number): number =>
    Math.floor(position / strides[d]) % shape[d];
  const wanted = cell && positionOf(cell, updates === undefined ? shape : data.shape);
  const found = census(
    sizeOf(shape),
    (position) => {
      const index = numberAt(indices, position);
      if (index < -size || index >= size) return -1;
      let target = 0;
      for (let d = 0; d < rank; d++) {
        target =
          target * data.shape[d] +
          (d === axis ? (index < 0 ? index + size : index) : coordinate(position, d));
      }
      return target;
    },
    (position, target) => (updates === undefined ? position : target) === wanted,
  );
  // Rows and columns with errors or shared targets are chosen first, then the first other rows and columns.
  const order = [found.wanted, found.bad, found.shared].flatMap((list) => list.slice(0, 400));
  const kept = gridAround(order, shape, (d) => (d === axis ? 12 : across(rank - 1)));
  const part = taken(indices, kept);
  const values = Array.from({ length: sizeOf(part.shape) }, (_, position) =>
    numberAt(part, position),
  );
  const own = new Axis(size, values);
  return {
    tensors: {
      data: taken(
        data,
        kept.map((one, d) => (d === axis ? own.kept : one)),
      ),
      indices: indicesOf(
        indices,
        part.shape,
        values.map((one) => own.index(one)),
      ),
      ...(updates === undefined ? {} : { updates: taken(updates, kept) }),
    },
    rows: axis === 0 ? own.kept : kept[0],
    remarks: [countsOf(found, sizeOf(shape), "indices"), ...own.remark(axis)],
  };
}
