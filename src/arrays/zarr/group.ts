/**
 * Opens and creates Zarr groups, which are folders that contain arrays and groups. Consolidated metadata lists all
 * members of a group in one file.
 */

import { factOf, optionsOf, printValue, wrongValue } from "../../core/foreign.ts";
import type { ChunkedArray } from "../boxes/array.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { objectIn } from "./fields.ts";
import {
  isObject,
  MAX_JSON_BYTES,
  parseJson,
  printJson,
  withMember,
  type JsonObject,
} from "./json.ts";
import { checkNode, newAttributes, parseAttributes, wrongFormat } from "./metadata.ts";
import { moduleOfNode } from "../boxes/node.ts";
import { within } from "../boxes/urls.ts";
import { absentGroup, unblocked } from "./absent.ts";
import { storeOf, type Location } from "./locate.ts";
import { encodeText, openArray } from "./open.ts";
import { isFree } from "./room.ts";
import { Forbidden, readKey } from "./read-key.ts";
import { STORE_OPTIONS, type StoreOptions } from "./stores/store-options.ts";
import type { ArrayStore } from "./stores/store.ts";

/** Options of `openGroup`, which also apply to the arrays of the group. */
export type GroupOptions = StoreOptions;

/** Options of `createGroup`. */
export interface CreateGroupOptions extends GroupOptions {
  readonly attributes?: JsonObject | undefined;
}

/** An array or a group inside a group, at any depth. */
export interface GroupMember {
  /** The path of the member: the names of enclosing groups and the member's name, separated by slashes. */
  readonly name: string;
  readonly kind: "array" | "group";
  /** The metadata of the member; for an array, with its shape and data type. */
  readonly metadata: JsonObject;
}

/** A Zarr v3 or v2 group. Returned by `openGroup` and `createGroup`. */
export class ZarrGroup {
  /** An absolute path, or a URL. */
  readonly path: string;
  /** The Zarr version. */
  readonly version: 2 | 3;
  readonly attributes: JsonObject;
  /** True if the group has consolidated metadata, which may be outdated. */
  readonly isConsolidated: boolean;
  readonly #store: ArrayStore;
  readonly #own: OwnMetadata;
  readonly #opened: Opened;

  /** For internal use. */
  constructor(store: ArrayStore, own: OwnMetadata, opened: Opened) {
    this.path = store.path;
    this.version = own.version;
    this.attributes = own.attributes;
    this.isConsolidated = own.members !== null;
    this.#store = store;
    this.#own = own;
    this.#opened = opened;
  }

  /**
   * Lists all arrays and groups below this group, sorted by name. The list comes from the consolidated metadata or,
   * without such metadata, from a search of the store.
   * @throws TensorError `engine` if the group has no consolidated metadata and the server cannot list objects
   */
  async members(): Promise<readonly GroupMember[]> {
    return this.#own.members ?? findMembers(this.#store, this.version);
  }

  /**
   * Opens an array below this group by name. The array's own metadata is read, because consolidated metadata may be
   * outdated.
   * @throws TensorError `attribute` for a name that leads out of the group; the errors of `openArray`
   */
  async open(name: string): Promise<ChunkedArray> {
    if (typeof name !== "string" || !isInside(name)) {
      const must = `the name of an array in a group must be a path such as "temperature" or "a/b"`;
      throw wrongValue("attribute", must, name, { key: "name" });
    }
    const { location, options } = this.#opened;
    if (typeof location === "string") return openArray(within(location, name), options);
    const path = [options.path, name].filter(Boolean).join("/");
    return openArray(location, { ...options, path });
  }

  /**
   * Writes the metadata of all members into the group's metadata, so that readers need only one request.
   * @returns the updated group
   * @throws TensorError `too-large` if the metadata exceeds the size limit of a file
   */
  async consolidate(): Promise<ZarrGroup> {
    const store = this.#store;
    const [key, json] = await listIn(store, await findMembers(store, this.version), this.version);
    const text = encodeText(`${printJson(json)}\n`);
    if (text.length > MAX_JSON_BYTES) {
      const sentence = `the metadata of the members of ${store.path} take ${text.length} bytes`;
      const must = `a metadata file may have at most ${MAX_JSON_BYTES}; consolidate its subgroups instead`;
      const fields = { file: store.path, got: text.length, limit: MAX_JSON_BYTES };
      throw new TensorError("too-large", `${sentence}, but ${must}`, fields);
    }
    // Metadata that would be nested too deeply is rejected here, because the group could not be opened afterwards.
    parseJson(text, `${key} of ${store.path}`);
    await store.put(key, [text], true);
    return openGroup(this.#opened.location, this.#opened.options);
  }
}

/** The options with which a group was opened, and which also apply to its arrays. */
interface Opened {
  readonly location: Location;
  readonly options: GroupOptions;
}

interface OwnMetadata {
  readonly version: 2 | 3;
  readonly attributes: JsonObject;
  /** The members in the consolidated metadata, or null without consolidated metadata. */
  readonly members: readonly GroupMember[] | null;
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
 * await createGroup("g.zarr", { attributes: { title: "weather" } });
 * const { attributes, version } = await openGroup("g.zarr");
 * console.log(version, attributes["title"]); // 3 weather
 * ```
 */
export async function openGroup(
  location: Location,
  options: GroupOptions = {},
): Promise<ZarrGroup> {
  const given = optionsOf(options, STORE_OPTIONS, {}) as GroupOptions;
  const store = await storeOf(location, given);
  const own = await readGroup(store);
  if (own !== null) return new ZarrGroup(store, own, { location, options: given });
  throw await absentGroup(store);
}

/**
 * Creates an empty Zarr v3 group. To create an array or a group inside a group, use its path.
 *
 * @param location a path, a URL of an object store, or a store of the caller, which may be a Map
 * @param options the group's `attributes`, and settings for the store
 * @throws TensorError `attribute` if the location holds an array or a group, or an option is wrong
 *
 * @example
 * ```ts
 * const group = await createGroup("weather.zarr", { attributes: { title: "weather" } });
 * await createArray("weather.zarr/rain", { dtype: "int32", shape: [2], chunkShape: [2] });
 * console.log(group.attributes["title"]); // weather
 * ```
 */
export async function createGroup(
  location: Location,
  options: CreateGroupOptions = {},
): Promise<ZarrGroup> {
  const names = ["attributes", ...STORE_OPTIONS];
  const own = optionsOf(options, names, {}, "options", { attrs: "attributes" });
  const { attributes = {}, ...given } = own as CreateGroupOptions;
  const store = await storeOf(location, given);
  const json = { zarr_format: 3, node_type: "group", attributes: newAttributes(attributes) };
  const text = encodeText(`${printJson(json)}\n`);
  if ((await isFree(store)) && (await unblocked(store, () => store.putNew("zarr.json", [text]))))
    return openGroup(location, given);
  const sentence = `${store.path} already holds an array or a group; choose another path`;
  throw new TensorError("attribute", sentence, { key: "location", file: store.path });
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

/** Reads the metadata of the group in a store, or returns null without a group. */
async function readGroup(store: ArrayStore): Promise<OwnMetadata | null> {
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
    return { version: 3, attributes, members: isInline ? membersIn(list, 3, path) : null };
  }
  const old = await readMetadata(store, ".zgroup", read);
  if (old === null) {
    forbidden.check();
    return null;
  }
  if (old.zarr_format !== 2) throw wrongFormat(".zgroup", old, path, [2]);
  const attributes = (await readMetadata(store, ".zattrs", read)) ?? {};
  const list = await readMetadata(store, ".zmetadata", read);
  return { version: 2, attributes, members: list === null ? null : membersIn(list, 2, path) };
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
    if ((kind !== "array" && kind !== "group") || !isInside(name)) {
      throw malformed(`the ${title} must name members of the group, got ${printValue(key)}`);
    }
    return [{ name, kind, metadata: metadata as JsonObject }];
  });
  return members.toSorted(byName);
}

const byName = (a: GroupMember, b: GroupMember): number => (a.name < b.name ? -1 : 1);

/** Returns the key and the contents of the file that lists the members of a group. */
async function listIn(
  store: ArrayStore,
  members: readonly GroupMember[],
  version: 2 | 3,
): Promise<[key: string, json: JsonObject]> {
  if (version === 3) {
    const metadata = Object.fromEntries(members.map(({ name, metadata }) => [name, metadata]));
    const list = { kind: "inline", must_understand: false, metadata };
    const own = await readMetadata(store, "zarr.json");
    if (own === null) throw await absentGroup(store);
    return ["zarr.json", withMember(own, "consolidated_metadata", list)];
  }
  const files = members.map(({ name, kind, metadata }) => [`${name}/.z${kind}`, metadata] as const);
  const metadata = new Map<string, JsonObject>(files);
  for (const key of [".zgroup", ".zattrs", ...members.map(({ name }) => `${name}/.zattrs`)]) {
    // oxlint-disable-next-line no-await-in-loop
    const json = await readMetadata(store, key);
    if (json !== null) metadata.set(key, json);
  }
  return [".zmetadata", { zarr_consolidated_format: 1, metadata: Object.fromEntries(metadata) }];
}

/**
 * The maximum depth of nested groups; real files have two or three levels. Without this limit, a link to a parent
 * folder would be followed endlessly.
 */
const MAX_DEPTH = 16;

/** Finds the arrays and groups below a group, without searching inside arrays. */
async function findMembers(
  store: ArrayStore,
  version: 2 | 3,
  prefix = "",
  found: GroupMember[] = [],
): Promise<GroupMember[]> {
  if (prefix.split("/").length > MAX_DEPTH) {
    const sentence = `the groups of ${store.path} are nested more than ${MAX_DEPTH} levels deep`;
    throw unsupported(sentence, { file: store.path, limit: MAX_DEPTH });
  }
  for (const folder of await store.folders(prefix)) {
    const name = `${prefix}${folder}`;
    // oxlint-disable-next-line no-await-in-loop
    const member = folder === ".ndscatter" ? null : await readMember(store, version, name);
    if (member === null) continue;
    if (!isInside(folder)) {
      const sentence = `${store.path} has a member ${printValue(name)}, which cannot be opened by this name`;
      throw unsupported(`${sentence}; rename its folder`);
    }
    found.push(member);
    // oxlint-disable-next-line no-await-in-loop
    if (member.kind === "group") await findMembers(store, version, `${name}/`, found);
  }
  return found.toSorted(byName);
}

async function readMember(
  store: ArrayStore,
  version: 2 | 3,
  name: string,
): Promise<GroupMember | null> {
  const files = version === 3 ? ["zarr.json"] : [".zarray", ".zgroup"];
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop
    const metadata = await readMetadata(store, `${name}/${file}`);
    if (metadata === null) continue;
    const kind = version === 3 ? metadata.node_type : file.slice(2);
    if (kind === "array" || kind === "group") return { name, kind, metadata };
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
