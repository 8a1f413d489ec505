/** What changed between two versions of an operator, told from their rows. */

import type { OperatorVersion } from "./operator.ts";

/** One difference: `path` names the fact, such as `attributes.reduction.values` or `typeConstraints.T.types`. */
export interface VersionChange {
  readonly kind: "added" | "removed" | "changed";
  readonly path: string;
  /** What was added or removed, or the values before and after. */
  readonly value?: unknown;
  readonly from?: unknown;
  readonly to?: unknown;
}

/**
 * What was added, removed and changed from one version to another, of one operator or of two siblings.
 * Lists of words and types are compared as sets, lists of named things by their names.
 */
export function compareVersions(from: OperatorVersion, to: OperatorVersion): VersionChange[] {
  return changes("", from, to);
}

function changes(path: string, from: unknown, to: unknown): VersionChange[] {
  if (Object.is(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) return changes(path, byName(from), byName(to));
  if (!isRecord(from) || !isRecord(to)) return [{ kind: "changed", path, from, to }];
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...keys].flatMap((key): VersionChange[] => {
    const inner = path === "" ? key : `${path}.${key}`;
    if (!Object.hasOwn(from, key)) return [{ kind: "added", path: inner, value: to[key] }];
    if (!Object.hasOwn(to, key)) return [{ kind: "removed", path: inner, value: from[key] }];
    return changes(inner, from[key], to[key]);
  });
}

/** A list as a record: of its items by name, or of its words by themselves. */
const byName = (list: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(
    list.map((item) => [isRecord(item) ? String(item["name"]) : String(item), item]),
  );

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
