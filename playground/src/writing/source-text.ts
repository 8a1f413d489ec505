/** Shared parts of code exports: calls that can be written as code, and nested lists on several lines. */

import type { Explanation, NodeSpec, OperatorVersion, Tensor } from "ndscatter";
import { readState, explainState, type Fault } from "../document/read-state.ts";
import type { State } from "../values/state.ts";

export interface WritableCall {
  readonly version: OperatorVersion;
  readonly node: NodeSpec;
  /** The inputs in the order of the version's definition; undefined for an omitted input. */
  readonly inputs: readonly (Tensor | undefined)[];
  /** The explanation; null if the output is larger than the page can show. */
  readonly explanation: Explanation | null;
  /** The library's error if it refuses the call, which can still be exported as code. */
  readonly refusal: string | null;
}

/** Returns a state's call, or the required corrections as comments that begin with `mark`. */
export function writableCall(state: State, mark: string): WritableCall | string {
  const { version, node, inputs, faults, reads } = readState(state);
  const isWhole = version?.inputs.every(
    (one, at) => one.optional === true || inputs[at] !== undefined,
  );
  const { explanation, faults: all } = explainState(state, reads);
  if (version !== null && isWhole === true && faults.length === 0) {
    return { version, node, inputs, explanation, refusal: explanation?.error?.message ?? null };
  }
  const sentences = all.map(
    (fault) => `${mark} ${whereOf(fault, version)}${oneLine(fault.sentence)}\n`,
  );
  return `${mark} The call is not valid yet:\n${sentences.join("")}`;
}

function whereOf({ place }: Fault, version: OperatorVersion | null): string {
  if (!("at" in place)) return "";
  return `${version?.inputs[place.input]?.name ?? place.input}[${place.at.join(", ")}]: `;
}

/** Quotes user text for a comment, by replacing characters that could end the line. */
export const oneLine = (sentence: string): string =>
  sentence.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");

/** Converts a name such as `past_cache` to `pastCache`. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const WIDTH = 80;

/** Prints words as nested lists of the given shape. A list that is too long for one line spans several lines. */
export function printNested(
  shape: readonly number[],
  words: readonly string[],
  indent = "",
): string {
  if (shape.includes(0)) return "[]";
  if (shape.length === 0) return words[0];
  const [count, ...inner] = shape;
  const size = words.length / count;
  const short = count * size <= WIDTH ? printLine(shape, words) : "";
  if (short !== "" && short.length + indent.length <= WIDTH) return short;
  const deeper = `${indent}  `;
  const items = Array.from({ length: count }, (_, i) =>
    printNested(inner, words.slice(i * size, (i + 1) * size), deeper),
  );
  const lines = inner.length === 0 ? fill(items, WIDTH - deeper.length) : items;
  return `[\n${lines.map((line) => `${deeper}${line},\n`).join("")}${indent}]`;
}

function printLine(shape: readonly number[], words: readonly string[]): string {
  const [count, ...inner] = shape;
  if (count === undefined) return words[0];
  const size = words.length / count;
  const items = Array.from({ length: count }, (_, i) =>
    printLine(inner, words.slice(i * size, (i + 1) * size)),
  );
  return `[${items.join(", ")}]`;
}

/** Prints words separated by commas, on lines of at most `width` characters unless a single word is longer. */
function fill(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines[lines.length - 1];
    if (line !== undefined && line.length + word.length + 3 <= width) {
      lines[lines.length - 1] = `${line}, ${word}`;
    } else lines.push(word);
  }
  return lines;
}
