/** The index of the search: the places of all pages, in a file that is loaded when somebody searches. */

import type { Find, Page } from "../layout.ts";

/** Kind, title, what the place belongs to, address from the folder of the site, and text. */
export type Row = readonly [string, string, string, string, string];

/** Longer texts are documents' sections, whose first words say what they are about. */
const MOST_TEXT = 1500;

const rowOf = (file: string, { kind, title, of, id, text }: Find): Row => [
  kind,
  title,
  of,
  id === "" ? file : `${file}#${id}`,
  text.slice(0, MOST_TEXT),
];

/** A module, because the policy of the pages lets scripts in and no other data. */
export function indexOf(pages: readonly Page[]): string {
  const rows = pages.flatMap(({ file, finds }) => finds.map((find) => rowOf(file, find)));
  return `export const rows = ${JSON.stringify(rows)};\n`;
}
