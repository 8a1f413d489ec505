/**
 * Finds the sentences of `docs/semantics.md` that name an operator: its behaviour where the specification leaves a
 * choice.
 */

import type { Family } from "./families.ts";
import { statementsIn, type Statement } from "../documents/markdown.ts";

/** Sections about the plain functions, not about operators. */
const OTHER = /^Policies/;

export const remarksOn = (document: string, family: Family): Statement[] =>
  statementsIn(document).filter(
    ({ heading, text }) =>
      !OTHER.test(heading) && names(text, family.name) && !isOfOtherDomain(text, family),
  );

/** Checks whether a text names an operator. The name must not be part of a longer name. */
const names = (text: string, name: string): boolean =>
  new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`).test(text);

/**
 * Checks whether a text means the operator of the other domain. Three operator names exist in both domains; a number or
 * the word OpenVINO next to a name determines its domain.
 */
function isOfOtherDomain(text: string, { domain, name, versions }: Family): boolean {
  const numbers = [...text.matchAll(new RegExp(`(?<![A-Za-z])${name}-(\\d+)`, "g"))].map(numberIn);
  if (numbers.length > 0) {
    return !versions.some(({ sinceVersion }) => numbers.includes(sinceVersion));
  }
  return domain === "ai.onnx" && new RegExp(`OpenVINO's ${name}(?![A-Za-z])`).test(text);
}

const numberIn = ([, digits]: RegExpMatchArray): number => Number(digits);
