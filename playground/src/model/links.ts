/**
 * Which index tuple each element belongs to, for the letters of the page and of saved pictures. Everything
 * here is read from the library's story, once.
 */

import type { Explanation, IndexStory, Tensor } from "ndscatter";
import { letterOf } from "./letters.ts";
import { firstOf, positionOf, sizeOf } from "./shape.ts";

/** An index tuple, or a single index: what has a letter. */
export interface Tuple extends IndexStory {
  /** A for the first. */
  readonly letter: string;
}

export interface Links {
  readonly kind: "scatter" | "gather";
  readonly tuples: readonly Tuple[];
  /** The number of updates of a scatter, or of slices that a gather reads. */
  readonly count: number;
  /** The tuple of each update or read. */
  readonly tupleOf: Int32Array;
  /** For each element of updates (gather: of the output) the number of its update (read). */
  readonly carried: Int32Array;
  /** For each element of indices its tuple, or -1. */
  readonly indexed: Int32Array;
  /** For each slice of data the updates (reads) that reach it, in order. */
  readonly reached: ReadonlyMap<number, readonly number[]>;
  /** The number of elements in such a slice. */
  readonly slice: number;
}

/** Null where the explanation has no story. */
export function linksOf({ story, inputs, output }: Explanation): Links | null {
  const tensorOf = (role: string): Tensor | null =>
    inputs.find((input) => input.role === role)?.tensor ?? null;
  const data = tensorOf("data");
  const carrier = story?.kind === "gather" ? output : tensorOf("updates");
  if (story === null || data === null || carrier === null) return null;
  const indices = tensorOf("indices");
  const entries = story.kind === "gather" ? story.reads : story.updates;
  const targetShape = data.shape.slice(0, story.addressed);

  const numbers = new Map<string, number>();
  const tuples: Tuple[] = [];
  const tupleOf = new Int32Array(entries.length);
  const carried = new Int32Array(carrier.size).fill(-1);
  const indexed = new Int32Array(indices?.size ?? 0).fill(-1);
  const reached = new Map<number, number[]>();
  let order = 0;
  for (const { at, index, target } of entries) {
    const key = index.at.join();
    let tuple = numbers.get(key);
    if (tuple === undefined) {
      tuple = tuples.length;
      numbers.set(key, tuple);
      tuples.push({ ...index, letter: letterOf(tuple) });
      if (indices !== null) fillPart(indexed, index.at, indices.shape, tuple);
    }
    tupleOf[order] = tuple;
    fillPart(carried, at, carrier.shape, order);
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

/** Writes `value` to the elements whose leading coordinates are `at`. */
function fillPart(
  list: Int32Array,
  at: readonly number[],
  shape: readonly number[],
  value: number,
): void {
  const begin = firstOf(at, shape);
  list.fill(value, begin, begin + sizeOf(shape.slice(at.length)));
}

const NONE: readonly number[] = [];

/** The updates (reads) that reach an element of data, or of the output of a scatter. */
export const reaching = ({ reached, slice }: Links, element: number): readonly number[] =>
  reached.get(Math.floor(element / slice)) ?? NONE;
