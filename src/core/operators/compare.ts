/** Finds the differences between two operator versions by comparing their rows. */

import type { OperatorVersion } from "./operator.ts";

/**
 * One difference between two versions, at a `path` such as `attributes.reduction.values` or `typeConstraints.T.types`.
 */
export interface VersionChange {
  readonly kind: "added" | "removed" | "changed";
  readonly path: string;
  /** Value that was added or removed. */
  readonly value?: unknown;
  /** Value that changed, before (`from`) and after (`to`) the change. */
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Returns the additions, removals and changes from one version to another. */
export const changesBetween = (from: OperatorVersion, to: OperatorVersion): VersionChange[] =>
  changes("", from, to);

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

/** Converts a list to a record, in which each item's key is its name, or the item itself if it is a word. */
const byName = (list: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(
    list.map((item) => [isRecord(item) ? String(item["name"]) : String(item), item]),
  );

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
