/**
 * What a call without errors does, in at most three short sentences: what is hit more than once and what that means, what
 * negative indices lead to, and what stays. The numbers are those of the library's story; nothing is computed again.
 */

import {
  printShape,
  type Explanation,
  type GatherStory,
  type IndexStory,
  type Reduction,
  type ScatterStory,
} from "ndscatter";
import { sizeOf } from "../values/shape.ts";

/** Names that are listed before the rest is counted. */
const MOST_NAMES = 2;

/** The sentences; none for a call with errors. */
export function summaryOf({ story, inputs, output }: Explanation): readonly string[] {
  const data = inputs.find(({ role }) => role === "data")?.tensor;
  if (story === null || output === null || data === undefined || data === null) return [];
  return story.kind === "scatter"
    ? scatterSentences(story, data.shape)
    : gatherSentences(story, data.shape);
}

function scatterSentences(story: ScatterStory, shape: readonly number[]): readonly string[] {
  const { summary, addressed, reduction, includeSelf } = story;
  const unit = unitOf(addressed, shape);
  const { count, targets, repeats, untouched } = summary;
  if (count === 0) return ["no update: output is data as it is"];
  const first =
    repeats === 0
      ? targets === 1
        ? `${nameOf(story.targets.at(0)?.coordinates ?? [], shape, addressed)} is hit once`
        : `${targets} ${unit}s are hit, each once`
      : `${repeated(summary, shape, addressed, "hit")}; ${meaningOf(story)}`;
  const base =
    reduction !== "none" && !includeSelf ? "the values of data there do not count" : null;
  const kept =
    untouched === 0
      ? "no cell keeps its value"
      : `${untouched} of ${counted(sizeOf(shape), "cell")} ${untouched === 1 ? "keeps its" : "keep their"} value`;
  return [first, base, wraps(story.updates, shape, addressed), kept].filter(isThere).slice(0, 3);
}

function gatherSentences(story: GatherStory, shape: readonly number[]): readonly string[] {
  const { summary, addressed } = story;
  const unit = unitOf(addressed, shape);
  const { count, targets, repeats, untouched, filled } = summary;
  if (count === 0) return ["nothing is read: output is empty"];
  const once =
    targets === 1
      ? `${nameOf(story.targets.at(0)?.coordinates ?? [], shape, addressed)} is read once`
      : `${targets} ${unit}s are read, each once`;
  const first =
    targets === 0 ? null : repeats === 0 ? once : repeated(summary, shape, addressed, "read");
  const zeros =
    filled === 0
      ? null
      : `${counted(filled, "cell")} of output ${filled === 1 ? "is" : "are"} 0, because an index is out of range`;
  const unread =
    untouched === 0
      ? "all of data is read"
      : `${untouched} of ${counted(sizeOf(shape), "cell")} of data ${untouched === 1 ? "is" : "are"} not read`;
  return [first, zeros, wraps(story.reads, shape, addressed), unread].filter(isThere).slice(0, 3);
}

const isThere = (sentence: string | null): sentence is string => sentence !== null;

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What is met as a whole: a row of a matrix, an element where every axis is addressed, else a slice. */
function unitOf(addressed: number, { length: rank }: readonly number[]): string {
  if (addressed === rank) return "element";
  return addressed === 1 && rank === 2 ? "row" : "slice";
}

/** `row 1`, `element [1, 2]`, `slice [1, :, :]`. */
function nameOf(
  coordinates: readonly number[],
  shape: readonly number[],
  addressed: number,
): string {
  const unit = unitOf(addressed, shape);
  if (unit === "row") return `row ${coordinates[0]}`;
  if (unit === "element") return `element ${printShape(coordinates)}`;
  const rest = Array<string>(shape.length - addressed).fill(":");
  return `slice [${[...coordinates, ...rest].join(", ")}]`;
}

/** Which targets are met more than once, the most frequent first. */
function repeated(
  { repeats, most }: ScatterStory["summary"],
  shape: readonly number[],
  addressed: number,
  verb: "hit" | "read",
): string {
  const unit = unitOf(addressed, shape);
  const names = most
    .slice(0, repeats <= MOST_NAMES ? MOST_NAMES : 1)
    .map(({ coordinates, count }) => ({
      name: nameOf(coordinates, shape, addressed),
      times: count === 2 ? "twice" : `${count} times`,
    }));
  const [first, second] = names;
  if (repeats === 1) return `${first.name} is ${verb} ${first.times}`;
  if (repeats > MOST_NAMES) {
    return `${repeats} ${unit}s are ${verb} more than once, ${first.name} ${first.times}`;
  }
  const isSame = first.times === second.times;
  return isSame
    ? `${first.name} and ${second.name} are ${verb} ${first.times}`
    : `${first.name} is ${verb} ${first.times}, ${second.name} ${second.times}`;
}

/** What a reduction makes of updates that meet. */
function meaningOf({ reduction, summary: { repeats, most } }: ScatterStory): string {
  const isPair = repeats === most.length && most.every(({ count }) => count === 2);
  return `with ${reduction} ${MEANINGS[reduction].replace("all", isPair ? "both" : "all")}`;
}

const MEANINGS: Readonly<Record<Reduction, string>> = {
  none: "the last wins",
  add: "all count",
  mul: "all count",
  sub: "all are taken away",
  max: "the largest stays",
  min: "the smallest stays",
  mean: "the average stays",
};

/** Negative indices and where they lead; null without any. */
function wraps(
  entries: Iterable<{ readonly index: IndexStory }>,
  shape: readonly number[],
  addressed: number,
): string | null {
  const places = new Map<string, string>();
  for (const { index } of entries) {
    const { given, places: resolved } = index;
    if (resolved === null || given.every((value) => value >= 0)) continue;
    const text = given.length === 1 ? String(given[0]) : `[${given.join(", ")}]`;
    places.set(text, placeOf(index.axes, resolved, shape, addressed));
  }
  const [first, second] = [...places].map(([text, place]) => `${text} is ${place}`);
  if (first === undefined) return null;
  if (places.size > MOST_NAMES) return `negative indices count from the end, so ${first}`;
  const list = second === undefined ? first : `${first}, and ${second}`;
  return `counted from the end, ${list}`;
}

/** Where an index leads: a target where the index alone says which, else a place on its axis. */
function placeOf(
  axes: readonly number[],
  places: readonly number[],
  shape: readonly number[],
  addressed: number,
): string {
  const isWhole = axes.length === addressed && axes.every((axis, number) => axis === number);
  if (isWhole) return nameOf(places, shape, addressed);
  const rest = axes.map((axis, number) => `place ${places[number]} on axis ${axis}`);
  return rest.join(", ");
}
