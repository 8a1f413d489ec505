/** What the exports of code share: a call that can be written down, and lists with rows on lines of their own. */

import type { NodeSpec, OperatorVersion, Tensor } from "ndscatter";
import { readState, explainState, type Fault } from "./read-state.ts";
import type { State } from "./state.ts";

/** A call whose attributes and tensors are all there. */
export interface WritableCall {
  readonly version: OperatorVersion;
  readonly node: NodeSpec;
  /** Of the version's inputs; undefined for one that is left out. */
  readonly inputs: readonly (Tensor | undefined)[];
  /** What the library says of it where it refuses it; code can be written all the same. */
  readonly refusal: string | null;
}

/** The call of a state; or what has to be put right before there is one, as comments behind `mark`. */
export function writableCall(state: State, mark: string): WritableCall | string {
  const { version, node, inputs, faults } = readState(state);
  const isWhole = version?.inputs.every(
    (one, at) => one.optional === true || inputs[at] !== undefined,
  );
  const { explanation, faults: all } = explainState(state);
  if (version !== null && isWhole === true && faults.length === 0) {
    return { version, node, inputs, refusal: explanation?.error?.message ?? null };
  }
  const sentences = all.map(
    (fault) => `${mark} ${whereOf(fault, version)}${oneLine(fault.sentence)}\n`,
  );
  return `${mark} There is no call yet:\n${sentences.join("")}`;
}

function whereOf({ place }: Fault, version: OperatorVersion | null): string {
  if (!("at" in place)) return "";
  return `${version?.inputs[place.input]?.name ?? place.input}[${place.at.join(", ")}]: `;
}

/** A sentence that quotes what was typed, as it can stand in a comment: no sign in it ends a line. */
export const oneLine = (sentence: string): string =>
  sentence.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");

/** `past_cache` as JavaScript names it. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const WIDTH = 80;

/** Words as nested lists of a shape, of which a longer one takes several lines. */
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

/** Words with commas between them, on lines of at most `width` as far as they allow. */
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
