/**
 * Recognizes pasted text: a link, a runtime's error message, a program, or a single array. This module is loaded when
 * the first text is pasted.
 */

import { fromHash } from "../document/hash.ts";
import type { State } from "../values/state.ts";
import type { FileChoice } from "./from-file.ts";
import type { NamedTensor } from "./named.ts";
import { withText } from "./paste.ts";
import { readProgram, type Mark } from "./program/program.ts";
import { readMessage } from "./runtime-message.ts";

export type { Mark } from "./program/program.ts";

export interface TextContent {
  /** Calls that the page can show. */
  readonly choices: readonly FileChoice[];
  /** Arrays that no call uses. */
  readonly tensors: readonly NamedTensor[];
  readonly understood: readonly string[];
  readonly marks: readonly Mark[];
  /** True for a single array, whose text is parsed again with the data type of the chosen input. */
  readonly isOneArray: boolean;
}

const NOTHING = { choices: [], tensors: [], understood: [], marks: [], isOneArray: false } as const;

/** Reads any text, and never throws. */
export function readText(text: string, state: State): TextContent {
  return linkIn(text) ?? messageIn(text) ?? arrayIn(text) ?? programIn(text, state);
}

/** Reads a link to this page, or its part after `#`. */
function linkIn(text: string): TextContent | null {
  const hash =
    /^\s*(?:https?:\/\/[^\s#]{1,400})?#?((?:(?:ai\.onnx|openvino)\/\w{1,40}\/\d{1,4}|z\d{1,9}\.[\w-]{8})[^\s]*)\s*$/.exec(
      text.length > 4_000_000 ? "" : text,
    )?.[1];
  if (hash === undefined) return null;
  const found = fromHash(hash);
  if ("error" in found)
    return { ...NOTHING, marks: [{ start: 0, end: text.length, sentence: found.error }] };
  const title = `${found.state.op}-${found.state.opset}`;
  const choice = { kind: "node", title, state: found.state, remarks: [] } as const;
  return { ...NOTHING, choices: [choice], understood: ["This is a link to a call on this page."] };
}

function messageIn(text: string): TextContent | null {
  const found = readMessage(text);
  if (found === null) return null;
  if ("error" in found) {
    return { ...NOTHING, marks: [{ start: found.start, end: found.end, sentence: found.error }] };
  }
  const title = `${found.state.op}-${found.state.opset}`;
  const choice = { kind: "node", title, state: found.state, remarks: [] } as const;
  return { ...NOTHING, choices: [choice], understood: found.understood };
}

/** Matches the name before `=` in a text with one array. */
const NAME = /^\s*(?:const |let |var )?([A-Za-z_]\w{0,40})\s*[:=](?!=)/;

function arrayIn(text: string): TextContent | null {
  const read = withText({ dtype: "float32", shape: [], values: ["0"] }, text);
  if ("error" in read) return null;
  const name = NAME.exec(text.slice(0, 200))?.[1] ?? "";
  return { ...NOTHING, tensors: [{ name, input: read.input }], isOneArray: true };
}

/** The maximum number of arrays to choose from. */
const MOST_TENSORS = 100;

function programIn(text: string, state: State): TextContent {
  const { calls, arrays, understood, marks } = readProgram(text, state);
  const choices = calls.map(({ title, state: one, remarks }) => ({
    kind: "node" as const,
    title: `${one.op}-${one.opset}: ${title}`,
    state: one,
    remarks,
  }));
  const tensors = [...arrays].flatMap(([name, { dtype, shape, values }]) =>
    name === "" ? [] : [{ name, input: { dtype, shape, values } }],
  );
  const areMany = tensors.length > MOST_TENSORS;
  const isNothing = calls.length === 0 && (tensors.length === 0 || areMany);
  const nothing = {
    start: 0,
    end: Math.max(1, text.length),
    sentence: areMany
      ? `the text contains ${tensors.length.toLocaleString("en")} arrays; the page reads up to ${MOST_TENSORS}`
      : "no array or call was found in the text",
  };
  return {
    choices,
    tensors: calls.length > 0 || areMany ? [] : tensors,
    understood,
    marks: isNothing && marks.length === 0 ? [nothing] : marks,
    isOneArray: false,
  };
}

/** Returns the line and column of a position, as editors count them. */
export function placeOf(
  text: string,
  at: number,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const lines = before.split("\n").length;
  return { line: lines, column: at - before.lastIndexOf("\n") };
}
