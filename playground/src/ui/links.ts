/**
 * Which index tuple each cell belongs to, read off the library's story once: the page's colours and letters. Nothing is
 * computed here that the story does not say.
 */

import type { Explanation, IndexStory, Tensor } from "ndscatter";
import { colourOf, letterOf } from "../model/letters.ts";
import { flatOf, sizeOf } from "./shape.ts";

/** An index, or a tuple of them: the thing that has a colour. */
export interface Tuple extends IndexStory {
  /** Its letter: A for the first. */
  readonly label: string;
  /** Which of the colours it has. */
  readonly colour: number;
}

export interface Links {
  readonly kind: "scatter" | "gather";
  readonly tuples: readonly Tuple[];
  /** Updates of a scatter, or slices that a gather reads. */
  readonly count: number;
  /** The tuple of each of them. */
  readonly tupleOf: Int32Array;
  /** Of each element of updates (of the output of a gather) the update (the read) that it belongs to. */
  readonly carried: Int32Array;
  /** Of each element of indices its tuple; -1 where none is. */
  readonly indexed: Int32Array;
  /** Of each slice of data the updates (the reads) that reach it, in order. */
  readonly reached: ReadonlyMap<number, readonly number[]>;
  /** How many elements of data make such a slice. */
  readonly slice: number;
}

/** Null where there is no story. */
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
      tuples.push({ ...index, label: letterOf(tuple), colour: colourOf(tuple) });
      if (indices !== null) fillPart(indexed, index.at, indices.shape, tuple);
    }
    tupleOf[order] = tuple;
    fillPart(carried, at, carrier.shape, order);
    if (target !== null) {
      const number = flatOf(target, targetShape);
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
  const length = sizeOf(shape.slice(at.length));
  const begin = flatOf(at, shape) * length;
  list.fill(value, begin, begin + length);
}

const NONE: readonly number[] = [];

/** The updates (the reads) that reach an element of data, or of the output of a scatter. */
export const reaching = ({ reached, slice }: Links, element: number): readonly number[] =>
  reached.get(Math.floor(element / slice)) ?? NONE;
