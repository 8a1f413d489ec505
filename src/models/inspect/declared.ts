/**
 * Findings that rely on declared types. Runtimes do not enforce the declared shape of a value between two nodes, so a
 * finding from declarations alone is risky, never wrong: the declaration may be outdated.
 */

import { listNames } from "../model/graph.ts";
import type { Finding } from "./findings.ts";

export const asRisky = (found: Finding): Finding =>
  found.severity === "wrong" ? { ...found, severity: "risky" } : found;

/**
 * Returns the findings of a node for which declarations add to the certain facts.
 *
 * @param certain findings from certain types alone
 * @param believed findings that trust declarations too
 * @param names inputs for which declarations add facts
 */
export function mergeViews(
  certain: readonly Finding[],
  believed: readonly Finding[],
  names: readonly string[],
): readonly Finding[] {
  const added = believed.filter((one) => !certain.some((other) => isSameFinding(one, other)));
  // The declared types may allow a check that the certain types do not allow.
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
