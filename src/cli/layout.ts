/** How output is laid out: tables, paragraphs and JSON. */

export const LINE_WIDTH = 80;

/** Rows as columns that begin at the same place; the first row is the heading. */
export function printTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A paragraph in lines of at most 80 characters; `first` stands before it, and as much room before its other lines. */
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

/** A name from a file, in quotes unless it is plain: control characters must not reach the terminal. */
export const printName = (name: string): string =>
  /^[\w./:+-]+$/.test(name) ? name : JSON.stringify(name);

/** Texts of a file must not reach the terminal as they are: names of dimensions and nodes are among them. */
export const escapeControls = (line: string): string =>
  // oxlint-disable-next-line no-control-regex
  line.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, (one) => {
    return `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });

/** What every command's --help says of --json. */
export const JSON_HELP = "print JSON (64-bit integers, NaN and infinities as strings)";

/**
 * JSON in which a list of bare values takes one line. JSON has no 64-bit integers, NaN and infinities: they are
 * strings, as in protobuf's JSON. Negative zero stays `-0`, which `JSON.stringify` would not keep.
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
