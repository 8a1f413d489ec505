/**
 * Public functions that accept rows: operator versions and their inputs. Callers may pass rows of the registry, copies
 * of rows (from a worker or from JSON) or any other value, so each value is read once and checked.
 */

import { isArray, readForeign, wrongValue } from "../foreign.ts";
import type { OperatorVersion, ParameterSchema, Role } from "./operator.ts";
import { roleOf as roleOfRow } from "./operator.ts";
import { operators } from "./registry.ts";
import { typesIn } from "./signature.ts";

/** Maximum number of values in a row, far above the 150 values of the largest row. */
const MOST_VALUES = 10_000;

/** Maximum nesting depth of a row, above the six levels of a row: version, constraints, constraint, types, type. */
const MOST_LEVELS = 10;

/**
 * Returns the role of a version's input: `data`, `indices`, `updates` or `axis`.
 *
 * @param input an element of a version's `inputs`
 * @throws TensorError `unknown-operator` if `input` is not an input of a version
 *
 * @example
 * ```ts
 * resolve({ op: "ScatterND", opset: 18 }).inputs.map(roleOf); // ["data", "indices", "updates"]
 * ```
 */
export function roleOf(input: ParameterSchema): Role {
  const none = "the input must be an element of a version's inputs";
  const role: unknown = readForeign(() => roleOfRow(input), "unknown-operator", none, "input");
  if (typeof role === "string") return role as Role;
  throw wrongValue("unknown-operator", none, input, { key: "input" });
}

/**
 * Returns the data types that a version accepts for parameters of type `type`.
 *
 * @param version an operator version that `operators` or `resolve` returned
 * @param type the name of a type constraint, such as `T`, or of a data type
 * @throws TensorError `unknown-operator` if `version` is not a version of an operator
 *
 * @example
 * ```ts
 * typesOf(resolve({ op: "ScatterND", opset: 18 }), "T").includes("bfloat16"); // true
 * ```
 */
export const typesOf = (version: OperatorVersion, type: string): readonly string[] =>
  typesIn(rowFrom(version), type);

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

/**
 * Returns the additions, removals and changes from one version to another, of the same operator or of different
 * operators. Lists of words and data types are compared as sets; lists of named records are compared by name.
 *
 * @param from the earlier version, which `operators` or `resolve` returned
 * @param to the later version
 * @throws TensorError `unknown-operator` if an argument is not a version of an operator
 *
 * @example
 * ```ts
 * const before = resolve({ op: "ScatterND", opset: 16 });
 * const after = resolve({ op: "ScatterND", opset: 18 });
 * const added = compareVersions(before, after).filter(({ kind }) => kind === "added");
 * added.map(({ path }) => path.split(".").at(-1)); // ["max", "min"]
 * ```
 */
export const compareVersions = (from: OperatorVersion, to: OperatorVersion): VersionChange[] =>
  changes("", rowFrom(from), rowFrom(to));

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

/** Returns a row of the registry unchanged; copies a version from any other source. */
function rowFrom(given: OperatorVersion): OperatorVersion {
  if (operators().includes(given)) return given;
  const none =
    "the version must come from operators() or resolve(), or be a copy of such a version";
  const row = readForeign(
    () => plainCopy(given),
    "unknown-operator",
    `${none} that can be read`,
    "version",
  );
  if (isVersion(row)) return row;
  throw wrongValue("unknown-operator", none, given, { key: "version" });
}

/** Copies nested lists and objects, with size limits, because a list may contain itself or report a false length. */
function plainCopy(given: unknown): unknown {
  let count = 0;
  const copy = (value: unknown, level: number): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const keys = isArray(value)
      ? Array.from({ length: lengthOf(value) }, (_, p) => p)
      : Object.keys(value);
    count += keys.length;
    if (count > MOST_VALUES || level > MOST_LEVELS) throw new RangeError("too large for a row");
    const entries = keys.map((key) => [key, copy(Reflect.get(value, key), level + 1)] as const);
    return isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries);
  };
  return copy(given, 0);
}

const lengthOf = (list: readonly unknown[]): number =>
  Math.min(Number(list.length), MOST_VALUES + 1);

/** Returns true if a row has the fields that this file reads. */
function isVersion(row: unknown): row is OperatorVersion {
  if (typeof row !== "object" || row === null || !("name" in row && "typeConstraints" in row)) {
    return false;
  }
  const { name, typeConstraints: constraints } = row;
  return typeof name === "string" && isArray(constraints) && constraints.every(isConstraint);
}

const isConstraint = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "types" in value && isArray(value.types);
