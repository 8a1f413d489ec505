/** Text in lines that fit a terminal: sentences are folded at words, and long cells of tables are cut in the middle. */

import type { Output } from "../io.ts";
import { printTable } from "./layout.ts";

/** In characters. On a narrower terminal lines are as long as on one of this width. */
const LEAST_WIDTH = 20;

/** How many characters fit in a line; any number where the output is no terminal, so that a line is found whole. */
export const widthOf = ({ isTTY, columns }: Output): number =>
  isTTY ? Math.max(columns || 80, LEAST_WIDTH) : Infinity;

/**
 * `text` in lines of at most `width` characters. The first begins with `indent`, the others two columns behind it. A
 * word that is longer than a line goes on in the next one.
 */
export function fold(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  let line = indent;
  let isEmpty = true;
  const breakLine = (): void => {
    lines.push(line);
    line = `${indent}  `;
    isEmpty = true;
  };
  for (const [, gap, given] of text.matchAll(/( *)([^ ]+)/g)) {
    let word = given;
    if (!isEmpty && line.length + gap.length + word.length > width) breakLine();
    if (!isEmpty) line += gap;
    while (line.length + word.length > width) {
      const room = width - line.length;
      line += word.slice(0, room);
      word = word.slice(room);
      breakLine();
    }
    line += word;
    isEmpty = false;
  }
  return [...lines, line].join("\n");
}

const DOTS = "...";

/** `text` in at most `most` characters, its middle replaced by dots: names often differ at their ends alone. */
export function cut(text: string, most: number): string {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const kept = Math.max(most - DOTS.length, 0);
  const tail = Math.floor(kept / 2);
  const start = characters.slice(0, kept - tail);
  return [...start, DOTS, ...characters.slice(characters.length - tail)].join("");
}

/** In characters. A narrower column would say nothing. */
const LEAST_COLUMN = 9;

const GAP = 2;

/** A table whose lines have at most `width` characters, as far as columns can be narrowed: the widest come first. */
export function fitTable(rows: readonly (readonly string[])[], width: number): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  let excess = widths.reduce((sum, one) => sum + one + GAP, -GAP) - width;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest] <= LEAST_COLUMN) break;
    widths[widest]--;
    excess--;
  }
  return printTable(rows.map((row) => row.map((cell, column) => cut(cell, widths[column])))).split(
    "\n",
  );
}
