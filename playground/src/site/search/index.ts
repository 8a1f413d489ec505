/** The index of the search: the places of all pages, in a file that is loaded at the first search. */

import type { Find, Page } from "../layout.ts";

/** Kind, title, operator or document of the place, address from the folder of the site, and text. */
export type Row = readonly [string, string, string, string, string];

/** Longer texts are documents' sections, whose first words name their subject. */
const MOST_TEXT = 1500;

const rowOf = (file: string, { kind, title, of, id, text }: Find): Row => [
  kind,
  title,
  of,
  id === "" ? file : `${file}#${id}`,
  text.slice(0, MOST_TEXT),
];

/** The index is a module, because the policy of the pages allows scripts but no other data. */
export function indexOf(pages: readonly Page[]): string {
  const rows = pages.flatMap(({ file, finds }) => finds.map((find) => rowOf(file, find)));
  return `export const rows = ${JSON.stringify(rows)};\n`;
}
