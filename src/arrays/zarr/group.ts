/**
 * Opens Zarr groups, which are folders that contain arrays and groups. Consolidated metadata lists all members of a
 * group in one file, which servers without listings need.
 */

import { factOf, optionsOf, printValue, wrongValue } from "../../core/foreign.ts";
import type { ChunkedArray } from "../boxes/array.ts";
import { malformed, unsupported } from "../../core/errors.ts";
import { objectIn } from "./fields.ts";
import { isObject, parseJson, type JsonObject } from "./json.ts";
import { checkNode, parseAttributes, wrongFormat } from "./metadata.ts";
import { moduleOfNode } from "../boxes/node.ts";
import { within } from "../boxes/urls.ts";
import { absentGroup } from "./absent.ts";
import { storeOf, type Location } from "./locate.ts";
import { openArray } from "./open.ts";
import { Forbidden, readKey } from "./read-key.ts";
import { STORE_OPTIONS, type StoreOptions } from "./stores/store-options.ts";
import { STAGING, type ArrayStore } from "./stores/store.ts";

/** Options of `openGroup`, which also apply to the arrays of the group. */
export type GroupOptions = StoreOptions;

/** An array or a group inside a group, at any depth. */
export interface GroupMember {
  /** The path of the member: the names of enclosing groups and the member's name, separated by slashes. */
  readonly name: string;
  readonly kind: "array" | "group";
}

/** A Zarr v3 or v2 group. Returned by `openGroup`. */
export interface ZarrGroup {
  /** An absolute path, or a URL. */
  readonly path: string;
  /** The Zarr version. */
  readonly version: 2 | 3;
  readonly attributes: JsonObject;
  /**
   * Lists all arrays and groups below this group, sorted by name. The list comes from the consolidated metadata, which
   * may be outdated, or, without such metadata, from a search of the store.
   * @throws TensorError `engine` if the group has no consolidated metadata and the server cannot list objects
   */
  members(): Promise<readonly GroupMember[]>;
  /**
   * Opens an array below this group by name. The array's own metadata is read.
   * @throws TensorError `attribute` for a name that leads out of the group; the errors of `openArray`
   */
  open(name: string): Promise<ChunkedArray>;
}

/**
 * Opens a Zarr v3 or v2 group.
 *
 * @param location a path or a URL, which may name a group in an archive, such as `x.zip/weather`; or a store of the caller
 * @param options settings for the store
 * @throws TensorError `malformed-file` unless the location holds a group, `unsupported-file` for an array and for
 *   features that are not supported
 *
 * @example
 * ```ts
 * const metadata = '{"zarr_format": 3, "node_type": "group", "attributes": {"title": "weather"}}';
 * const store = new Map([["zarr.json", new TextEncoder().encode(metadata)]]);
 * await createArray(store, { path: "rain", dtype: "int32", shape: [2], chunkShape: [2] });
 * console.log(await (await openGroup(store)).members()); // [{ name: "rain", kind: "array" }]
 * ```
 */
export async function openGroup(
  location: Location,
  options: GroupOptions = {},
): Promise<ZarrGroup> {
  const given = optionsOf(options, STORE_OPTIONS, {}) as GroupOptions;
  const store = await storeOf(location, given);
  const own = await readGroup(store);
  if (own === null) throw await absentGroup(store);
  const { version, attributes, members } = own;
  return {
    ...{ path: store.path, version, attributes },
    members: async () => members ?? findMembers(store, version),
    async open(name) {
      if (typeof name !== "string" || !isInside(name)) {
        const must = `the name of an array in a group must be a path such as "temperature" or "a/b"`;
        throw wrongValue("attribute", must, name, { key: "name" });
      }
      if (typeof location === "string") return openArray(within(location, name), given);
      return openArray(location, { ...given, path: [given.path, name].filter(Boolean).join("/") });
    },
  };
}

/** Reads a metadata object, or returns null if the object does not exist. */
async function readMetadata(
  store: ArrayStore,
  key: string,
  read: Forbidden["read"] = readKey,
): Promise<JsonObject | null> {
  const text = await read(store, key, (name) => store.open(name));
  return text === null ? null : parseJson(text, `${key} of ${store.path}`);
}

/**
 * Reads the metadata of the group in a store, or returns null without a group. `members` are those in the consolidated
 * metadata, or null without consolidated metadata.
 */
async function readGroup(store: ArrayStore) {
  const forbidden = new Forbidden();
  const read: Forbidden["read"] = (...given) => forbidden.read(...given);
  const { path } = store;
  const json = await readMetadata(store, "zarr.json", read);
  if (json !== null) {
    checkNode(json, "group", "; name the group around it", path);
    const attributes = parseAttributes(json.attributes, path);
    // Consolidated metadata of an unknown kind is ignored.
    const { consolidated_metadata: list } = json;
    const isInline = isObject(list) && list.kind === "inline";
    return { version: 3, attributes, members: isInline ? membersIn(list, 3, path) : null } as const;
  }
  const old = await readMetadata(store, ".zgroup", read);
  if (old === null) {
    forbidden.check();
    return null;
  }
  if (old.zarr_format !== 2) throw wrongFormat(".zgroup", old, path, [2]);
  const attributes = (await readMetadata(store, ".zattrs", read)) ?? {};
  const list = await readMetadata(store, ".zmetadata", read);
  return { version: 2, attributes, members: list && membersIn(list, 2, path) } as const;
}

/**
 * Returns the members in consolidated metadata, which maps names of members to metadata or, in Zarr v2, names of
 * metadata files to their contents.
 */
function membersIn(list: JsonObject, version: 2 | 3, where: string): GroupMember[] {
  const title = `consolidated metadata of ${where}`;
  const all = Object.entries(objectIn(list.metadata, "metadata", `the ${title}`));
  const isOld = version === 2;
  const members = all.flatMap(([key, metadata]): GroupMember[] => {
    const [, name, file] = isOld ? (/^(.+)\/\.z(array|group)$/s.exec(key) ?? []) : ["", key];
    if (name === undefined || (isOld && !isObject(metadata))) return [];
    const kind = isOld ? file : isObject(metadata) && metadata.node_type;
    if (isKind(kind) && isInside(name)) return [{ name, kind }];
    throw malformed(`the ${title} must name members of the group, got ${printValue(key)}`);
  });
  return members.toSorted(byName);
}

const byName = (a: GroupMember, b: GroupMember): number => (a.name < b.name ? -1 : 1);

const isKind = (kind: unknown): kind is GroupMember["kind"] => kind === "array" || kind === "group";

/**
 * The maximum depth of nested groups; real files have two or three levels. Without this limit, a link to a parent
 * folder would be followed endlessly.
 */
const MAX_DEPTH = 16;

/** Finds the arrays and groups below a group, without searching inside arrays. */
async function findMembers(store: ArrayStore, version: 2 | 3): Promise<GroupMember[]> {
  const found: GroupMember[] = [];
  const prefixes = [""];
  // Depth first, so that an endless link reaches the limit soon.
  for (let prefix = prefixes.pop(); prefix !== undefined; prefix = prefixes.pop()) {
    if (prefix.split("/").length > MAX_DEPTH) {
      const sentence = `the groups of ${store.path} are nested more than ${MAX_DEPTH} levels deep`;
      throw unsupported(sentence, { file: store.path, limit: MAX_DEPTH });
    }
    // oxlint-disable-next-line no-await-in-loop
    for (const folder of await store.folders(prefix)) {
      const name = `${prefix}${folder}`;
      // oxlint-disable-next-line no-await-in-loop
      const kind = folder === STAGING ? null : await kindOf(store, version, name);
      if (kind === null) continue;
      if (!isInside(folder)) {
        const sentence = `${store.path} has a member ${printValue(name)}, which cannot be opened by this name`;
        throw unsupported(`${sentence}; rename its folder`);
      }
      found.push({ name, kind });
      if (kind === "group") prefixes.push(`${name}/`);
    }
  }
  return found.toSorted(byName);
}

/** Returns the kind of the node in a folder, or null for a folder without metadata. */
async function kindOf(
  store: ArrayStore,
  version: 2 | 3,
  name: string,
): Promise<GroupMember["kind"] | null> {
  for (const file of version === 3 ? ["zarr.json"] : [".zarray", ".zgroup"]) {
    // oxlint-disable-next-line no-await-in-loop
    const metadata = await readMetadata(store, `${name}/${file}`);
    if (metadata === null) continue;
    const kind = version === 3 ? metadata.node_type : file.slice(2);
    if (isKind(kind)) return kind;
    const allowed = ["array", "group"];
    const sentence = `${name} of ${store.path} must be "array" or "group", got ${printValue(kind)}`;
    throw malformed(sentence, { key: name, file: store.path, got: factOf(kind), allowed });
  }
  return null;
}

/**
 * Returns true if a member's name does not lead out of the group. Names come from a file and become paths, so they must
 * be checked. Colons are rejected, because on Windows a colon follows a drive letter or precedes a stream name.
 */
const isInside = (name: string): boolean => {
  const odd = moduleOfNode("node:path")?.sep === "\\" ? /[\\\0:]/ : /[\\\0]/;
  return name.split("/").every((part) => part !== "" && !/^\.+$/.test(part) && !odd.test(part));
};
