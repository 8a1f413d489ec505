/** Steps shared by all crops: selecting errors first, reducing axes, and describing the result. */

import { gather, tensor, type Role, type Tensor } from "ndscatter";
import { sizeOf } from "../values/shape.ts";

/** The maximum length of an axis that is copied whole. */
const MOST_ACROSS = 8;
/** The maximum number of valid tuples to add to the invalid tuples. */
const MOST_RIGHT = 6;
/** The maximum number of coordinates in a remark. */
const MOST_NAMED = 12;

export type Tensors = Partial<Record<Role, Tensor>>;

export interface Part {
  readonly tensors: Tensors;
  /** The rows of data that remain. */
  readonly rows?: readonly number[] | undefined;
  readonly remarks: string[];
}

/** Positions in indices, grouped by error. */
export interface Census {
  /** The positions of a cell that the crop must show. They are also in one of the other groups. */
  readonly wanted: number[];
  readonly bad: number[];
  readonly shared: number[];
  readonly rest: number[];
}

/**
 * Groups positions by error. The callback `targetOf` returns equal numbers for positions with the same target, and -1
 * for a position out of range. `isWanted` selects the positions that the crop must show.
 */
export function census(
  count: number,
  targetOf: (position: number) => number,
  isWanted: (position: number, target: number) => boolean = () => false,
): Census {
  const hits = new Map<number, number>();
  const targets = new Float64Array(count);
  for (let position = 0; position < count; position++) {
    const target = targetOf(position);
    targets[position] = target;
    if (target >= 0) hits.set(target, (hits.get(target) ?? 0) + 1);
  }
  const found: Census = { wanted: [], bad: [], shared: [], rest: [] };
  for (let position = 0; position < count; position++) {
    const target = targets[position];
    const list = target < 0 ? found.bad : (hits.get(target) ?? 0) > 1 ? found.shared : found.rest;
    list.push(position);
    if (isWanted(position, target)) found.wanted.push(position);
  }
  // Positions with the same target stay together, so that the crop shows all of them.
  found.shared.sort((a, b) => targets[a] - targets[b] || a - b);
  return found;
}

/** Returns a clause about elements out of range, such as `3 of 64 samples are out of range`. */
export const outOfRange = (
  { length: bad }: readonly unknown[],
  count: number,
  what: string,
): string =>
  `${bad.toLocaleString("en")} of ${count.toLocaleString("en")} ${what} ${bad === 1 ? "is" : "are"} out of range`;

/**
 * Returns at most `most` positions: wanted ones and errors first, followed by valid positions. Positions with the same
 * target keep their order, so the last write stays last.
 */
export function chosen({ wanted, bad, shared, rest }: Census, most: number): number[] {
  const half = Math.ceil(most / 2);
  const firsts = [wanted, bad, shared].flatMap((list) => list.slice(0, half));
  const some = [...new Set(firsts)].slice(0, most);
  const right = some.length === 0 ? most : Math.min(MOST_RIGHT, most - some.length);
  return [...new Set([...some, ...rest.slice(0, right)])];
}

/**
 * Returns an index out of range for an axis, after the axis was reduced to `kept` elements: it remains out of range by
 * the same distance, up to 99. Returns null for a valid index.
 */
export function outsideOf(index: number, size: number, kept: number): number | null {
  if (index >= size) return kept + Math.min(index - size, 99);
  return index < -size ? -kept - Math.min(-size - index, 99) : null;
}

/** An axis of data, reduced to the coordinates that indices name. */
export class Axis {
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

  /** Returns the index's number in the crop. A negative index stays negative, and an invalid index stays invalid. */
  index(one: number): number {
    const { size, kept, places } = this;
    const place = places.get(one < 0 ? one + size : one) ?? 0;
    return outsideOf(one, size, kept.length) ?? (one < 0 ? place - kept.length : place);
  }
}

/** Describes which coordinates of a tensor the crop keeps; nothing if the crop keeps all coordinates. */
export function remarkOn(
  name: string,
  axis: number,
  kept: readonly number[],
  size: number,
): string[] {
  if (kept.length === size) return [];
  const names = kept.slice(0, MOST_NAMED).map((one) => one.toLocaleString("en"));
  const more = kept.length > MOST_NAMED ? ", …" : "";
  return [
    `${name} keeps the coordinates ${names.join(", ")}${more} of ${size.toLocaleString("en")} along axis ${axis}.`,
  ];
}

export const first = (size: number, most: number): number[] =>
  Array.from({ length: Math.min(size, most) }, (_, one) => one);

/** Returns the first coordinates along an axis. The last of them gives way to `wanted`, if that is another one. */
export const around = (size: number, most: number, wanted = 0): number[] => {
  const kept = first(size, most);
  return size === 0 || kept.includes(wanted) ? kept : [...kept.slice(0, -1), wanted];
};

/** Reduces a tensor to the given coordinates along each axis, in their order; null keeps all coordinates. */
export function taken(source: Tensor, coordinates: readonly (readonly number[] | null)[]): Tensor {
  return coordinates.reduce<Tensor>((part, kept, axis) => {
    const isWhole = kept?.length === part.shape[axis] && kept.every((one, at) => one === at);
    if (kept === null || isWhole) return part;
    return gather(part, tensor("int32", [kept.length], [...kept]), { axis });
  }, source);
}

export const numberAt = ({ data }: Tensor, position: number): number =>
  Number((data as ArrayLike<number | bigint | string>)[position]);

export const indicesOf = (
  like: Tensor,
  shape: readonly number[],
  values: readonly number[],
): Tensor =>
  tensor(like.dtype, shape, like.dtype === "int64" ? values.map(BigInt) : [...values]) as Tensor;

export const reshaped = (source: Tensor, shape: readonly number[]): Tensor =>
  tensor(source.dtype, shape, source.data as never) as Tensor;

/** Returns the number of elements to keep along each axis. */
export const across = (axes: number): number => (axes < 2 ? MOST_ACROSS : axes === 2 ? 6 : 3);

/**
 * Returns the coordinates to keep along each axis: the coordinates of the given positions, followed by other
 * coordinates in order. `order` holds positions in a grid of `shape`, most important first. `mostAlong` limits the
 * number of coordinates along one axis.
 */
export function gridAround(
  order: readonly number[],
  shape: readonly number[],
  mostAlong: (axis: number) => number,
): number[][] {
  return shape.map((dim, d) => {
    const most = mostAlong(d);
    const stride = sizeOf(shape.slice(d + 1));
    const named = order.map((position) => Math.floor(position / stride) % dim);
    const wrong = [...new Set(named)].slice(0, most);
    const more = first(dim, most).filter((one) => !wrong.includes(one));
    return [...wrong, ...more].slice(0, most).toSorted((a, b) => a - b);
  });
}
