/**
 * Links each tensor element to its index tuple, so that the page and saved pictures can draw tabs. The facts come
 * from the library's explanation of the call, which is read once.
 */

import type { Explanation, IndexStory, Tensor } from "ndscatter";
import { positionOf, sizeOf } from "../values/shape.ts";

export class Tuple implements IndexStory {
  readonly at: IndexStory["at"];
  readonly given: IndexStory["given"];
  readonly axes: IndexStory["axes"];
  readonly places: IndexStory["places"];
  readonly number: number;

  constructor({ at, given, axes, places }: IndexStory, number: number) {
    this.at = at;
    this.given = given;
    this.axes = axes;
    this.places = places;
    this.number = number;
  }

  /** The text of the tuple's tab: its target, such as `3` or `(1, 0)`. */
  get tab(): string {
    const { places } = this;
    if (places === null) return "nowhere";
    return places.length === 1 ? String(places[0]) : `(${places.join(", ")})`;
  }
}

export interface Links {
  readonly kind: "scatter" | "gather";
  readonly tuples: readonly Tuple[];
  /** The number of scatter updates or gather reads. */
  readonly count: number;
  /** The tuple of each update or read. */
  readonly tupleOf: Int32Array;
  /** The update that contains each element of updates; in a gather, the read that produced each output element. */
  readonly carried: Int32Array;
  /** The tuple that each element of indices belongs to, or -1. */
  readonly indexed: Int32Array;
  /** For each slice of data, the updates or reads that reach the slice, in order. */
  readonly reached: ReadonlyMap<number, readonly number[]>;
  /** The number of elements in one slice of data. */
  readonly slice: number;
}

/** Returns the links of an explained call, or null if the explanation has no story. */
export function linksOf({ story, inputs, output }: Explanation): Links | null {
  const tensorOf = (role: string): Tensor | null =>
    inputs.find((input) => input.role === role)?.tensor ?? null;
  const data = tensorOf("data");
  const carrier = story?.kind === "gather" ? output : tensorOf("updates");
  if (story === null || data === null || carrier === null) return null;
  const indices = tensorOf("indices");
  const entries = story.kind === "gather" ? story.reads : story.updates;
  const targetShape = data.shape.slice(0, story.addressed);

  // For each position in indices, the tuple number; -1 marks a tuple that is not used yet.
  const numbers = new Int32Array(indices?.size ?? carrier.size).fill(-1);
  const tuples: Tuple[] = [];
  const tupleOf = new Int32Array(entries.length);
  const carried = new Int32Array(carrier.size).fill(-1);
  const indexed = new Int32Array(indices?.size ?? 0).fill(-1);
  const reached = new Map<number, number[]>();
  const fillCarried = partFiller(carried, carrier.shape);
  const fillIndexed = partFiller(indexed, indices?.shape ?? []);
  let order = 0;
  for (const { at, index, target } of entries) {
    const key = positionOf(index.at, indices?.shape ?? carrier.shape);
    let tuple = numbers[key];
    if (tuple === -1) {
      tuple = tuples.length;
      numbers[key] = tuple;
      tuples.push(new Tuple(index, tuple));
      if (indices !== null) fillIndexed(index.at, tuple);
    }
    tupleOf[order] = tuple;
    fillCarried(at, order);
    if (target !== null) {
      const number = positionOf(target, targetShape);
      const list = reached.get(number);
      if (list === undefined) reached.set(number, [order]);
      else list.push(order);
    }
    order++;
  }
  const slice = sizeOf(data.shape.slice(story.addressed));
  return { kind: story.kind, tuples, count: order, tupleOf, carried, indexed, reached, slice };
}

/**
 * Returns a function that sets all elements of the slice at the given leading coordinates. All leading coordinates in
 * one call have the same length, so the slice size is computed once.
 */
function partFiller(
  list: Int32Array,
  shape: readonly number[],
): (at: readonly number[], value: number) => void {
  let length = -1;
  let size = 1;
  return (at, value) => {
    if (at.length !== length) {
      length = at.length;
      size = sizeOf(shape.slice(length));
    }
    const begin = positionOf(at, shape) * size;
    if (size === 1) list[begin] = value;
    else list.fill(value, begin, begin + size);
  };
}

const NONE: readonly number[] = [];

/** Returns the updates or reads that reach an element of data or of a scatter's output. */
export const reaching = ({ reached, slice }: Links, element: number): readonly number[] =>
  reached.get(Math.floor(element / slice)) ?? NONE;
