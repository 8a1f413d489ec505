/**
 * Finds the sentences of `docs/semantics.md` that name an operator: its behaviour where the specification leaves a
 * choice.
 */

import type { Family } from "./families.ts";
import { blocksOf } from "../documents/markdown.ts";

export interface Remark {
  /** The heading above the sentence, and the id of this heading. */
  readonly heading: string;
  readonly id: string;
  readonly text: string;
}

/** Sections about the plain functions, not about operators. */
const OTHER = /^Policies/;

export function remarksOn(document: string, { name, newest, versions }: Family): Remark[] {
  const remarks: Remark[] = [];
  let [heading, id] = ["", ""];
  for (const block of blocksOf(document)) {
    if (block.kind === "heading") [heading, id] = [block.text, block.id];
    const texts =
      block.kind === "list" ? block.items : block.kind === "paragraph" ? [block.text] : [];
    for (const text of texts) {
      if (OTHER.test(heading) || !names(text, name)) continue;
      if (
        isOfOtherDomain(
          text,
          newest.domain,
          name,
          versions.map((one) => one.sinceVersion),
        )
      )
        continue;
      remarks.push({ heading, id, text });
    }
  }
  return remarks;
}

/** Checks whether a text names an operator. The name must not be part of a longer name. */
const names = (text: string, name: string): boolean =>
  new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`).test(text);

/**
 * Checks whether a text means the operator of the other domain. Three operator names exist in both domains; a number or
 * the word OpenVINO next to a name determines its domain.
 */
function isOfOtherDomain(
  text: string,
  domain: string,
  name: string,
  versions: readonly number[],
): boolean {
  const numbers = [...text.matchAll(new RegExp(`(?<![A-Za-z])${name}-(\\d+)`, "g"))].map(numberIn);
  if (numbers.length > 0) return !numbers.some((number) => versions.includes(number));
  return domain === "ai.onnx" && new RegExp(`OpenVINO's ${name}(?![A-Za-z])`).test(text);
}

const numberIn = ([, digits]: RegExpMatchArray): number => Number(digits);
