/** Describes a gather's cells: the source of each output element, and the reads of each element of data. */

import type { GatherStory } from "ndscatter";
import type { Arrow, Description, Line } from "../cells/session.ts";
import { reaching } from "../cells/links.ts";
import { arrow, MOST_ARROWS, told, type Vocabulary } from "./vocabulary.ts";

export function describeRead(
  words: Vocabulary,
  story: GatherStory,
  at: readonly number[],
  element: number,
): Description {
  const { links } = words;
  const { index, source, value } = story.cell(at);
  const data = words.positionOf("data");
  const here = words.spotAt("output", at);
  const orders = [links.carried[element]];
  const tuple = links.tupleOf[orders[0]];
  const title = `${words.elementAt("output", at)} is ${words.print(value)}`;
  if (source === null) {
    const text = `${words.indexName(links.tuples[tuple])} is out of range, so the output is 0 here`;
    return { title, lines: [{ text }], arrows: [words.indexArrow(tuple, here)], orders };
  }
  const from = words.spotAt(data, source);
  const text = `copied from ${words.elementAt(data, source)}, ${words.through(links.tuples[tuple])}`;
  const arrows = [arrow(from, here, tuple), words.indexArrow(tuple, from)];
  const shown = index.at.length === 0 ? arrows.slice(0, 1) : arrows;
  return { title, lines: [{ text }], arrows: shown, orders };
}

const TIMES: readonly (string | undefined)[] = [undefined, "once", "twice"];

/** Describes an element of data by listing the output elements that copy its value. */
export function describeSource(
  words: Vocabulary,
  story: GatherStory,
  coordinates: readonly number[],
  element: number,
): Description {
  const { links } = words;
  const data = words.positionOf("data");
  const orders = reaching(links, element);
  const name = words.elementAt(data, coordinates);
  if (orders.length === 0) return told(`${name} is not read`);
  const within = coordinates.slice(story.addressed);
  const here = { tensor: data, element };
  const arrows: Arrow[] = [];
  const lines = words.firstLines(orders, (order, number): Line => {
    const tuple = links.tupleOf[order];
    const at = [...(story.reads.at(order)?.at ?? []), ...within];
    if (number < MOST_ARROWS) arrows.push(arrow(here, words.spotAt("output", at), tuple));
    return { text: `${words.elementAt("output", at)}, ${words.through(links.tuples[tuple])}` };
  });
  const times = TIMES[orders.length] ?? `${orders.length} times`;
  return { title: `${name} is read ${times}`, lines, arrows, orders };
}
