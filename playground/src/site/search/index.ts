/** The search index: the places of all pages, in a file that is loaded at the first search. */

import type { Find, Page } from "../layout.ts";

/** Kind, title, operator or document, address relative to the site's folder, and text of a place. */
export type Row = readonly [string, string, string, string, string];

const rowOf = (file: string, { kind, title, of, id, text }: Find): Row => [
  kind,
  title,
  of,
  id === "" ? file : `${file}#${id}`,
  text,
];

/** Writes the index as a module, because the security policy of the pages allows scripts but no other data. */
export function indexOf(pages: readonly Page[]): string {
  const rows = pages.flatMap(({ file, finds }) => finds.map((find) => rowOf(file, find)));
  return `export const rows = ${JSON.stringify(rows)};\n`;
}
