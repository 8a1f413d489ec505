/** A preset is a call as short as possible, with a question that its picture answers. */

import { parseCall } from "../values/call-text.ts";
import type { State } from "../values/state.ts";

export interface Preset {
  readonly id: string;
  readonly group: string;
  readonly title: string;
  readonly question: string;
  /** A note about the picture or a corrected erratum; may be empty. */
  readonly note: string;
  readonly state: State;
}

/**
 * A preset as data. `call` is written as in a link. If the document of the example has an erratum, the note gives the
 * printed and the correct result. `pair` is the difference to the other example of a pair, which is the next or the
 * previous row, and this side's label.
 */
export type Row = readonly [
  title: string,
  question: string,
  call: string,
  note?: string,
  pair?: readonly [by: string, label: string],
];

/** Returns the preset of a row. Its id follows from the group and the title, unless the preset has its own id. */
export function presetOf(group: string, [title, question, call, note = ""]: Row, id = ""): Preset {
  const words = `${group} ${title}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const given = { group, title, question, note, state: parseCall(call) };
  return { id: id === "" ? words.replaceAll(/^-|-$/g, "") : id, ...given };
}
