/**
 * Findings that rely on declared types. No runtime holds a value between two nodes to the shape that is declared for
 * it, so what follows from declarations alone is risky and never wrong: the declaration may be what is out of date.
 */

import { listNames } from "../model/graph.ts";
import type { Finding } from "./findings.ts";

export const asRisky = (found: Finding): Finding =>
  found.severity === "wrong" ? { ...found, severity: "risky" } : found;

/**
 * The findings of a node of which more is believed than is certain.
 *
 * @param certain what is found by certain types alone
 * @param believed what is found when declarations are trusted too
 * @param names the inputs of which more is believed than is certain
 */
export function mergeViews(
  certain: readonly Finding[],
  believed: readonly Finding[],
  names: readonly string[],
): readonly Finding[] {
  const added = believed.filter((one) => !certain.some((other) => isSameFinding(one, other)));
  // What could not be looked at by certain types may have been by the others.
  const stays = certain.filter(
    (one) => one.severity !== "note" || believed.some((other) => isSameFinding(one, other)),
  );
  return [...stays, ...added.map((found) => relying(found, names))];
}

const isSameFinding = (a: Finding, b: Finding): boolean => a.id === b.id && a.input === b.input;

function relying(found: Finding, names: readonly string[]): Finding {
  if (found.severity === "note") return found;
  const unique = [...new Set(names)];
  const what = unique.length === 1 ? "the type" : "the types";
  const sentence = `${found.sentence}; this relies on ${what} declared for ${listNames(unique)}`;
  return asRisky({ ...found, sentence });
}
