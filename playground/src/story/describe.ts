/**
 * Describes a cell or a player step in words and arrows, based on the library's explanation. This module computes no
 * values itself.
 */

import type { Explanation } from "ndscatter";
import { printShape } from "ndscatter/operators";
import type { Links } from "../cells/links.ts";
import { elementAt } from "../document/faults.ts";
import { coordinatesOf } from "../values/shape.ts";
import type { CallView } from "../cells/view.ts";
import type { Preset } from "../examples/preset.ts";
import { describeRead, describeSource } from "./describe-gather.ts";
import { describeTarget, describeUpdate } from "./describe-scatter.ts";
import { MOST_ARROWS, Vocabulary } from "./vocabulary.ts";
import type { Arrow, Description } from "../cells/session.ts";
import type { Spot } from "../values/spot.ts";

interface Explained {
  readonly explanation: Explanation;
  readonly links: Links;
}

/** Describes a cell; returns null if the cell no longer exists. */
export function describeCell(explained: Explained, { tensor, element }: Spot): Description | null {
  const { explanation, links } = explained;
  const { story, inputs, output } = explanation;
  if (story === null || output === null) return null;
  const subject = tensor === "output" ? output : inputs[tensor]?.tensor;
  if (subject === null || subject === undefined || element >= subject.size) return null;
  const role = tensor === "output" ? "output" : inputs[tensor].role;
  const words = new Vocabulary(explanation, story, output, links);
  if (role === "indices") return describeIndex(words, element, subject.shape);
  if (role === "axis") {
    return {
      title: `${words.nameOf(tensor)} is the axis of data that indices address`,
      lines: [],
      arrows: [],
      orders: [],
    };
  }
  const at = coordinatesOf(element, subject.shape);
  if (story.kind === "gather") {
    return role === "output"
      ? describeRead(words, story, at, element)
      : describeSource(words, story, at, element);
  }
  return role === "updates"
    ? describeUpdate(words, story, element)
    : describeTarget(words, story, at, element, tensor);
}

/** Describes one player step, which is an update or a read. */
export function describeStep({ explanation, links }: Explained, order: number): Description | null {
  const { story, output } = explanation;
  if (story === null || output === null || order < 0 || order >= links.count) return null;
  const words = new Vocabulary(explanation, story, output, links);
  const tuple = links.tupleOf[order];
  const { text, arrows } = words.stepOf(order);
  const noun = story.kind === "gather" ? "read" : "update";
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
    const at = printShape(coordinatesOf(element, shape));
    const name = words.nameOf(words.positionOf("indices"));
    return { title: `${name}${at} is not used`, lines: [], arrows: [], orders: [] };
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
      "at" in place && place.input === spot.tensor && elementAt(place.at, shape) === spot.element,
  );
  return found === undefined ? null : { title: found.sentence, lines: [], arrows: [], orders: [] };
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
