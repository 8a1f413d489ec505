/** The differences between two versions of an operator, found by comparing their rows. */

import type { OperatorVersion } from "./operator.ts";

/** One difference. `path` leads to it, such as `attributes.reduction.values` or `typeConstraints.T.types`. */
export interface VersionChange {
  readonly kind: "added" | "removed" | "changed";
  readonly path: string;
  /** The added or removed value. */
  readonly value?: unknown;
  /** The changed value, before (`from`) and after (`to`). */
  readonly from?: unknown;
  readonly to?: unknown;
}

/** The additions, removals and changes from one version to another. */
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

/** A list as a record: a named item under its name, a word under itself. */
const byName = (list: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(
    list.map((item) => [isRecord(item) ? String(item["name"]) : String(item), item]),
  );

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
