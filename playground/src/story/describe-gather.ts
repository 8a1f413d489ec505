/** Describes a gather's cells: the source of each output element, and the reads of each element of data. */

import type { GatherStory } from "ndscatter";
import { printShape } from "ndscatter/operators";
import type { Arrow, Description, Line } from "../cells/session.ts";
import { reaching } from "../cells/links.ts";
import { positionOf } from "../values/shape.ts";
import { arrow, MOST_ARROWS, type Vocabulary } from "./vocabulary.ts";

export function describeRead(
  words: Vocabulary,
  story: GatherStory,
  at: readonly number[],
  element: number,
): Description {
  const { links } = words;
  const { index, source, value } = story.cell(at);
  const data = words.positionOf("data");
  const here = { tensor: "output", element } as const;
  const orders = [links.carried[element]];
  const tuple = links.tupleOf[links.carried[element]];
  const title = `${words.nameOf("output")}${printShape(at)} is ${words.print(value)}`;
  if (source === null) {
    const text = `${words.indexName(links.tuples[tuple])} is out of range, so the output is 0 here`;
    return { title, lines: [{ text }], arrows: [words.indexArrow(tuple, here)], orders };
  }
  const from = { tensor: data, element: positionOf(source, words.shapeOf(data)) };
  const text = `copied from ${words.nameOf(data)}${printShape(source)}, ${words.through(links.tuples[tuple])}`;
  const arrows = [arrow(from, here, tuple), words.indexArrow(tuple, from)];
  return {
    title,
    lines: [{ text }],
    arrows: index.at.length === 0 ? [arrows[0]] : arrows,
    orders,
  };
}

const TIMES: readonly (string | undefined)[] = [undefined, "once", "twice"];

/** Describes an element of data by listing the output elements that copy its value. */
export function describeSource(
  words: Vocabulary,
  story: GatherStory,
  coordinates: readonly number[],
  element: number,
): Description {
  const { links, output } = words;
  const data = words.positionOf("data");
  const orders = reaching(links, element);
  const name = `${words.nameOf(data)}${printShape(coordinates)}`;
  if (orders.length === 0) return { title: `${name} is not read`, lines: [], arrows: [], orders };
  const within = coordinates.slice(story.addressed);
  const here = { tensor: data, element };
  const arrows: Arrow[] = [];
  const lines = words.firstLines(orders, (order, number): Line => {
    const tuple = links.tupleOf[order];
    const at = [...(story.reads.at(order)?.at ?? []), ...within];
    const to = { tensor: "output", element: positionOf(at, output.shape) } as const;
    if (number < MOST_ARROWS) arrows.push(arrow(here, to, tuple));
    const text = `${words.nameOf("output")}${printShape(at)}, ${words.through(links.tuples[tuple])}`;
    return { text };
  });
  const times = TIMES[orders.length] ?? `${orders.length} times`;
  return { title: `${name} is read ${times}`, lines, arrows, orders };
}
