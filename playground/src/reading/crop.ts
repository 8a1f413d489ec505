/**
 * Crops a call that is larger than the page shows. The part keeps the faults: index tuples out of range first, then
 * tuples that share a target. Rows of data that no index of the part names are left out, so indices are renumbered.
 */

import { gather, roleOf, resolve, tensor, type Role, type Tensor } from "ndscatter";
import { attempt } from "../values/attempt.ts";
import { sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { textOf } from "../values/tensor-text.ts";

/** The most index tuples in a part, and the most elements along each other axis. */
const MOST_TUPLES = 24;
const MOST_ACROSS = 8;
/** Valid tuples beside those with a fault. */
const MOST_RIGHT = 6;
/** The most coordinates of the file in a remark. */
const MOST_NAMED = 12;

export interface Cropped {
  readonly state: State;
  readonly remarks: readonly string[];
}

type Tensors = Partial<Record<Role, Tensor>>;

/**
 * @param tensors by the inputs of the state's version; null for an input that keeps the state's own
 * @returns null for an operator whose parts would have another meaning than the whole
 */
export function cropOf(state: State, tensors: readonly (Tensor | null)[]): Cropped | null {
  const version = resolve(state);
  const byRole: Tensors = {};
  for (const [position, schema] of version.inputs.entries()) {
    const one = tensors[position];
    if (one != null) byRole[roleOf(schema)] = one;
  }
  const { op, attributes } = state;
  if (attributes["batch_dims"] !== undefined) return null;
  const written = byRole.axis === undefined ? attributes["axis"] : String(byRole.axis.data[0]);
  const crop = {
    ScatterND: ofTuples,
    ScatterNDUpdate: ofTuples,
    GatherND: ofTuples,
    ScatterElements: ofElements,
    ScatterElementsUpdate: ofElements,
    Scatter: ofElements,
    GatherElements: ofElements,
    Gather: ofRows,
  }[op];
  if (crop === undefined) return null;
  const found = attempt(() => crop(byRole, Number(written ?? 0)));
  if (found === null || "error" in found) return null;
  const inputs = version.inputs.map((schema, position) => {
    const one = found.tensors[roleOf(schema)];
    return one === undefined ? (state.inputs[position] ?? null) : textOf(one);
  });
  return { state: { ...state, inputs }, remarks: found.remarks };
}

interface Part {
  readonly tensors: Tensors;
  readonly remarks: string[];
}

/** Positions of indices by fault. */
interface Census {
  readonly bad: number[];
  readonly shared: number[];
  readonly rest: number[];
}

/**
 * Sorts positions by fault. `targetOf` gives positions that write the same place the same number; -1 is out of range.
 */
function census(count: number, targetOf: (position: number) => number): Census {
  const hits = new Map<number, number>();
  const targets = new Float64Array(count);
  for (let position = 0; position < count; position++) {
    const target = targetOf(position);
    targets[position] = target;
    if (target >= 0) hits.set(target, (hits.get(target) ?? 0) + 1);
  }
  const found: Census = { bad: [], shared: [], rest: [] };
  for (let position = 0; position < count; position++) {
    const target = targets[position];
    const list = target < 0 ? found.bad : (hits.get(target) ?? 0) > 1 ? found.shared : found.rest;
    list.push(position);
  }
  // Positions of one target stay together, so that the part shows the whole collision.
  found.shared.sort((a, b) => targets[a] - targets[b] || a - b);
  return found;
}

const are = ({ length }: readonly unknown[]): string =>
  length === 1 ? "1 is" : `${length.toLocaleString("en")} are`;

const countsOf = ({ bad, shared }: Census, count: number, what: string): string =>
  `Of ${count.toLocaleString("en")} ${what}, ${are(bad)} out of range and ${shared.length.toLocaleString("en")} share a target; these come first.`;

/**
 * At most `most` positions: faults first, then some valid ones. Positions of one target keep their order, so the last
 * write stays the last.
 */
function chosen({ bad, shared, rest }: Census, most: number): number[] {
  const half = Math.ceil(most / 2);
  const some = [...bad.slice(0, half), ...shared.slice(0, half)].slice(0, most);
  return [
    ...some,
    ...rest.slice(0, some.length === 0 ? most : Math.min(MOST_RIGHT, most - some.length)),
  ];
}

/** An axis of data reduced to the coordinates that indices name. */
class Axis {
  readonly size: number;
  readonly kept: readonly number[];
  readonly places: ReadonlyMap<number, number>;

  constructor(size: number, indices: readonly number[]) {
    this.size = size;
    const named = indices
      .filter((one) => one >= -size && one < size)
      .map((one) => (one < 0 ? one + size : one));
    const kept = [...new Set(named)].toSorted((a, b) => a - b);
    this.kept = kept.length === 0 && size > 0 ? [0] : kept;
    this.places = new Map(this.kept.map((coordinate, place) => [coordinate, place]));
  }

  /**
   * The index in the part. A negative index stays negative, and an index out of range stays out of range by as much, up
   * to 99.
   */
  index(one: number): number {
    const { size, kept, places } = this;
    if (one >= size) return kept.length + Math.min(one - size, 99);
    if (one < -size) return -kept.length - Math.min(-size - one, 99);
    const place = places.get(one < 0 ? one + size : one) ?? 0;
    return one < 0 ? place - kept.length : place;
  }

  remark(axis: number): string[] {
    if (this.kept.length === this.size) return [];
    const names = this.kept.slice(0, MOST_NAMED).map((one) => one.toLocaleString("en"));
    const more = this.kept.length > MOST_NAMED ? ", …" : "";
    return [
      `Along axis ${axis} data has the coordinates ${names.join(", ")}${more} of ${this.size.toLocaleString("en")}.`,
    ];
  }
}

const first = (size: number, most: number): number[] =>
  Array.from({ length: Math.min(size, most) }, (_, one) => one);

/** A tensor reduced to the given coordinates along each axis; null keeps all. */
function taken(source: Tensor, coordinates: readonly (readonly number[] | null)[]): Tensor {
  return coordinates.reduce<Tensor>((part, kept, axis) => {
    if (kept === null || kept.length === part.shape[axis]) return part;
    return gather(part, tensor("int32", [kept.length], [...kept]), { axis });
  }, source);
}

const numberAt = ({ data }: Tensor, position: number): number =>
  Number((data as ArrayLike<number | bigint | string>)[position]);

const indicesOf = (like: Tensor, shape: readonly number[], values: readonly number[]): Tensor =>
  tensor(like.dtype, shape, like.dtype === "int64" ? values.map(BigInt) : [...values]) as Tensor;

const reshaped = (source: Tensor, shape: readonly number[]): Tensor =>
  tensor(source.dtype, shape, source.data as never) as Tensor;

/** Elements per axis in a part that has several such axes. */
const across = (axes: number): number => (axes < 2 ? MOST_ACROSS : axes === 2 ? 6 : 3);

function ofTuples({ data, indices, updates }: Tensors): Part | null {
  if (data === undefined || indices === undefined) return null;
  const k = indices.shape.at(-1) ?? 0;
  const count = sizeOf(indices.shape.slice(0, -1));
  if (k === 0 || k > data.shape.length || count === 0) return null;
  const at = (position: number): number[] =>
    Array.from({ length: k }, (_, c) => numberAt(indices, position * k + c));
  const found = census(count, (position) => {
    let target = 0;
    for (let c = 0; c < k; c++) {
      const size = data.shape[c];
      const index = numberAt(indices, position * k + c);
      if (index < -size || index >= size) return -1;
      target = target * size + (index < 0 ? index + size : index);
    }
    return target;
  });
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
  const slice = data.shape.slice(k);
  const width = across(slice.length);
  const ends = slice.map((size) => first(size, width));
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
    remarks: [countsOf(found, count, "index tuples"), ...axes.flatMap((one, c) => one.remark(c))],
  };
}

function ofRows({ data, indices }: Tensors, written: number): Part | null {
  if (data === undefined || indices === undefined) return null;
  const axis = written < 0 ? written + data.shape.length : written;
  const size = data.shape[axis];
  if (size === undefined) return null;
  const count = sizeOf(indices.shape);
  const found = census(count, (position) => {
    const index = numberAt(indices, position);
    return index < -size || index >= size ? -1 : index < 0 ? index + size : index;
  });
  const kept = chosen(found, MOST_TUPLES);
  const values = kept.map((position) => numberAt(indices, position));
  const own = new Axis(size, values);
  const width = across(data.shape.length - 1);
  return {
    tensors: {
      data: taken(
        data,
        data.shape.map((dim, d) => (d === axis ? own.kept : first(dim, width))),
      ),
      indices: indicesOf(
        indices,
        [kept.length],
        values.map((one) => own.index(one)),
      ),
    },
    remarks: [
      `Of ${count.toLocaleString("en")} indices, ${are(found.bad)} out of range; these come first.`,
      ...own.remark(axis),
    ],
  };
}

function ofElements({ data, indices, updates }: Tensors, written: number): Part | null {
  if (data === undefined || indices === undefined) return null;
  const { shape } = indices;
  const rank = data.shape.length;
  const axis = written < 0 ? written + rank : written;
  const size = data.shape[axis];
  if (size === undefined || shape.length !== rank || sizeOf(shape) === 0) return null;
  const strides = shape.map((_, d) => sizeOf(shape.slice(d + 1)));
  const coordinate = (position: number, d: number): number =>
    Math.floor(position / strides[d]) % shape[d];
  const found = census(sizeOf(shape), (position) => {
    const index = numberAt(indices, position);
    if (index < -size || index >= size) return -1;
    let target = 0;
    for (let d = 0; d < rank; d++) {
      target =
        target * data.shape[d] +
        (d === axis ? (index < 0 ? index + size : index) : coordinate(position, d));
    }
    return target;
  });
  // Rows and columns with faults make a grid, which the first other rows and columns fill.
  const order = [...found.bad.slice(0, 400), ...found.shared.slice(0, 400)];
  const kept = shape.map((dim, d) => {
    const most = d === axis ? 12 : across(rank - 1);
    const wrong = [...new Set(order.map((position) => coordinate(position, d)))].slice(0, most);
    const more = first(dim, most).filter((one) => !wrong.includes(one));
    return [...wrong, ...more].slice(0, most).toSorted((a, b) => a - b);
  });
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
    remarks: [countsOf(found, sizeOf(shape), "indices"), ...own.remark(axis)],
  };
}
