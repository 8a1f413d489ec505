/**
 * Crops a call that is larger than the page can show, and preserves its errors. Index tuples out of range come first,
 * followed by tuples that share a target. Coordinates of data that no remaining index names are omitted, so indices are
 * renumbered. All batches that remain keep the same rows of indices.
 */

import type { OperatorVersion, Tensor } from "ndscatter";
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

/** Counts a negative number from the end of an input's axes. */
const fromEnd = (value: number, input: Tensor | undefined): number =>
  value < 0 ? value + (input?.shape.length ?? 0) : value;

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
  const roles = version.inputs.map(roleOf);
  const byRole: Tensors = Object.fromEntries(
    roles.flatMap((role, position) => (tensors[position] ? [[role, tensors[position]]] : [])),
  );
  const { attributes } = state;
  const settingOf = (name: string): string => attributes[name] ?? defaultText(version, name) ?? "";
  const axis = fromEnd(Number(byRole.axis?.data[0] ?? settingOf("axis")), byRole.data);
  const written = Number(settingOf("batch_dims"));
  const batchDims = fromEnd(written, byRole.indices);
  const found = attempt(() => {
    const { data, indices, updates } = byRole;
    if (version.indexForm === "sequences")
      return ofSequences(byRole, axis, settingOf("mode") === "circular");
    if (data === undefined || indices === undefined) return null;
    const layout = layoutOf(version, data.shape, indices.shape, axis, batchDims);
    return layout && partOf({ data, indices, updates, ...layout }, at);
  });
  if (found === null || "error" in found) return null;
  const inputs = roles.map((role, position) => {
    // The axis input is not cropped.
    const { [role]: one } = { axis: byRole.axis, ...found.tensors };
    if (one === undefined) return state.inputs[position] ?? null;
    const text = textOf(one);
    return role === "data" && found.rows !== undefined ? { ...text, rows: found.rows } : text;
  });
  // A negative batch_dims would be wrong in the crop, where all rows of indices form a single axis.
  const settled = written < 0 ? { ...attributes, batch_dims: String(batchDims) } : attributes;
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

/** The maximum number of index tuples without batches, and of rows of indices in each batch. */
const MOST_TUPLES = 24;
const MOST_ROWS = 8;
/** The maximum number of elements along the axis that single elements address. */
const MOST_ALONG = 12;

/** Returns the layout of a call, or null if the call has no crop. */
function layoutOf(
  { indexForm, inputs }: OperatorVersion,
  data: readonly number[],
  shape: readonly number[],
  axis: number,
  batchDims: number,
): Layout | null {
  if (indexForm === "elements") {
    const shared = first(shape.length, shape.length).filter((d) => d !== axis);
    if (axis >= data.length || shared.some((d) => !(shape[d] <= data[d]))) return null;
    const most = [across(shape.length - 1), MOST_ALONG] as const;
    return { grid: shape, k: 1, what: "indices", hasTuples: false, axis, shared, most };
  }
  const hasTuples = indexForm === "tuples";
  const k = hasTuples ? (shape.at(-1) ?? 0) : 1;
  const places = hasTuples ? shape.slice(0, -1) : shape;
  const start = hasTuples ? batchDims : axis;
  const isOther =
    String(data.slice(0, batchDims)) !== String(places.slice(0, batchDims)) ||
    (!hasTuples && inputs.some((one) => roleOf(one) === "updates"));
  if (k === 0 || start < batchDims || start + k > data.length || isOther) return null;
  const what = hasTuples ? "index tuples" : "indices";
  return {
    // All axes behind the batches are joined.
    grid: [...places.slice(0, batchDims), sizeOf(places.slice(batchDims))],
    k,
    what: batchDims === 0 ? what : `${what} in all batches`,
    hasTuples,
    axis: start,
    shared: first(batchDims, batchDims),
    most: [Math.max(2, 5 - batchDims), batchDims === 0 ? MOST_TUPLES : MOST_ROWS],
  };
}

/** A call of any size. Gathers have no updates. */
interface Whole extends Layout {
  readonly data: Tensor;
  readonly indices: Tensor;
  readonly updates: Tensor | undefined;
}

function partOf(whole: Whole, at: readonly number[] | null): Part {
  const { grid, shared, updates, what } = whole;
  const cell = at && (updates === undefined ? readBy(at, whole) : { at, position: -1 });
  const found = censusOf(whole, cell);
  const bad = outOfRange(found.bad, sizeOf(grid), what);
  const targets = `${found.shared.length.toLocaleString("en")} share a target`;
  const counts = `${updates === undefined ? bad : `${bad} and ${targets}`}; these come first.`;
  // Rows and columns with errors or shared targets are chosen first, then the first other rows and columns.
  const order = [found.wanted, found.bad, found.shared].flatMap((list) => list.slice(0, 400));
  for (let [along, most] = whole.most; ; most = Math.floor(most / 2)) {
    const kept =
      grid.length === 1 && shared.length === 0
        ? [chosen(found, most)]
        : gridAround(order, grid, (d) => (shared.includes(d) ? along : most));
    const part = croppedTo(kept, whole, cell?.at ?? []);
    if (most === 1 || part.tensors.data.size <= MOST_ELEMENTS) {
      return { ...part, remarks: [counts, ...part.remarks] };
    }
  }
}

/** A cell to show: its coordinates in data, where they are known, and the tuple that reads it. */
interface Cell {
  readonly at: readonly (number | undefined)[];
  readonly position: number;
}

/** Finds the tuple that reads a cell of the output. The tuple's own coordinates in data depend on its indices. */
function readBy(at: readonly number[], whole: Whole): Cell {
  const { data, indices, grid, k, hasTuples, axis, shared } = whole;
  if (at.length === grid.length && grid.length === data.shape.length) {
    return {
      at: at.map((one, d) => (d === axis ? undefined : one)),
      position: positionOf(at, grid),
    };
  }
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
function censusOf(whole: Whole, cell: Cell | null): Census {
  const { data, indices, updates, grid, k, axis, shared } = whole;
  const isScatter = updates !== undefined;
  const strides = grid.map((_, d) => sizeOf(grid.slice(d + 1)));
  const isAddressed = (d: number): boolean => d >= axis && d < axis + k;
  const axes = data.shape.flatMap((size, d) =>
    shared.includes(d) || isAddressed(d) ? [{ size, d }] : [],
  );
  const wanted = axes.reduce((target, { size, d }) => target * size + (cell?.at[d] ?? 0), 0);
  const targetOf = (position: number): number => {
    let target = 0;
    for (const { size, d } of axes) {
      const index = isAddressed(d)
        ? numberAt(indices, position * k + d - axis)
        : Math.floor(position / strides[d]) % grid[d];
      if (index < -size || index >= size) return -1;
      target = target * size + (index < 0 ? index + size : index);
    }
    return isScatter ? target : position;
  };
  const isWanted = (position: number, target: number): boolean =>
    cell !== null && (isScatter ? target === wanted : position === cell.position);
  return census(sizeOf(grid), targetOf, isWanted);
}

function croppedTo(kept: readonly (readonly number[])[], whole: Whole, at: Cell["at"]) {
  const { data, indices, updates, grid, k, hasTuples, axis, shared } = whole;
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
