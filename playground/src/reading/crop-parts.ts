/** What the crops of all operators share: faults first, axes reduced to some coordinates, and the remarks on them. */

import { gather, tensor, type Role, type Tensor } from "ndscatter";
import { sizeOf } from "../values/shape.ts";

/** The most index tuples in a part, and the most elements along each other axis. */
export const MOST_TUPLES = 24;
const MOST_ACROSS = 8;
/** Valid tuples beside those with a fault. */
const MOST_RIGHT = 6;
/** The most coordinates of the file in a remark. */
const MOST_NAMED = 12;

export type Tensors = Partial<Record<Role, Tensor>>;

export interface Part {
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
export function census(count: number, targetOf: (position: number) => number): Census {
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

export const are = ({ length }: readonly unknown[]): string =>
  length === 1 ? "1 is" : `${length.toLocaleString("en")} are`;

export const countsOf = ({ bad, shared }: Census, count: number, what: string): string =>
  `Of ${count.toLocaleString("en")} ${what}, ${are(bad)} out of range and ${shared.length.toLocaleString("en")} share a target; these come first.`;

/**
 * At most `most` positions: faults first, then some valid ones. Positions of one target keep their order, so the last
 * write stays the last.
 */
export function chosen({ bad, shared, rest }: Census, most: number): number[] {
  const half = Math.ceil(most / 2);
  const some = [...bad.slice(0, half), ...shared.slice(0, half)].slice(0, most);
  return [
    ...some,
    ...rest.slice(0, some.length === 0 ? most : Math.min(MOST_RIGHT, most - some.length)),
  ];
}

/** An axis of data reduced to the coordinates that indices name. */
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

  remark = (axis: number): string[] => remarkOn("data", axis, this.kept, this.size);
}

/** A sentence on the coordinates of a tensor that are in the part; none if all are. */
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
    `Along axis ${axis} ${name} has the coordinates ${names.join(", ")}${more} of ${size.toLocaleString("en")}.`,
  ];
}

export const first = (size: number, most: number): number[] =>
  Array.from({ length: Math.min(size, most) }, (_, one) => one);

/** A tensor reduced to the given coordinates along each axis; null keeps all. */
export function taken(source: Tensor, coordinates: readonly (readonly number[] | null)[]): Tensor {
  return coordinates.reduce<Tensor>((part, kept, axis) => {
    if (kept === null || kept.length === part.shape[axis]) return part;
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

/** Elements per axis in a part that has several such axes. */
export const across = (axes: number): number => (axes < 2 ? MOST_ACROSS : axes === 2 ? 6 : 3);

/**
 * Coordinates along each axis of a grid: those of the given positions, filled up with the first others.
 * @param order positions in a grid of `shape`, the most important first
 * @param mostAlong the most coordinates along an axis
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
