/**
 * Summarizes a valid call in up to three sentences, of which the first is the headline: repeated targets, values that
 * are not used or read, and negative indices. The numbers come from the library's explanation.
 */

import {
  type Explanation,
  type GatherStory,
  type IndexStory,
  type Reduction,
  type ScatterStory,
} from "ndscatter";
import { capital, inWords, nameOf, placeOf, unitOf } from "./target-names.ts";

/** The maximum number of names in a list; further names are only counted. */
const MOST_NAMES = 2;

/**
 * Returns the summary sentences; an empty list for a call with errors. `tuples` are those of the call's links. `called`
 * is the reduction's name in the call, because OpenVINO says sum where the explanation says add.
 */
export function summaryOf(
  { story, inputs, output }: Explanation,
  tuples: readonly IndexStory[],
  called?: string,
): readonly string[] {
  const data = inputs.find(({ role }) => role === "data")?.tensor;
  if (story === null || output === null || data === undefined || data === null) return [];
  return story.kind === "scatter"
    ? scatterSentences(story, tuples, data.shape, called)
    : gatherSentences(story, tuples, data.shape);
}

function scatterSentences(
  story: ScatterStory,
  tuples: readonly IndexStory[],
  shape: readonly number[],
  called: string = story.reduction,
): readonly string[] {
  const { summary, addressed, reduction, includeSelf } = story;
  const { count, targets, repeats } = summary;
  if (count === 0) return ["No updates, so the output is a copy of data."];
  const first =
    repeats === 0
      ? targets === 1
        ? `${oneName(story, shape)} gets one update.`
        : `${targets} ${unitOf(addressed, shape)}s get one update each.`
      : `${repeated(summary, shape, addressed, RECEIVED)}; ${meaningOf(story, called)}.`;
  const base =
    reduction !== "none" && !includeSelf ? "The old values of the targets are not used." : null;
  return [first, base, wraps(tuples, shape, addressed)].filter(isThere);
}

function gatherSentences(
  story: GatherStory,
  tuples: readonly IndexStory[],
  shape: readonly number[],
): readonly string[] {
  const { summary, addressed } = story;
  const { count, targets, repeats, filled } = summary;
  if (count === 0) return ["No element is read, so the output is empty."];
  const once =
    targets === 1
      ? `${oneName(story, shape)} is read once.`
      : `${targets} ${unitOf(addressed, shape)}s are read, each once.`;
  const first =
    targets === 0 ? null : repeats === 0 ? once : `${repeated(summary, shape, addressed, READ)}.`;
  const zeros =
    filled === 0
      ? null
      : filled === 1
        ? "1 cell of the output is 0, because its index is out of range."
        : `${filled} cells of the output are 0, because their indices are out of range.`;
  return [first, zeros, wraps(tuples, shape, addressed)].filter(isThere);
}

const isThere = (sentence: string | null): sentence is string => sentence !== null;

/** Returns the name of a call's only target, at the start of a sentence. */
const oneName = (
  { targets, addressed }: ScatterStory | GatherStory,
  shape: readonly number[],
): string => capital(nameOf(targets.at(0)?.coordinates ?? [], shape, addressed));

/** The wording for repeated targets. */
interface Words {
  /** The verb for one target and for several targets. */
  readonly one: string;
  readonly several: string;
  times(count: number): string;
  readonly often: string;
  /** The word after the number of updates that share a target. */
  readonly each: string;
}

const RECEIVED: Words = {
  one: "gets",
  several: "get",
  times: (count) => `${inWords(count)} updates`,
  often: "more than one update",
  each: " each",
};
const READ: Words = {
  one: "is read",
  several: "are read",
  times: (count) => (count === 2 ? "twice" : `${inWords(count)} times`),
  often: "more than once",
  each: "",
};

/** Returns a clause about repeated targets, most frequent first. */
function repeated(
  { repeats, most }: ScatterStory["summary"],
  shape: readonly number[],
  addressed: number,
  { one, several, times, often, each }: Words,
): string {
  const [first, second] = most.map(({ coordinates, count }) => ({
    name: nameOf(coordinates, shape, addressed),
    times: times(count),
  }));
  if (repeats === 1) return capital(`${first.name} ${one} ${first.times}`);
  if (repeats > MOST_NAMES) {
    const unit = unitOf(addressed, shape);
    return `${repeats} ${unit}s ${several} ${often} (${first.name}: ${first.times})`;
  }
  return first.times === second.times
    ? capital(`${first.name} and ${second.name} ${several} ${first.times}${each}`)
    : capital(`${first.name} ${one} ${first.times} and ${second.name} ${second.times}`);
}

/** Describes how the reduction combines several updates of one target. */
function meaningOf(
  { reduction, summary: { repeats, most } }: ScatterStory,
  called: string,
): string {
  const isPair = repeats === most.length && most.every(({ count }) => count === 2);
  return `\`${called}\` ${MEANINGS[reduction].replace(/\ball$/, isPair ? "both" : "all of them")}`;
}

const MEANINGS: Readonly<Record<Reduction, string>> = {
  none: "keeps the last",
  add: "keeps all",
  mul: "multiplies by all",
  sub: "subtracts all",
  max: "keeps the largest",
  min: "keeps the smallest",
  mean: "keeps the average",
};

/** Describes negative indices and their targets; returns null if no index is negative. */
function wraps(
  tuples: readonly IndexStory[],
  shape: readonly number[],
  addressed: number,
): string | null {
  const places = new Map<string, string>();
  for (const { given, places: resolved, axes } of tuples) {
    if (resolved === null || given.every((value) => value >= 0)) continue;
    const text = given.length === 1 ? String(given[0]) : `[${given.join(", ")}]`;
    // An index gives only the start of a sequence; later updates continue from there.
    if (!places.has(text)) places.set(text, placeOf(axes, resolved, shape, addressed));
  }
  const [first, second] = [...places].map(([text, place]) => `${text} is ${place}`);
  if (first === undefined) return null;
  const isAll = second !== undefined && places.size <= MOST_NAMES;
  return `Negative indices count from the end: ${isAll ? `${first} and ${second}` : first}.`;
}
