/** Describes a Zarr group, as data and as text. */

import { printCount } from "../../core/foreign.ts";
import { isTensorError } from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import { openGroup, type GroupMember, type ZarrGroup } from "../../entries/zarr.ts";
import { shownUrl } from "../../arrays/boxes/urls.ts";
import { failureAt } from "./array-facts.ts";
import type { Io } from "../io.ts";
import { placeOf } from "../input/places.ts";
import { escapeControls, printTable } from "../text/layout.ts";

export interface GroupFacts {
  readonly path: string;
  /** The Zarr format version. */
  readonly version: number;
  readonly attributes: object;
  /** True if the group's consolidated metadata lists the members. */
  readonly consolidated: boolean;
  readonly members: readonly MemberFacts[];
}

interface MemberFacts {
  readonly name: string;
  readonly kind: "array" | "group";
  /** The data type and shape from the member's metadata. */
  readonly dtype?: unknown;
  readonly shape?: unknown;
}

/**
 * Describes a group, or returns null if the path does not contain a group. Throws a `Failure` if the group cannot be
 * read.
 */
export async function groupFactsOf(io: Io, name: string): Promise<GroupFacts | null> {
  const group = await groupAt(io, name);
  if (group === null) return null;
  try {
    const members = await group.members();
    const { version, attributes, isConsolidated: consolidated } = group;
    return {
      path: shownUrl(name),
      version,
      attributes,
      consolidated,
      members: members.map(memberFacts),
    };
  } catch (error) {
    throw failureAt(io, name, error);
  }
}

/** Opens a group, or returns null for any other path, because opening that path as an array gives a better error. */
async function groupAt(io: Io, name: string): Promise<ZarrGroup | null> {
  try {
    return await openGroup(placeOf(io, name));
  } catch (error) {
    // An error of any other kind comes from an existing group.
    const isOther = isTensorError(error, "malformed-file", "unsupported-file");
    if (isOther && error.expected === "group") return null;
    throw failureAt(io, name, error);
  }
}

/** Consolidates the metadata of a group, and returns a line with the number of members. */
export async function consolidateNamed(io: Io, name: string): Promise<string> {
  try {
    const group = await (await openGroup(placeOf(io, name))).consolidate();
    const count = printCount((await group.members()).length, "member");
    return `${name}: the metadata of the group describes ${count}`;
  } catch (error) {
    throw failureAt(io, name, error);
  }
}

const memberFacts = ({ name, kind, metadata }: GroupMember): MemberFacts => {
  const { data_type: type, dtype = type, shape } = metadata;
  return { name, kind, ...(kind === "array" && { dtype, shape }) };
};

export function printGroup(facts: GroupFacts): string {
  const { path: name, version, consolidated, members, attributes } = facts;
  const rows = members.map(({ name: one, kind, dtype, shape }) => [
    `  ${escapeControls(one)}`,
    kind === "group" ? "group" : escapeControls(`${printWord(dtype)} ${printDims(shape)}`),
  ]);
  const names = Object.keys(attributes);
  const end = consolidated ? " and consolidated metadata" : "";
  const head = `${name} is a Zarr v${version} group with ${printCount(members.length, "member")}${end}`;
  const rest = names.length === 0 ? [] : [["  attributes", escapeControls(names.join(", "))]];
  return `${head}\n${printTable([...rows, ...rest])}`;
}

const printWord = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);

const printDims = (shape: unknown): string =>
  Array.isArray(shape) && shape.every((dim) => typeof dim === "number") ? printShape(shape) : "";
