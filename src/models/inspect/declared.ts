/**
 * Findings that rely on declared types. A finding that follows only from declarations is risky, never wrong, because
 * runtimes do not enforce the declared shape of a value between two nodes. The declaration may be outdated.
 */

import { listNames } from "../model/graph.ts";
import type { Finding } from "./findings.ts";

export const asRisky = (found: Finding): Finding =>
  found.severity === "wrong" ? { ...found, severity: "risky" } : found;

/**
 * Merges two lists of findings about a node for which declarations add facts. The list `certain` uses certain types
 * only, and `believed` also uses declared types. The inputs in `names` have facts that only declarations provide.
 */
export function mergeViews(
  certain: readonly Finding[],
  believed: readonly Finding[],
  names: readonly string[],
): readonly Finding[] {
  const added = believed.filter((one) => !certain.some((other) => isSameFinding(one, other)));
  // Declared types may allow a check for which certain types are not enough.
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
