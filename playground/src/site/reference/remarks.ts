/** The sentences of `docs/semantics.md` that name an operator: what it does where its document leaves room. */

import type { Family } from "./families.ts";
import { blocksOf } from "../documents/markdown.ts";

export interface Remark {
  /** The heading that the sentence stands under, and the id of that heading. */
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

/** Whether a text names an operator: a name within a longer one does not count. */
const names = (text: string, name: string): boolean =>
  new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`).test(text);

/** Both domains have three of the names. A number or the word OpenVINO beside a name says whose it is. */
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
