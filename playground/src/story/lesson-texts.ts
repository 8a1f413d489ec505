/**
 * Builds the sentences of a lesson. Each sentence is true for any call, because it is built from the call's own names
 * and numbers.
 */

import type { Reduction, ScatterStory } from "ndscatter";
import { coordinatesOf } from "../values/shape.ts";
import {
  agreed,
  letterIn,
  sliceName,
  unnamed,
  type Addressing,
  type Scene,
} from "./lesson-scene.ts";
import { capital, inWords, nameOf, unitOf } from "./target-names.ts";
import { partOf } from "./vocabulary.ts";

/** The maximum number of names in a list; further names are only counted. */
const MOST_NAMES = 3;

const list = (names: readonly string[], word: "and" | "or"): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;

/** Returns the target of the example tuple, such as `row 1`. */
const targetOf = ({ hero: { target }, shape, story }: Scene): string =>
  nameOf(target, shape, story.addressed);

const dataOf = ({ words }: Scene): string => `\`${words.nameOf(words.positionOf("data"))}\``;

/** Returns a sentence's subject, such as `The tuple A = [1] in indices`. */
function subjectOf(scene: Scene, of = ""): string {
  const { words, hero, noun } = scene;
  const { given } = hero.index;
  const tuple = scene.picture.links.tuples[scene.picture.links.tupleOf[hero.order]];
  const text = noun === "tuple" ? `[${given.join(", ")}]` : given.join(", ");
  const where = `\`${words.nameOf(words.positionOf("indices"))}\``;
  const letter = scene.picture.links.tuples.length > 26 ? "" : `${letterIn(scene, tuple)} = `;
  return `The ${noun} ${letter}${text} in ${where}${of}`;
}

/** Returns a clause about a negative index; empty if no index is negative. */
function wrapOf({ hero: { index } }: Scene): string {
  const negative = index.given.find((value) => value < 0);
  return negative === undefined ? "" : `${negative} counts from the end, so `;
}

/** The first step explains that an index is an address. */
export const ADDRESSES: Readonly<Record<Addressing, (scene: Scene) => string>> = {
  tuple: (scene) =>
    `${subjectOf(scene)} is an address: ${wrapOf(scene)}it names ${targetOf(scene)} of ${dataOf(scene)}.`,
  index: (scene) =>
    `${subjectOf(scene)} is an address: ${wrapOf(scene)}it names ${targetOf(scene)} of ${dataOf(scene)}.`,
  part: (scene) => {
    const [axis] = scene.hero.index.axes;
    const [place] = scene.hero.index.places ?? [];
    const isMatrix = scene.shape.length === 2;
    const [own, other] = axis === 0 ? ["row", "column"] : ["column", "row"];
    const said = isMatrix ? `${own} ${place}` : `position ${place} on axis ${axis}`;
    const rest = isMatrix ? `the ${other}` : "the rest";
    const negative = scene.hero.index.given.find((value) => value < 0);
    const says = negative === undefined ? "it says" : `${negative} is`;
    return `${subjectOf(scene)} is part of an address: ${says} ${said}, and its own position gives ${rest}: ${targetOf(scene)}.`;
  },
  batch: (scene) => {
    const batch = scene.hero.index.at.slice(0, scene.batchDims);
    const name = `batch ${batch.length === 1 ? batch[0] : `[${batch.join(", ")}]`}`;
    const subject = subjectOf(scene, `, in ${name},`);
    return `${subject} is an address within this batch only: ${wrapOf(scene)}it names ${targetOf(scene)}.`;
  },
  sequence: (scene) => {
    const { words, hero } = scene;
    const name = `\`${words.nameOf(words.positionOf("indices"))}\``;
    const [axis] = hero.index.axes;
    const [place] = hero.index.places ?? [];
    const tensor = scene.picture.explanation.inputs[words.positionOf("indices")]?.tensor ?? null;
    if (tensor === null)
      return `${name} is left out, so each sample is written starting at position ${place} of axis ${axis}.`;
    return `${String(hero.index.given[0])} in ${name} is an address: sample ${hero.target[0]} is written starting at position ${place} of axis ${axis}.`;
  },
};

/** An update's effect on its target. */
const DEEDS = {
  none: " and replaces what was there",
  add: ", where it is added",
  sub: ", where it is subtracted",
  mul: ", where it multiplies",
  max: ", where the larger value stays",
  min: ", where the smaller value stays",
} as const;

/** Returns the second step, in which a slice moves to its target or comes from its source. */
export function moveText(scene: Scene): string {
  const { words, hero, story, picture } = scene;
  if (story.kind === "gather") {
    const part = `${words.nameOf("output")}${partOf(hero.at, picture.output.shape.length)}`;
    return `\`${part}\` is therefore a copy of ${targetOf(scene)}.`;
  }
  const position = words.positionOf("updates");
  const part = `${words.nameOf(position)}${partOf(hero.at, words.shapeOf(position).length)}`;
  const rest = scene.shape.slice(story.addressed).map(() => 0);
  const step = [...story.cell([...hero.target, ...rest]).steps()].find(
    (one) => one.kind === "update" && one.order === hero.order,
  );
  if (step?.kind !== "update") return `\`${part}\` goes to ${targetOf(scene)}.`;
  const sum = words.lineOf(step).result ?? "";
  const deed =
    story.reduction === "mean" && step.by === "add"
      ? ", where it counts toward the mean"
      : DEEDS[step.by];
  const where = picture.links.slice > 1 ? " in the first cell" : "";
  return `\`${part}\` goes to ${targetOf(scene)}${deed}: ${sum}${where}.`;
}

/** Returns the third step, about slices that no index names. */
export function restText(scene: Scene): string {
  const { noun, story, shape } = scene;
  const { slices, count } = unnamed(scene);
  const unit = unitOf(story.addressed, shape);
  const isScatter = story.kind === "scatter";
  if (count === 0) {
    const one = unit === "element" ? "an element" : `a ${unit}`;
    return isScatter
      ? `Every ${unit} has an update here; ${one} without one would be copied from ${dataOf(scene)}.`
      : `Every ${unit} of ${dataOf(scene)} is read here; ${one} that no ${noun} names would not be in the output.`;
  }
  const names =
    count <= MOST_NAMES
      ? list(
          slices.slice(0, count).map((slice) => sliceName(scene, slice)),
          "or",
        )
      : `the other ${count} ${unit}s`;
  const them = count === 1 ? "it" : "them";
  return isScatter
    ? `No ${noun} names ${names}, so the output copies ${them} from ${dataOf(scene)}.`
    : `No ${noun} names ${names}, so ${count === 1 ? "it is" : "they are"} not in the output.`;
}

/** For each reduction, the verb in two forms, and the object for several updates of one target. */
const AGREEMENTS: Readonly<
  Record<Reduction, readonly [does: string, wouldDo: string, what: string]>
> = {
  none: ["keeps", "keep", "the last"],
  add: ["keeps", "keep", "all"],
  sub: ["subtracts", "subtract", "all"],
  mul: ["multiplies by", "multiply by", "all"],
  max: ["keeps", "keep", "the largest"],
  min: ["keeps", "keep", "the smallest"],
  mean: ["keeps", "keep", "the average"],
};

/** Returns the fourth step, about several tuples with the same target. */
export function agreementText(scene: Scene): string {
  const { noun, story, shape, picture, addressing } = scene;
  const found = agreed(scene);
  const twin = addressing === "batch" ? twinsOf(scene) : null;
  if (twin !== null) return twin;
  const unit = unitOf(story.addressed, shape);
  const plural = noun === "tuple" ? "tuples" : "indices";
  if (found === null) {
    const then =
      story.kind === "gather"
        ? `each ${noun} would get its own copy`
        : agreementOf(scene, story, 2, true);
    return `Here no two ${plural} name the same ${unit}; if two did, ${then}.`;
  }
  const tuples = [...new Set(found.orders.map((order) => picture.links.tupleOf[order]))];
  const name = sliceName(scene, found.slice);
  const isListed = tuples.length > 1 && tuples.length <= MOST_NAMES;
  const letters = list(
    tuples.map((tuple) => letterIn(scene, picture.links.tuples[tuple])),
    "and",
  );
  const who = isListed
    ? `${letters} ${tuples.length === 2 ? "both" : "all"} name ${name}`
    : `${capital(inWords(found.orders.length))} ${story.kind === "gather" ? "reads" : "updates"} share ${name}`;
  if (story.kind === "gather")
    return `${who}: each ${noun} gets its own copy, so reads never conflict.`;
  return `${who}: ${agreementOf(scene, story, found.orders.length)}${sumOf(scene, story, found)}.${openIn(scene, story)}`;
}

function agreementOf(
  { picture: { state } }: Scene,
  { reduction }: ScatterStory,
  count: number,
  isPossible = false,
): string {
  const [does, wouldDo, what] = AGREEMENTS[reduction];
  // The sentence uses the reduction's name in the call, because OpenVINO says sum where the library's explanation says
  // add.
  const name = state.attributes["reduction"] ?? reduction;
  const verb = isPossible ? `would ${wouldDo}` : does;
  return `\`${name}\` ${verb} ${count === 2 && what === "all" ? "both" : what}`;
}

/** Returns the result of combined updates, such as `, so its first cell ends as 81`. */
function sumOf(
  { shape, words, picture }: Scene,
  story: ScatterStory,
  { slice }: { readonly slice: number },
): string {
  const at = coordinatesOf(slice * picture.links.slice, shape);
  const { value } = story.cell(at);
  return `, so ${picture.links.slice > 1 ? "its first cell" : "it"} ends as ${words.print(value)}`;
}

/** Returns a remark if the order of updates matters. Without a reduction, ONNX does not define this order. */
const openIn = ({ picture: { state } }: Scene, { reduction }: ScatterStory): string =>
  reduction === "none" && state.domain === "ai.onnx"
    ? " ONNX leaves the order to the runtime."
    : "";

/** Describes two equal tuples in different batches; without such a pair, states that batches share no targets. */
function twinsOf(scene: Scene): string | null {
  const { batchDims, noun, picture } = scene;
  const { tuples } = picture.links;
  const [first, second] = twins(scene) ?? [];
  if (first === undefined || second === undefined) {
    const plural = noun === "tuple" ? "Tuples" : "Indices";
    return `${plural} in two batches never have the same target: each addresses only its own batch.`;
  }
  const text = tuples[first].given.join(", ");
  const index = noun === "tuple" ? `[${text}]` : text;
  const names = `${letterIn(scene, tuples[first])} and ${letterIn(scene, tuples[second])}`;
  return `${names} are both ${index}, but in ${batchDims === 1 ? "two batches" : "different batches"}, so they have different targets.`;
}

/** Returns the first two equal tuples in different batches, or null. */
export function twins({ batchDims, picture }: Scene): readonly [number, number] | null {
  const { tuples } = picture.links;
  const seen = new Map<string, number>();
  for (const [number, { given, at }] of tuples.entries()) {
    const before = seen.get(String(given));
    if (before === undefined) seen.set(String(given), number);
    else if (String(tuples[before].at.slice(0, batchDims)) !== String(at.slice(0, batchDims)))
      return [before, number];
  }
  return null;
}
