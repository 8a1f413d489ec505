/**
 * Opens and creates Zarr groups, which are folders that contain arrays and groups. The file also reads and writes
 * consolidated metadata, which lists all members of a group.
 */

import { factOf, optionsOf, printValue, type Signal, wrongValue } from "../../core/foreign.ts";
import type { ChunkedArray } from "../boxes/array.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import {
  isObject,
  MAX_JSON_BYTES,
  parseJson,
  printJson,
  withMember,
  type JsonObject,
} from "./json.ts";
import { newAttributes, parseAttributes, wrongFormat } from "./metadata.ts";
import { moduleOfNode } from "../boxes/node.ts";
import { within } from "../boxes/urls.ts";
import { absentGroup, unblocked } from "./absent.ts";
import { encodeText, openArray, storeOf } from "./open.ts";
import { isFree } from "./room.ts";
import { Forbidden, readKey } from "./read-key.ts";
import type { S3Options } from "./stores/s3-options.ts";
import type { Source, Store } from "./stores/store.ts";

/** Options of `openGroup`. */
export interface GroupOptions {
  /** The settings for `s3://bucket/key` and `https://` URLs. */
  readonly s3?: S3Options | undefined;
  /**
   * A signal that aborts requests to servers and the waits between requests, even during later operations on the group.
   */
  readonly signal?: Signal | undefined;
}

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
  readonly #store: Store;
  readonly #own: OwnMetadata;
  readonly #opened: Opened;

  /** For internal use. */
  constructor(store: Store, own: OwnMetadata, opened: Opened) {
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
    checkName(name);
    const { location, options } = this.#opened;
    return openArray(within(location, name), options);
  }

  /**
   * Writes the metadata of all members into the group's metadata, so that readers need only one request.
   * @returns the updated group
   * @throws TensorError `too-large` if the metadata exceeds the size limit of a file
   */
  async consolidate(): Promise<ZarrGroup> {
    const store = this.#store;
    const members = await findMembers(store, this.version);
    const { key, text } = await (this.version === 3 ? newList : oldList)(store, members);
    if (text.length > MAX_JSON_BYTES) {
      const sentence = `the metadata of the ${members.length} members of ${store.path} take ${text.length} bytes`;
      const must = `a metadata file may have at most ${MAX_JSON_BYTES}; consolidate its subgroups instead`;
      throw new TensorError("too-large", `${sentence}, but ${must}`, {
        file: store.path,
        got: text.length,
        limit: MAX_JSON_BYTES,
      });
    }
    // Metadata that would be nested too deeply is rejected here, because the group could not be opened afterwards.
    parseJson(text, `${key} of ${store.path}`);
    await store.put(key, [text], true);
    return openGroup(this.#opened.location, this.#opened.options);
  }
}

/** The options with which a group was opened, and which also apply to its arrays. */
interface Opened {
  readonly location: string;
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
 * @param location a path, or a URL of an object store
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
export async function openGroup(location: string, options: GroupOptions = {}): Promise<ZarrGroup> {
  const given = optionsOf(options, ["s3", "signal"], {}) as GroupOptions;
  const store = await storeOf(location, given.s3, given.signal);
  const own = await readGroup(store, "");
  if (own !== null) return new ZarrGroup(store, own, { location, options: given });
  throw await absentGroup(store);
}

/**
 * Creates an empty Zarr v3 group. To create an array or a group inside a group, use its path.
 *
 * @param location a path, or a URL of an object store
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
  location: string,
  options: CreateGroupOptions = {},
): Promise<ZarrGroup> {
  const names = ["attributes", "s3", "signal"];
  const own = optionsOf(options, names, {}, "options", { attrs: "attributes" });
  const { attributes = {}, ...given } = own as CreateGroupOptions;
  const store = await storeOf(location, given.s3, given.signal);
  const json = { zarr_format: 3, node_type: "group", attributes: newAttributes(attributes) };
  const text = encodeText(`${printJson(json)}\n`);
  if ((await isFree(store)) && (await unblocked(store, () => store.putNew("zarr.json", [text]))))
    return openGroup(location, given);
  throw new TensorError(
    "attribute",
    `${store.path} already holds an array or a group; choose another path`,
    { key: "location", file: store.path },
  );
}

const readMetadata = async (
  store: Store,
  key: string,
  forbidden?: Forbidden,
): Promise<JsonObject | null> => {
  const open = (name: string): Promise<Source | null> => store.open(name);
  const text =
    forbidden === undefined
      ? await readKey(store, key, open)
      : await forbidden.read(store, key, open);
  return text === null ? null : parseJson(text, `${key} of ${store.path}`);
};

/** Reads the text of a metadata object, or returns null if the object does not exist. */
async function readText(store: Store, key: string): Promise<string | null> {
  const text = await readKey(store, key, (name) => store.open(name));
  if (text === null) return null;
  parseJson(text, `${key} of ${store.path}`);
  return new TextDecoder().decode(text);
}

/** Reads the metadata of the group at `prefix`, or returns null without a group. */
async function readGroup(store: Store, prefix: string): Promise<OwnMetadata | null> {
  const forbidden = new Forbidden();
  const json = await readMetadata(store, `${prefix}zarr.json`, forbidden);
  if (json !== null) return parseGroup(json, store.path + prefix);
  const old = await readMetadata(store, `${prefix}.zgroup`, forbidden);
  if (old === null) {
    forbidden.check();
    return null;
  }
  if (old.zarr_format !== 2) throw wrongFormat(".zgroup", old, store.path, [2]);
  const attributes = (await readMetadata(store, `${prefix}.zattrs`, forbidden)) ?? {};
  const list = await readMetadata(store, `${prefix}.zmetadata`, forbidden);
  const members = list === null ? null : parseOldList(list, store.path);
  return { version: 2, attributes, members };
}

function parseGroup(json: JsonObject, where: string): OwnMetadata {
  if (json.zarr_format !== 3) throw wrongFormat(null, json, where, [2, 3]);
  if (json.node_type !== "group") {
    const refuse = json.node_type === "array" ? unsupported : malformed;
    throw refuse(
      `${where} must be a group, got ${printValue(json.node_type)}; name the group around it`,
      { key: "node_type", file: where, got: factOf(json.node_type), expected: "group" },
    );
  }
  const attributes = parseAttributes(json.attributes, where);
  const { consolidated_metadata: list } = json;
  const members = list === undefined || list === null ? null : parseInline(list, where);
  return { version: 3, attributes, members };
}

/** Parses the list of members in a group's metadata. Consolidated metadata of an unknown kind is ignored. */
function parseInline(list: unknown, where: string): GroupMember[] | null {
  const { kind, metadata } = isObject(list as JsonObject) ? (list as JsonObject) : {};
  if (kind !== "inline") return null;
  if (!isObject(metadata))
    throw malformed(`the consolidated metadata of ${where} must have an object "metadata"`);
  return Object.entries(metadata)
    .map(([name, one]) => {
      const isNode = isObject(one) && (one.node_type === "array" || one.node_type === "group");
      if (!isNode || !isInside(name)) {
        throw malformed(
          `the consolidated metadata of ${where} must name members of the group, got ${printValue(name)}`,
        );
      }
      return { name, kind: one.node_type as GroupMember["kind"], metadata: one };
    })
    .toSorted(byName);
}

/** Parses the members in a Zarr v2 file `.zmetadata`, which maps file names to contents. */
function parseOldList({ metadata }: JsonObject, where: string): GroupMember[] {
  if (!isObject(metadata))
    throw malformed(`the .zmetadata of ${where} must have an object "metadata"`);
  return Object.entries(metadata)
    .flatMap(([key, one]): GroupMember[] => {
      const [, name, file] = /^(.+)\/(\.zarray|\.zgroup)$/s.exec(key) ?? [];
      if (name === undefined || !isObject(one)) return [];
      if (!isInside(name))
        throw malformed(
          `the .zmetadata of ${where} must name members of the group, got ${printValue(key)}`,
        );
      return [{ name, kind: file === ".zarray" ? "array" : "group", metadata: one }];
    })
    .toSorted(byName);
}

/** A file with consolidated metadata. */
interface MemberList {
  readonly key: string;
  readonly text: Uint8Array;
}

type Listed = Pick<GroupMember, "name" | "kind">;

/** Returns a group's `zarr.json` with a list of the group's members. */
async function newList(store: Store, members: readonly Listed[]): Promise<MemberList> {
  const [key, file] = ["zarr.json", `zarr.json of ${store.path}`];
  const metadata = await textsOf(
    store,
    members.map(({ name }) => [name, `${name}/${key}`]),
  );
  const list = `{"kind": "inline", "must_understand": false, "metadata": ${metadata}}`;
  const own = (await readText(store, key)) ?? "";
  return { key, text: withMember(encodeText(own), file, "consolidated_metadata", list) };
}

/** Returns the `.zmetadata` of a Zarr v2 group. */
async function oldList(store: Store, members: readonly Listed[]): Promise<MemberList> {
  const keys = members.flatMap(({ name, kind }) => [
    `${name}/${kind === "array" ? ".zarray" : ".zgroup"}`,
    `${name}/.zattrs`,
  ]);
  const metadata = await textsOf(
    store,
    [".zgroup", ".zattrs", ...keys].map((key) => [key, key]),
  );
  const text = `{"zarr_consolidated_format": 1, "metadata": ${metadata}}\n`;
  return { key: ".zmetadata", text: encodeText(text) };
}

/**
 * Reads the metadata at several keys into a JSON object. The text of each file is copied without parsing, because a
 * number that is parsed and printed again may change its meaning.
 */
async function textsOf(
  store: Store,
  keys: readonly (readonly [name: string, key: string])[],
): Promise<string> {
  const all: string[] = [];
  for (const [name, key] of keys) {
    // oxlint-disable-next-line no-await-in-loop
    const text = await readText(store, key);
    if (text !== null) all.push(`\n${JSON.stringify(name)}: ${text.trim()}`);
  }
  return `{${all.join(",")}\n}`;
}

const byName = (a: GroupMember, b: GroupMember): number => (a.name < b.name ? -1 : 1);

/**
 * The maximum depth of nested groups; real files have two or three levels. Without this limit, a link to a parent
 * folder would be followed endlessly.
 */
const MAX_DEPTH = 16;

/** Finds the arrays and groups below a group, without searching inside arrays. */
async function findMembers(store: Store, version: 2 | 3, prefix = ""): Promise<GroupMember[]> {
  if (prefix.split("/").length > MAX_DEPTH) {
    throw unsupported(`the groups of ${store.path} are nested more than ${MAX_DEPTH} levels deep`, {
      file: store.path,
      limit: MAX_DEPTH,
    });
  }
  const found: GroupMember[] = [];
  for (const name of (await store.folders(prefix)).toSorted()) {
    if (name === ".ndscatter") continue;
    const place = `${prefix}${name}`;
    // oxlint-disable-next-line no-await-in-loop
    const member = await readMember(store, version, place);
    if (member === null) continue;
    if (!isInside(name)) {
      const sentence = `${store.path} has a member ${printValue(place)}, which cannot be opened by this name`;
      throw unsupported(`${sentence}; rename its folder`);
    }
    found.push(member);
    // oxlint-disable-next-line no-await-in-loop
    const below = member.kind === "group" ? await findMembers(store, version, `${place}/`) : [];
    // The loop replaces spread syntax, because calls accept only about a hundred thousand arguments.
    for (const one of below) found.push(one);
  }
  return prefix === "" ? found.toSorted(byName) : found;
}

async function readMember(store: Store, version: 2 | 3, name: string): Promise<GroupMember | null> {
  if (version === 3) {
    const metadata = await readMetadata(store, `${name}/zarr.json`);
    if (metadata === null) return null;
    const { node_type: kind } = metadata;
    if (kind !== "array" && kind !== "group")
      throw malformed(
        `${name} of ${store.path} must be "array" or "group", got ${printValue(kind)}`,
        { key: name, file: store.path, got: factOf(kind), allowed: ["array", "group"] },
      );
    return { name, kind, metadata };
  }
  const array = await readMetadata(store, `${name}/.zarray`);
  if (array !== null) return { name, kind: "array", metadata: array };
  const group = await readMetadata(store, `${name}/.zgroup`);
  return group === null ? null : { name, kind: "group", metadata: group };
}

/**
 * Returns true if a member's name does not lead out of the group. Names come from a file and become paths, so they must
 * be checked. Colons are rejected, because on Windows a colon follows a drive letter or precedes a stream name.
 */
const isInside = (name: string): boolean => {
  const odd = moduleOfNode("node:path")?.sep === "\\" ? /[\\\0:]/ : /[\\\0]/;
  return name.split("/").every((part) => part !== "" && !/^\.+$/.test(part) && !odd.test(part));
};

function checkName(name: unknown): asserts name is string {
  if (typeof name === "string" && isInside(name)) return;
  throw wrongValue(
    "attribute",
    `the name of an array in a group must be a path such as "temperature" or "a/b"`,
    name,
    { key: "name" },
  );
}
