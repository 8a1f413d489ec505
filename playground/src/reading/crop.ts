/**
 * Crops a call that is larger than the page can show, and preserves its errors. Index tuples out of range come first,
 * followed by tuples that share a target. Coordinates of data that no remaining index names are omitted, so indices are
 * renumbered. All batches that remain keep the same rows of indices.
 */

import type { Tensor } from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import { attempt } from "../values/attempt.ts";
import { MOST_ELEMENTS } from "../values/limits.ts";
import { defaultText } from "../values/schema.ts";
import { positionOf, sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { textOf } from "../values/tensor-text.ts";
import {
  across,
  around,
  Axis,
  census,
  chosen,
  first,
  gridAround,
  indicesOf,
  numberAt,
  outOfRange,
  remarkOn,
  reshaped,
  taken,
  type Census,
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
 * the output that the crop should contain; calls of TensorScatter ignore it. Returns null for an operator
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
  const written = Number(byRole.axis === undefined ? settingOf("axis") : byRole.axis.data[0]);
  const axis = written < 0 ? written + (byRole.data?.shape.length ?? 0) : written;
  const given = Number(settingOf("batch_dims"));
  const batchDims = given < 0 ? given + (byRole.indices?.shape.length ?? 0) : given;
  const found = attempt(() => {
    if (op === "TensorScatter") return ofSequences(byRole, axis, settingOf("mode") === "circular");
    const { data, indices, updates } = byRole;
    if (data === undefined || indices === undefined) return null;
    const batchesOf = ({ shape }: Tensor): string => String(shape.slice(0, batchDims));
    if (batchesOf(data) !== batchesOf(indices)) return null;
    const layout = LAYOUTS[op]?.(indices.shape, axis, batchDims) ?? null;
    return layout === null ? null : partOf({ data, indices, updates, layout }, at);
  });
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

/** How indices address data: a grid of tuples, each of which names a coordinate on `k` axes of data. */
interface Layout {
  readonly grid: readonly number[];
  readonly k: number;
  /** The name of the grid's elements in remarks. */
  readonly what: string;
  /** True if the last axis of indices holds the coordinates of a tuple. */
  readonly hasTuples: boolean;
  /** The first axis of data that tuples address. */
  readonly axis: number;
  /** The axes that data shares with the grid: a tuple reaches data only at its own coordinates on these axes. */
  readonly shared: readonly number[];
  /** The maximum number of coordinates to keep along shared axes, and along other axes of the grid. */
  readonly most: readonly [shared: number, other: number];
}

type LayoutOf = (indices: readonly number[], axis: number, batchDims: number) => Layout | null;

/** Joins all axes behind the batches into one axis. */
function batched(tuples: readonly number[], batchDims: number, what: string) {
  return {
    grid: [...tuples.slice(0, batchDims), sizeOf(tuples.slice(batchDims))],
    shared: first(batchDims, batchDims),
    most: [
      batchDims === 1 ? 4 : batchDims === 2 ? 3 : 2,
      batchDims === 0 ? MOST_TUPLES : MOST_ROWS,
    ],
    what: batchDims === 0 ? what : `${what} in all batches`,
  } as const;
}

/** The maximum number of index tuples without batches, and of rows of indices in each batch. */
const MOST_TUPLES = 24;
const MOST_ROWS = 8;
/** The maximum number of elements along the axis that single elements address. */
const MOST_ALONG = 12;

const ofTuples: LayoutOf = (indices, _, batchDims) => {
  const k = indices.at(-1) ?? 0;
  if (k === 0 || indices.length <= batchDims) return null;
  return {
    ...batched(indices.slice(0, -1), batchDims, "index tuples"),
    k,
    hasTuples: true,
    axis: batchDims,
  };
};

const ofSlices: LayoutOf = (indices, axis, batchDims) =>
  axis < batchDims || indices.length < batchDims
    ? null
    : { ...batched(indices, batchDims, "indices"), k: 1, hasTuples: false, axis };

const ofElements: LayoutOf = (indices, axis) => ({
  grid: indices,
  k: 1,
  what: "indices",
  hasTuples: false,
  axis,
  shared: indices.flatMap((_, d) => (d === axis ? [] : [d])),
  most: [across(indices.length - 1), MOST_ALONG],
});

const LAYOUTS: Readonly<Record<string, LayoutOf | undefined>> = {
  ScatterND: ofTuples,
  ScatterNDUpdate: ofTuples,
  GatherND: ofTuples,
  ScatterElements: ofElements,
  ScatterElementsUpdate: ofElements,
  Scatter: ofElements,
  GatherElements: ofElements,
  Gather: ofSlices,
};

/** A call of any size. Gathers have no updates. */
interface Whole {
  readonly data: Tensor;
  readonly indices: Tensor;
  readonly updates: Tensor | undefined;
  readonly layout: Layout;
}

function partOf(whole: Whole, at: readonly number[] | null): Part | null {
  const { data, updates, layout } = whole;
  const { grid, k, axis, shared } = layout;
  const isLike = shared.every((d) => grid[d] <= data.shape[d]);
  if (!isLike || axis + k > data.shape.length) return null;
  const cell = at && (updates === undefined ? readBy(at, whole) : { at, position: -1 });
  const found = censusOf(whole, cell);
  for (let [along, most] = layout.most; ; most = Math.floor(most / 2)) {
    const part = croppedTo(keptOf(found, grid, shared, [along, most]), whole, cell?.at ?? []);
    if (most === 1 || part.tensors.data.size <= MOST_ELEMENTS) {
      return { ...part, remarks: [countsOf(found, whole), ...part.remarks] };
    }
  }
}

/** A cell to show: its coordinates in data, where they are known, and the tuple that reads it. */
interface Cell {
  readonly at: readonly (number | undefined)[];
  readonly position: number;
}

/** Finds the tuple that reads a cell of the output. The tuple's own coordinates in data depend on its indices. */
function readBy(at: readonly number[], { data, indices, layout }: Whole): Cell {
  const { grid, k, hasTuples, axis, shared } = layout;
  const isLike = at.length === grid.length && grid.length === data.shape.length;
  if (isLike)
    return {
      at: at.map((one, d) => (d === axis ? undefined : one)),
      position: positionOf(at, grid),
    };
  const batches = shared.length;
  const own = indices.shape.slice(batches, hasTuples ? -1 : undefined);
  const position = positionOf(at.slice(axis, axis + own.length), own);
  return {
    position: positionOf([...at.slice(0, batches), position], grid),
    at: data.shape.map((_, d) =>
      d < axis ? at[d] : d < axis + k ? undefined : at[d - k + own.length],
    ),
  };
}

/** Groups the tuples. Several reads of one element are valid, so only scatters have shared targets. */
function censusOf({ data, indices, updates, layout }: Whole, cell: Cell | null): Census {
  const { grid, k, axis, shared } = layout;
  const isScatter = updates !== undefined;
  const strides = grid.map((_, d) => sizeOf(grid.slice(d + 1)));
  const axes = data.shape.flatMap((size, d) =>
    shared.includes(d) || (d >= axis && d < axis + k) ? [{ size, d }] : [],
  );
  const wanted = axes.reduce((target, { size, d }) => target * size + (cell?.at[d] ?? 0), 0);
  const targetOf = (position: number): number => {
    let target = 0;
    for (const { size, d } of axes) {
      const isAddressed = d >= axis && d < axis + k;
      const index = isAddressed
        ? numberAt(indices, position * k + d - axis)
        : Math.floor(position / strides[d]) % grid[d];
      if (index < -size || index >= size) return -1;
      target = target * size + (index < 0 ? index + size : index);
    }
    return isScatter ? target : position;
  };
  return census(
    sizeOf(grid),
    targetOf,
    (position, target) =>
      cell !== null && (isScatter ? target === wanted : position === cell.position),
  );
}

/** Returns the coordinates to keep along each axis of the grid. */
function keptOf(
  found: Census,
  grid: readonly number[],
  shared: readonly number[],
  [along, most]: Layout["most"],
): readonly (readonly number[])[] {
  if (grid.length === 1 && shared.length === 0) return [chosen(found, most)];
  // Rows and columns with errors or shared targets are chosen first, then the first other rows and columns.
  const order = [found.wanted, found.bad, found.shared].flatMap((list) => list.slice(0, 400));
  return gridAround(order, grid, (d) => (shared.includes(d) ? along : most));
}

function croppedTo(
  kept: readonly (readonly number[])[],
  { data, indices, updates, layout }: Whole,
  at: Cell["at"],
) {
  const { grid, k, hasTuples, axis, shared } = layout;
  const part = taken(reshaped(indices, [...grid, k]), [...kept, null]);
  const values = first(part.size, part.size).map((position) => numberAt(part, position));
  const axes = first(k, k).map(
    (c) =>
      new Axis(
        data.shape[axis + c],
        values.filter((_, position) => position % k === c),
      ),
  );
  const named = data.shape.map((_, d) => (shared.includes(d) ? kept[d] : axes[d - axis]?.kept));
  const width = across(named.filter((one) => one === undefined).length);
  const coordinates = named.map((one, d) => one ?? around(data.shape[d], width, at[d]));
  const slice = coordinates.filter((_, d) => named[d] === undefined);
  const lengths = kept.map(({ length }) => length);
  const behind = updates?.shape.slice(indices.shape.length - (hasTuples ? 1 : 0)) ?? [];
  return {
    tensors: {
      data: taken(data, coordinates),
      indices: indicesOf(
        indices,
        hasTuples ? [...lengths, k] : lengths,
        values.map((one, position) => axes[position % k].index(one)),
      ),
      ...(updates && {
        updates: taken(reshaped(updates, [...grid, ...behind]), [...kept, ...slice]),
      }),
    },
    rows: named[0],
    remarks: named.flatMap((one, d) =>
      one === undefined ? [] : remarkOn("data", d, one, data.shape[d]),
    ),
  };
}

function countsOf(found: Census, { updates, layout: { grid, what } }: Whole): string {
  const targets = `${found.shared.length.toLocaleString("en")} share a target`;
  const bad = outOfRange(found.bad, sizeOf(grid), what);
  return `${updates === undefined ? bad : `${bad} and ${targets}`}; these come first.`;
}
