/**
 * Reads a tensor from pasted text in any of these forms:
 *
 *     [[1, 2], [3, 4],]                             JSON, Python lists and tuples, with or without trailing commas
 *     array([[1., 2.], [3., 4.]], dtype=float32)    NumPy, with or without np.; also printed as [[1. 2.] [3. 4.]]
 *     tensor([[True, False]], device='cuda:0')      PyTorch, and tensors that ndscatter prints
 *     Float32Array(3) [ 1, 2, 3 ]                   a typed array as Node.js prints it
 *     x = np.arange(12).reshape(4, 3)               an array constructor, with methods that reshape or convert
 *     1  2  3                                       a table with one row per line
 *
 * The brackets determine the shape. If the text names a data type, the tensor gets this type. Any other text is
 * refused.
 */

import { TensorError, type DType } from "ndscatter";
import { printShape } from "ndscatter/operators";
import type { Edited } from "../document/edit.ts";
import { checkShape } from "../values/limits.ts";
import { Reader } from "./paste-reader.ts";
import { blockOf, elementText, type Block } from "./paste-value.ts";
import { coordinatesOf, positionOf } from "../values/shape.ts";
import type { TensorText } from "../values/state.ts";
import { tensorOf, textOf } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";

/** The maximum text length in characters, which is enough for the largest tensor on the page. */
const LONGEST = 2_000_000;

function readerOf(text: string, dtype: DType): Reader {
  if (text.length > LONGEST) {
    throw new TensorError("too-large", `the text has more than ${LONGEST} characters`);
  }
  return new Reader(text, dtype);
}

/**
 * Returns the tensor in `text`, or an error with line and column. Unless the text names a data type, the tensor has the
 * data type of `input`.
 */
export const withText = (input: TensorText, text: string): Edited =>
  attempt(() => {
    const reader = readerOf(text, input.dtype);
    const block = blockOf(reader.whole(), reader.wrongAt);
    return { input: asText(block, reader.dtype ?? input.dtype, reader) };
  });

/** Converts a block to a tensor's text. */
export function asText({ shape, words }: Block, dtype: DType, reader: Reader): TensorText {
  checkShape(shape, "the text");
  const values = words.map((word) => elementText(word, dtype, reader.wrongAt));
  const read = { dtype, shape: [...shape], values };
  const { tensor, wrong } = tensorOf(read, "the text");
  // An element that the data type cannot represent is kept and reported.
  return wrong.length === 0 ? textOf(tensor) : read;
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
    if (reader.isTable()) {
      const rows = reader.table();
      // All rows must have the same length.
      const { shape, values } = asText(
        blockOf({ items: rows, start: 0 }, reader.wrongAt),
        dtype,
        reader,
      );
      const [count, width] = shape;
      // A column can also fill a vector, because a vector has a single axis.
      const isRow = width === 1 && input.shape.length === 1;
      const block = isRow
        ? [values]
        : Array.from({ length: count }, (_, row) => values.slice(row * width, (row + 1) * width));
      return { input: withBlock(input, element, block) };
    }
    const block = blockOf(reader.whole(), reader.wrongAt);
    if (block.shape.length > 0) {
      return { input: asText(block, reader.dtype ?? dtype, reader) };
    }
    const { values } = asText(block, dtype, reader);
    return { input: withBlock(input, element, [values]) };
  });
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
