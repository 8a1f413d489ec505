/** Formats output as tables, paragraphs, names and JSON. */

export const LINE_WIDTH = 80;

/**
 * Returns each column's width in characters. A loop is required, because a table may have more rows than a function
 * call can have arguments.
 */
export const widthsOf = (rows: readonly (readonly string[])[]): number[] =>
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
 * Wraps a paragraph at 80 characters. The paragraph begins with `first`, and the following lines are indented by its
 * length.
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
 * Formats a name from a file, with quotes if it contains unusual characters, so that no control characters reach the
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

/** Help text for the option --json. */
export const JSON_HELP = "print JSON (64-bit integers, NaN and infinities as strings)";

/**
 * Formats JSON, with each list of scalars on one line. As in protobuf's JSON format, 64-bit integers, NaN and
 * infinities become strings. Negative zero is printed as `-0`, whereas `JSON.stringify` would print 0.
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
