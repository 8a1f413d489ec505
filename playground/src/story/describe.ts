/**
 * Describes a cell or a player step in words and arrows, based on the library's explanation. This module computes no
 * values itself.
 */

import { coordinatesOf, firstOf } from "../values/shape.ts";
import type { CallView } from "../cells/view.ts";
import type { Preset } from "../examples/preset.ts";
import { describeRead, describeSource } from "./describe-gather.ts";
import { describeTarget, describeUpdate } from "./describe-scatter.ts";
import { MOST_ARROWS, told, Vocabulary, type Told } from "./vocabulary.ts";
import type { Arrow, Description } from "../cells/session.ts";
import type { Spot } from "../values/spot.ts";

type Explained = Pick<Told, "explanation" | "links">;

/** Returns the words for a call; null for a call with errors. */
function wordsOf({ explanation, links }: Explained): Vocabulary | null {
  const { story, output } = explanation;
  return story && output && new Vocabulary({ explanation, story, output, links });
}

/** Describes a cell; returns null if the cell no longer exists. */
export function describeCell(explained: Explained, { tensor, element }: Spot): Description | null {
  const words = wordsOf(explained);
  if (words === null) return null;
  const { story, output } = words;
  const { inputs } = words.explanation;
  const subject = tensor === "output" ? output : inputs[tensor]?.tensor;
  if (subject === null || subject === undefined || element >= subject.size) return null;
  const role = tensor === "output" ? "output" : inputs[tensor].role;
  if (role === "indices") return describeIndex(words, element, subject.shape);
  if (role === "axis") {
    return told(`${words.nameOf(tensor)} is the axis of data that indices address`);
  }
  const at = coordinatesOf(element, subject.shape);
  if (story.kind === "gather") {
    return role === "output"
      ? describeRead(words, story, at, element)
      : describeSource(words, story, at, element);
  }
  return role === "updates"
    ? describeUpdate(words, story, at, element)
    : describeTarget(words, story, at, element, tensor);
}

/** Describes one player step, which is an update or a read. */
export function describeStep(explained: Explained, order: number): Description | null {
  const words = wordsOf(explained);
  const { links } = explained;
  if (words === null || order < 0 || order >= links.count) return null;
  const tuple = links.tupleOf[order];
  const { text, arrows } = words.stepOf(order);
  const noun = links.kind === "gather" ? "read" : "update";
  return {
    title: `${noun} ${order + 1} of ${links.count}`,
    lines: [{ text: `${text}, ${words.through(links.tuples[tuple])}` }],
    arrows,
    orders: [order],
  };
}

/** Describes an element of indices by all steps that use its tuple. */
function describeIndex(words: Vocabulary, element: number, shape: readonly number[]): Description {
  const { links } = words;
  const number = links.indexed[element];
  const tuple = links.tuples[number];
  if (tuple === undefined) {
    const at = coordinatesOf(element, shape);
    return told(`${words.elementAt(words.positionOf("indices"), at)} is not used`);
  }
  const orders: number[] = [];
  links.tupleOf.forEach((one, order) => {
    if (one === number) orders.push(order);
  });
  const arrows: Arrow[] = [];
  const lines = words.firstLines(orders, (order, count) => {
    const step = words.stepOf(order);
    if (count < MOST_ARROWS) arrows.push(...step.arrows);
    return { text: step.text };
  });
  return {
    title: `${words.indexName(tuple)} names ${words.placeOf(tuple)}${words.wrapsOf(tuple)}`,
    lines,
    arrows: arrows.slice(0, MOST_ARROWS),
    orders,
  };
}

/** Describes a cell's fault. */
export function describeFault({ faults, state }: CallView, spot: Spot | null): Description | null {
  if (spot === null || spot.tensor === "output") return null;
  const shape = state.inputs[spot.tensor]?.shape ?? [];
  const found = faults.find(
    ({ place }) =>
      "at" in place && place.input === spot.tensor && firstOf(place.at, shape) === spot.element,
  );
  return found === undefined ? null : told(found.sentence);
}

/** Returns a description as plain text, for screen readers. */
export function aloud(description: Description | null): string {
  if (description === null) return "";
  const lines = description.lines.map(({ text, result }) =>
    result === undefined ? text : `${text}: ${result}`,
  );
  return [description.title, ...lines].join(". ");
}

/** Returns the text for screen readers: the described cell or step, or else the current example. */
export const toHear = (
  description: Description | null,
  example: Pick<Preset, "question" | "note"> | null,
): string =>
  description === null && example !== null
    ? `${example.question} ${example.note}`
    : aloud(description);
