/**
 * Reads a tensor from pasted text in any of these forms:
 *
 *     [[1, 2], [3, 4],]                             JSON, Python lists and tuples, with or without trailing commas
 *     array([[1., 2.], [3., 4.]], dtype=float32)    NumPy, with or without np.; also printed as [[1. 2.] [3. 4.]]
 *     tensor([[True, False]], device='cuda:0')      PyTorch, and tensors that ndscatter prints
 *     Float32Array(3) [ 1, 2, 3 ]                   a typed array as Node.js prints it
 *     1  2  3                                       a table with one row per line
 *
 * The brackets determine the shape. If the text names a data type, the tensor gets this type. Any other text is
 * refused.
 */

import { TensorError, type DType } from "ndscatter";
import { printShape } from "ndscatter/operators";
import type { Edited } from "../document/edit.ts";
import { checkShape } from "../values/limits.ts";
import { blockOf, elementText, type Block } from "./blocks.ts";
import { Reader, wordOf, type List, type Value, type Word, type Wrong } from "./literals.ts";
import { coordinatesOf, positionOf } from "../values/shape.ts";
import type { TensorText } from "../values/state.ts";
import { tensorOf, textOf } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";

/** The maximum text length in characters, which is enough for the largest tensor on the page. */
export const LONGEST = 2_000_000;

/** Matches up to three labels such as `x =`, `const x =`, `data:` and `Parameter containing:`. */
const LABEL =
  /^\s*(?:(?:[A-Za-z_][\w.]{0,40}[^\S\n]{1,9}){0,3}[A-Za-z_][\w.]{0,40}\s{0,9}(?:=(?!=)|:)\s{0,9}){1,2}/;

const HAS_BRACKET = /[[\](){}'"]/;

/** Returns a parser at the first character after labels. */
function readerOf(text: string, dtype: DType): Reader {
  if (text.length > LONGEST) {
    throw new TensorError(
      "too-large",
      `the text has more than ${LONGEST.toLocaleString("en")} characters`,
    );
  }
  // Printed TensorFlow tensors look like <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2])>.
  const [begin, end] = [text.indexOf("numpy="), text.lastIndexOf(">")];
  const isNamed = text.trimStart().startsWith("<tf.") && begin !== -1 && begin < end;
  const bare = isNamed ? text.slice(begin + "numpy=".length, end) : text;
  const reader = new Reader(bare);
  // A line in a table of strings may contain a colon.
  const isPlain = dtype === "string" && !HAS_BRACKET.test(bare);
  if (!isPlain) reader.at = LABEL.exec(bare.slice(0, 400))?.[0].length ?? 0;
  return reader;
}

/** Returns the rows of a text without brackets, such as a part of a spreadsheet; null for any other text. */
function tableIn(reader: Reader): List[] | null {
  const { text, at } = reader;
  if (HAS_BRACKET.test(text) || !/[^\s,;]/.test(text.slice(at))) return null;
  const rows: List[] = [];
  for (const line of text.slice(at).matchAll(/[^\n;]*[^\n;\s][^\n;]*/g)) {
    const start = at + line.index;
    const items: Word[] = [];
    for (const word of line[0].matchAll(/[^\s,]+/g)) {
      items.push(reader.counted(wordOf(word[0], start + word.index)));
    }
    rows.push({ kind: "list", bracket: "", items, start });
  }
  return rows;
}

/** Returns rows as a table. A single line, or lines with one word each, become a list; a single word has no axis. */
function valueOf(rows: readonly List[]): Value {
  const [first] = rows;
  if (rows.length === 1) return first.items.length === 1 ? first.items[0] : first;
  const isColumn = rows.every(({ items }) => items.length === 1);
  return { ...first, items: isColumn ? rows.flatMap(({ items }) => items) : rows };
}

/**
 * Returns the tensor in `text`, or an error with line and column. Unless the text names a data type, the tensor has the
 * data type of `input`.
 */
export const withText = (input: TensorText, text: string): Edited =>
  attempt(() => {
    const reader = readerOf(text, input.dtype);
    const rows = tableIn(reader);
    const block = blockOf(rows === null ? reader.whole() : valueOf(rows), reader.wrong);
    return { input: asText(block, block.dtype ?? input.dtype, reader.wrong) };
  });

/** Converts a block to a tensor's text. */
export function asText({ shape, words }: Block, dtype: DType, wrong: Wrong): TensorText {
  checkShape(shape, "the text");
  const values = words.map((word) => elementText(word, dtype, wrong));
  const read = { dtype, shape: [...shape], values };
  const found = tensorOf(read, "the text");
  // An element that the data type cannot represent is kept and reported.
  return found.wrong.length === 0 ? textOf(found.tensor) : read;
}

/**
 * Returns the tensor after a paste. Text without brackets is a block, as in a spreadsheet: it fills cells to the right
 * of and below `element`, and is refused if it does not fit. A single value replaces one cell. Text in brackets, or a
 * call that creates an array, replaces the whole tensor. `element` is the position of the focused cell; if it is null,
 * the text replaces the whole tensor.
 */
export function withPaste(input: TensorText, element: number | null, text: string): Edited {
  if (element === null || element >= input.values.length) return withText(input, text);
  return attempt(() => {
    const { dtype } = input;
    // Elements of type string may contain brackets and quotes.
    if (dtype === "string" && !/^\s*(?:\[|[\w.]+\()/.test(text)) {
      return { input: withTexts(input, element, text) };
    }
    const reader = readerOf(text, dtype);
    const rows = tableIn(reader);
    if (rows !== null) return { input: withRows(input, element, rows, reader.wrong) };
    const block = blockOf(reader.whole(), reader.wrong);
    const read = asText(block, block.dtype ?? dtype, reader.wrong);
    return { input: block.shape.length > 0 ? read : withBlock(input, element, [read.values]) };
  });
}

function withRows(
  input: TensorText,
  element: number,
  rows: readonly List[],
  wrong: Wrong,
): TensorText {
  // All rows must have the same length.
  const block = blockOf({ ...rows[0], items: rows }, wrong);
  const { shape, values } = asText(block, input.dtype, wrong);
  const [count, width] = shape;
  // A column can also fill a vector, because a vector has a single axis.
  const isRow = width === 1 && input.shape.length === 1;
  const parts = isRow
    ? [values]
    : Array.from({ length: count }, (_, row) => values.slice(row * width, (row + 1) * width));
  return withBlock(input, element, parts);
}

/**
 * Pastes strings, which may contain spaces and commas. Spreadsheets separate cells with tabs and rows with line breaks.
 */
function withTexts(input: TensorText, element: number, text: string): TensorText {
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  return withBlock(
    input,
    element,
    lines.map((line) => line.split("\t")),
  );
}

/**
 * Returns the tensor with a block pasted at a cell. The block must fit into the cell's matrix, which is formed by the
 * last two axes.
 */
function withBlock(
  input: TensorText,
  element: number,
  rows: readonly (readonly string[])[],
): TensorText {
  const { shape, values } = input;
  const at = coordinatesOf(element, shape);
  const rank = shape.length;
  const row = at[rank - 2] ?? 0;
  const column = at[rank - 1] ?? 0;
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const columns = shape[rank - 1] ?? 1;
  const needs = [row + rows.length, column + width];
  if (needs[0] > (rank < 2 ? 1 : shape[rank - 2]) || needs[1] > columns) {
    const block = printShape([rows.length, width]);
    const sentence =
      `the block ${block} at ${printShape(at)} does not fit into ${printShape(shape)}: ` +
      "enlarge the tensor, or paste the block in brackets to replace the tensor";
    throw new TensorError("shape-mismatch", sentence, { key: "text", at, expected: shape });
  }
  const next = [...values];
  for (const [down, texts] of rows.entries()) {
    for (const [right, text] of texts.entries()) {
      const grid = [row + down, column + right].slice(-rank);
      const target = rank === 0 ? [] : [...at.slice(0, -grid.length), ...grid];
      next[positionOf(target, shape)] = text;
    }
  }
  return { ...input, values: next };
}
