/** Describes a scatter's cells: the updates of each target, and the target of each update. */

import type { ScatterStory } from "ndscatter";
import type { Arrow, Description, Line } from "../cells/session.ts";
import type { TensorId } from "../values/spot.ts";
import { inWords } from "./target-names.ts";
import { arrow, MOST_ARROWS, told, type Vocabulary } from "./vocabulary.ts";

/** Describes a cell of the output or data, which have the same coordinates. */
export function describeTarget(
  words: Vocabulary,
  story: ScatterStory,
  at: readonly number[],
  element: number,
  tensor: TensorId,
): Description {
  const cell = story.cell(at);
  const value = words.print(cell.value);
  const here = { tensor: "output", element } as const;
  const data = { tensor: words.positionOf("data"), element };
  if (cell.count === 0) {
    const title = `${words.elementAt("output", at)} is ${value}`;
    const text = `no update reaches this cell, so the cell keeps the value of ${words.elementAt(data.tensor, at)}`;
    return { title, lines: [{ text }], arrows: [arrow(data, here, null)], orders: [] };
  }
  const steps = [...cell.steps()];
  const [{ before }] = steps;
  const times = cell.count === 1 ? "one update" : `${inWords(cell.count)} updates in this order`;
  const name = words.elementAt(tensor, at);
  const title =
    tensor === "output"
      ? `${name} is ${value} after ${times}`
      : `${name} is ${words.print(before)}, and becomes ${value} after ${times}`;
  const lines = words.firstLines(steps, (step): Line => words.lineOf(step));
  const arrows: Arrow[] = [];
  for (const step of steps.slice(0, MOST_ARROWS)) {
    if (step.kind === "division") continue;
    const tuple = words.links.tupleOf[step.order];
    arrows.push(
      arrow(words.spotAt(words.positionOf("updates"), step.at), here, tuple),
      words.indexArrow(tuple, here),
    );
  }
  if (story.reduction !== "none" && story.includeSelf) arrows.push(arrow(data, here, null));
  const orders = steps.flatMap((step) => (step.kind === "update" ? [step.order] : []));
  return { title, lines, arrows, orders };
}

/** Describes an element of updates: its target, and its effect on the target. */
export function describeUpdate(
  words: Vocabulary,
  story: ScatterStory,
  at: readonly number[],
  element: number,
): Description {
  const { links } = words;
  const order = links.carried[element];
  const position = words.positionOf("updates");
  const update = story.updates.at(order);
  if (update === undefined) return told(`no index uses this element of ${words.nameOf(position)}`);
  const target = [...update.target, ...at.slice(update.at.length)];
  const cell = story.cell(target);
  const steps = [...cell.steps()];
  const place = steps.findIndex((step) => step.kind === "update" && step.order === order);
  const tuple = links.tupleOf[order];
  const lines = steps.slice(place, place + 1).map((step): Line => words.lineOf(step));
  const following = steps.slice(place + 1).filter((step) => step.kind === "update");
  if (following.length > 0) {
    const { length } = following;
    const deed =
      story.reduction === "none"
        ? `replace${length === 1 ? "s" : ""} it`
        : `${length === 1 ? "is" : "are"} combined with it`;
    const later = length === 1 ? "a later update" : `${inWords(length)} later updates`;
    const end = `the final value of the cell is ${words.print(cell.value)}`;
    lines.push({ text: `${later} ${deed}, and ${end}` });
  }
  const to = words.spotAt("output", target);
  const title = `${words.elementAt(position, at)} goes to ${words.elementAt("output", target)}`;
  const arrows = [arrow({ tensor: position, element }, to, tuple), words.indexArrow(tuple, to)];
  return { title, lines, arrows, orders: [order] };
}
