/** Provides the facts about a call that the lesson sentences need. The facts come from the library's explanation. */

import type { GatherStory, IndexStory, ScatterStory } from "ndscatter";
import { MOST_LETTERS, type Tuple } from "../cells/links.ts";
import type { Picture } from "../cells/view.ts";
import { coordinatesOf, sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { nameOf } from "./target-names.ts";
import { Vocabulary } from "./vocabulary.ts";

/** The kind of address: an index tuple, a single index, part of an address, a batch, or a sequence. */
export type Addressing = "tuple" | "index" | "part" | "batch" | "sequence";

export interface Visit {
  readonly order: number;
  readonly at: readonly number[];
  readonly index: IndexStory;
  readonly target: readonly number[];
}

export interface Scene {
  readonly picture: Picture;
  readonly story: ScatterStory | GatherStory;
  readonly words: Vocabulary;
  readonly addressing: Addressing;
  readonly batchDims: number;
  /** The word for the units that are marked with letters. */
  readonly noun: "tuple" | "index";
  /** The first update or read that has a target. */
  readonly hero: Visit;
  readonly shape: readonly number[];
}

/** Returns a picture's scene; null for a call without updates or reads, which needs no lesson. */
export function sceneAt(picture: Picture): Scene | null {
  const { explanation, links, output, state } = picture;
  const { story, inputs } = explanation;
  const shape = inputs.find(({ role }) => role === "data")?.tensor?.shape;
  if (story === null || shape === undefined) return null;
  const hero = heroOf(story);
  if (hero === null || links.slice === 0) return null;
  const noun = state.op.includes("ND") ? "tuple" : "index";
  const batchDims = batchDimsOf(state);
  const words = new Vocabulary(explanation, story, output, links);
  const addressing = addressingOf(state, story, hero.index, batchDims);
  return { picture, story, words, addressing, batchDims, noun, hero, shape };
}

function heroOf(story: ScatterStory | GatherStory): Visit | null {
  let order = 0;
  for (const { at, index, target } of story.kind === "gather" ? story.reads : story.updates) {
    if (target !== null) return { order, at, index, target };
    order++;
  }
  return null;
}

function addressingOf(
  { op }: State,
  { addressed }: ScatterStory | GatherStory,
  { axes }: IndexStory,
  batchDims: number,
): Addressing {
  if (op === "TensorScatter") return "sequence";
  if (batchDims > 0) return "batch";
  const isWhole = axes.length === addressed && axes.every((axis, number) => axis === number);
  if (!isWhole) return "part";
  return op.includes("ND") ? "tuple" : "index";
}

/** Returns the number of batch axes. A negative attribute counts from the rank of indices. */
function batchDimsOf({ attributes, inputs }: State): number {
  const given = Number(attributes["batch_dims"] ?? 0);
  return given < 0 ? given + (inputs[1]?.shape.length ?? 0) : given;
}

/** Returns the name of a slice of data, such as `row 1`. */
export const sliceName = ({ shape, story: { addressed } }: Scene, slice: number): string =>
  nameOf(coordinatesOf(slice, shape.slice(0, addressed)), shape, addressed);

/** Returns the tuple's letter, or its position in indices if the call has more tuples than letters. */
export function letterIn({ picture: { links }, words }: Scene, tuple: Tuple): string {
  return links.tuples.length <= MOST_LETTERS ? tuple.letter : words.indexName(tuple);
}

/** Returns the first slices of data that no index names, and the total number of such slices. */
export function unnamed({ shape, story: { addressed }, picture: { links } }: Scene): {
  readonly slices: readonly number[];
  readonly count: number;
} {
  const total = sizeOf(shape.slice(0, addressed));
  const slices: number[] = [];
  for (let slice = 0; slice < total && slices.length < MOST_SLICES; slice++) {
    if (!links.reached.has(slice)) slices.push(slice);
  }
  return { slices, count: total - links.reached.size };
}

/** The maximum number of framed slices, because more frames would cover the whole table. */
const MOST_SLICES = 24;

/** Returns the slice that most updates or reads name, with their step numbers; null if no slice is named twice. */
export function agreed({ picture: { links } }: Scene): {
  readonly slice: number;
  readonly orders: readonly number[];
} | null {
  let found: { slice: number; orders: readonly number[] } | null = null;
  for (const [slice, orders] of links.reached) {
    if (orders.length > 1 && orders.length > (found?.orders.length ?? 1)) found = { slice, orders };
  }
  return found;
}
