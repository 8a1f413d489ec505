/** Formats output as tables, paragraphs, names and JSON, and fits text to a terminal. */

import { nearestName } from "../../core/foreign.ts";

export const LINE_WIDTH = 80;

/**
 * Returns the width of each column, in characters. A loop is used, because a table may have more rows than a function
 * call may have arguments.
 */
const widthsOf = (rows: readonly (readonly string[])[]): number[] =>
  rows[0].map((_, column) => rows.reduce((most, row) => Math.max(most, row[column].length), 0));

/** Aligns the columns of rows that all have the same number of cells. */
export function printTable(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/**
 * Returns a paragraph with lines of at most 80 characters. The paragraph begins with `first`, and later lines are
 * indented by the length of `first`.
 */
export function wrap(text: string, first = ""): string {
  const indent = " ".repeat(first.length);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return first + [...lines, line].join(`\n${indent}`);
}

/**
 * Returns a name from a file, in quotes if it has special characters, because control characters must not reach the
 * terminal.
 */
export const printName = (name: string): string =>
  /^[\w./:+-]+$/.test(name) ? name : JSON.stringify(name);

/** Maximum length of quoted text. The beginning of a longer text is sufficient to identify it. */
const LONGEST_QUOTE = 200;

/** Quotes user input or file contents for use in a message. */
export const quote = (text: string): string =>
  text.length <= LONGEST_QUOTE
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, LONGEST_QUOTE))}...`;

/** Maximum word length. Paths are usually shorter, so longer words may be cut. */
const LONGEST_WORD = 4096;

/** Shortens very long words in a message, such as unknown options, so that the message fits on a screen. */
export const cutWords = (sentence: string): string =>
  sentence.replaceAll(/\S+/g, (word) =>
    word.length <= LONGEST_WORD
      ? word
      : `${word.slice(0, LONGEST_QUOTE)}...${/['";]*$/.exec(word)?.[0]}`,
  );

/**
 * Matches colours and line endings of progress output, control characters, and characters that reverse the text
 * direction.
 */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[(?:K|\d+m)|[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes control characters, except those that `isKept` accepts. */
export const escapeExcept = (text: string, isKept: (one: string) => boolean): string =>
  text.replaceAll(CONTROLS, (one) =>
    isKept(one) ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}${one.slice(1)}`,
  );

/** Escapes control characters in a line, because text from a file may contain line breaks, for example. */
export const escapeControls = (line: string): string => escapeExcept(line, () => false);

/** A line or several lines, or nothing. */
type Lines = string | readonly string[] | false | null;

/** Joins the lines that are present, with control characters escaped. */
export const printLines = (...parts: readonly Lines[]): string =>
  parts
    .flatMap((part) => (part === false || part === null ? [] : part))
    .map(escapeControls)
    .join("\n");

export const JSON_HELP = "print JSON (64-bit integers, NaN and infinities as strings)";

/**
 * Formats JSON with each list of scalars on one line. 64-bit integers, NaN and infinities, which JSON lacks, become
 * strings, as in protobuf's JSON. Negative zero stays `-0`, unlike in `JSON.stringify`.
 */
export function printJson(value: unknown, indent = ""): string {
  const inner = `${indent}  `;
  const lines = (open: string, items: readonly string[], close: string): string =>
    `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
  if (Array.isArray(value)) {
    const items = value.map((item) => printJson(item, inner));
    return value.some(isObject) ? lines("[", items, "]") : `[${items.join(", ")}]`;
  }
  if (isObject(value)) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    if (fields.length === 0) return "{}";
    return lines(
      "{",
      fields.map(([key, field]) => `${JSON.stringify(key)}: ${printJson(field, inner)}`),
      "}",
    );
  }
  if (Object.is(value, -0)) return "-0";
  const isBeyondJson =
    typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value));
  return JSON.stringify(isBeyondJson ? String(value) : value);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Minimum line width in characters, even for narrower terminals. */
const LEAST_WIDTH = 20;

/**
 * Returns the number of characters per line, which is unlimited if the output is not a terminal, to keep lines
 * searchable.
 */
export const widthOf = ({ isTTY, columns }: { isTTY: boolean; columns: number }): number =>
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

/** Returns a question that suggests the most similar name, or returns `otherwise` if no name is similar. */
export function didYouMean(name: string, names: Iterable<string>, otherwise: string): string {
  const near = nearestName(name, names);
  return near === null ? otherwise : `did you mean ${printName(near)}?`;
}
