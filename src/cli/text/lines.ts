/** Fits text to a terminal by wrapping sentences at spaces, and by shortening long table cells in the middle. */

import type { Output } from "../io.ts";
import { printTable, widthsOf } from "./layout.ts";

/** Minimum line width in characters, even for narrower terminals. */
const LEAST_WIDTH = 20;

/**
 * Returns the number of characters per line, which is unlimited if the output is not a terminal, to keep lines
 * searchable.
 */
export const widthOf = ({ isTTY, columns }: Output): number =>
  isTTY ? Math.max(columns || 80, LEAST_WIDTH) : Infinity;

/**
 * `text` in lines of at most `width` characters. The first line begins with `indent`, and the others begin with two
 * more columns. A word longer than a line continues on the next.
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

/**
 * Shortens `text` to `most` characters by replacing its middle with dots, because long names often differ only at their
 * ends.
 */
export function cut(text: string, most: number): string {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const kept = Math.max(most - DOTS.length, 0);
  const tail = Math.floor(kept / 2);
  const start = characters.slice(0, kept - tail);
  return [...start, DOTS, ...characters.slice(characters.length - tail)].join("");
}

/** The minimum column width, in characters. A narrower column would be unreadable. */
const LEAST_COLUMN = 9;

const GAP = 2;

/** Formats a table with lines of at most `width` characters, if possible, by narrowing the widest columns first. */
export function fitTable(rows: readonly (readonly string[])[], width: number): string[] {
  const widths = widthsOf(rows);
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
