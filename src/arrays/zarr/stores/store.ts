/**
 * Declares the interface of stores as arrays use them. A store contains objects of bytes under keys. A key is the name
 * of a metadata file or contains the coordinates of a chunk. `own-store.ts` has the smaller interface for callers.
 */

import { newBytes } from "../chunks/buffers.ts";
import type { Ranges } from "../../boxes/runs.ts";
import { within } from "../../boxes/urls.ts";
import { factOf, printValue } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";

/**
 * Readable bytes: an object, a part of an object, or bytes in memory. With this interface, inner chunks of a shard are
 * read like chunks.
 */
export interface Source {
  /** Size, in bytes. */
  readonly size: number;
  /** The bytes if they are in memory, and otherwise null. */
  readonly bytes: Uint8Array | null;
  /** Fills `into` with bytes, beginning at `offset`. Callers must check the range against `size`. */
  read(offset: number, into: Uint8Array): Promise<void>;
  /** Fills `into` with byte ranges, one after another. Absent unless the source is a file. */
  readRanges?(ranges: Ranges, into: Uint8Array): Promise<void>;
  /** Text that changes with a file, which must not stay open; absent if the source itself notices a change. */
  readonly state?: string;
  close(): Promise<void>;
}

export interface StoredObject {
  readonly key: string;
  /** Size, in bytes. */
  readonly size: number;
}

export interface ArrayStore {
  /** An absolute path, or a URL. */
  readonly path: string;
  /** The maximum number of concurrent requests. */
  readonly concurrency: number;
  /** Returns null if the object does not exist. `isForMany` is true for many short reads. */
  open(key: string, isForMany?: boolean): Promise<Source | null>;
  /**
   * Returns text that changes whenever an object changes: size and time, or the ETag. Without an object, the text is
   * empty.
   */
  stateOf(key: string): Promise<string>;
  /** Returns the size of an object, in bytes, or null without an object. */
  sizeOf(key: string): Promise<number | null>;
  /**
   * Writes an object from parts, atomically. If `isDurable` is true, the bytes are synced before they replace the
   * object; otherwise a crash may empty it.
   */
  put(key: string, parts: readonly Uint8Array[], isDurable?: boolean): Promise<void>;
  /** Creates an object like `put`. If the object already exists, returns false without changing it. */
  putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /** Removes an object, if it exists. */
  remove(key: string): Promise<void>;
  /** Removes the array in this store, beginning with the metadata. */
  clear(): Promise<void>;
  /** Lists the distinct names that follow `prefix` in keys, up to the next slash. */
  folders(prefix: string): Promise<readonly string[]>;
  /** Lists all objects, including objects that do not belong to an array. */
  list(): AsyncIterable<StoredObject>;
  /**
   * Returns "folder", the first bytes of a file, or null for nothing at the store's path; undefined on servers, where
   * folders exist only in names.
   */
  peek?(length: number): Promise<"folder" | Uint8Array | null>;
  /** The names of the members of an archive. */
  readonly members?: readonly string[];
  /** True after the server has sent an HTML page instead of a missing object; undefined without a server. */
  readonly sendsPages?: boolean;
  /** The staging operations, or undefined if the store can neither rename nor copy objects. */
  readonly staging?: Staging;
}

/** Returns true for a key of an array or of its hidden files, in Zarr v2 and v3. */
export const isOfArray = (key: string): boolean =>
  /^(?:zarr\.json|\.zarray|\.zattrs|\.ndscatter|c|c(?:\.\d+)+|\d+(?:\.\d+)*)(?:\/|$)/.test(key);

/** Returns the distinct names that follow `prefix` in keys that begin with it, up to the next slash. */
export async function foldersIn(
  keys: Iterable<string> | AsyncIterable<string>,
  prefix: string,
): Promise<string[]> {
  const names = new Set<string>();
  for await (const key of keys) {
    const end = key.startsWith(prefix) ? key.indexOf("/", prefix.length) : -1;
    if (end !== -1) names.add(key.slice(prefix.length, end));
  }
  return [...names];
}

/** Returns the error for a path or a URL that does not fit an option. `why` follows the path in the sentence. */
export const unfit = (file: string, why: string, key = "location"): TensorError =>
  new TensorError("attribute", `${file} ${why}`, { key, file });

/** Returns the error for writing to a store that can only be read. */
export const readOnly = ({ path }: Pick<ArrayStore, "path">): TensorError =>
  unfit(path, "can only be read; write to a folder or to s3://");

/** The part of a store that can only be read, and whose objects are known. `folder` contains the store's keys. */
export abstract class ReadOnlyStore<T> {
  readonly path: string;
  readonly #prefix: string;
  readonly #objects: ReadonlyMap<string, T>;

  constructor(file: string, folder: string, objects: ReadonlyMap<string, T>) {
    this.path = folder === "" ? file : within(file, folder);
    this.#prefix = folder === "" ? "" : `${folder}/`;
    this.#objects = objects;
  }

  abstract sizeOf(key: string): Promise<number | null>;

  protected find(key: string): T | undefined {
    return this.#objects.get(this.#prefix + key);
  }

  *#keys(): Iterable<string> {
    for (const name of this.#objects.keys())
      if (name.startsWith(this.#prefix)) yield name.slice(this.#prefix.length);
  }

  async peek(): Promise<"folder"> {
    return "folder";
  }

  async put(): Promise<never> {
    throw readOnly(this);
  }

  putNew(): Promise<never> {
    return this.put();
  }

  remove(): Promise<never> {
    return this.put();
  }

  clear(): Promise<never> {
    return this.put();
  }

  folders(prefix: string): Promise<readonly string[]> {
    return foldersIn(this.#keys(), prefix);
  }

  async *list(): AsyncGenerator<StoredObject> {
    for (const key of this.#keys()) yield { key, size: (await this.sizeOf(key)) ?? 0 };
  }
}

/** The folder within an array's folder that contains hidden files. */
export const STAGING = ".ndscatter";

/** The file in the folder `STAGING` that names the owner of the array, which is a job. */
export const CLAIM = "job";

/** The folder within `STAGING` in which jobs record changes in place. */
export const CHANGED = "changed";

/** The file in the folder `STAGING` that marks an array as partly changed, and counts the changed chunks in JSON. */
export const PARTIAL = "partial";

/** The operations on staged objects, which readers ignore. Callers must check all names. */
export interface Staging {
  open(name: string): Promise<Source | null>;
  /** Lists the names in a folder; undefined in stores whose arrays are never changed in place. */
  names?(folder: string): Promise<readonly string[]>;
  /** Syncs the object to disk. */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>;
  putNew(name: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /**
   * Copies an object from another store of the same kind. `most` is the maximum size of the object, in bytes, because a
   * shard from another encoder may have gaps. Returns false if the object does not exist or exceeds `most`.
   */
  copy(from: ArrayStore, key: string, name: string, most?: number): Promise<boolean>;
  /** Returns false if nothing is staged as `name`. */
  publish(name: string, key: string): Promise<boolean>;
  /**
   * Publishes like `publish`, but without replacing an object; undefined if objects may be replaced. Throws an
   * `attribute` error if another object exists under the key.
   */
  publishNew?(name: string, key: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  end(): Promise<void>;
}

/** Returns the end of a sentence about a missing object, which mentions an HTML page. */
export const orPage = ({ sendsPages }: ArrayStore): string =>
  sendsPages === true ? "; its server sends an HTML page instead, so check the URL" : "";

/** Converts bytes in memory to a source. */
export const memorySource = (bytes: Uint8Array): Source => ({
  size: bytes.length,
  bytes,
  async read(offset, into) {
    into.set(bytes.subarray(offset, offset + into.length));
  },
  async close() {},
});

/**
 * Converts `size` bytes at `offset` of a source to another source. Closing the part does not close the whole source.
 */
export function partOfSource(source: Source, offset: number, size: number): Source {
  if (source.bytes !== null) return memorySource(source.bytes.subarray(offset, offset + size));
  const { readRanges } = source;
  return {
    ...{ size, bytes: null, close: async () => {} },
    read: (at, into) => source.read(offset + at, into),
    ...(readRanges && {
      readRanges: ({ starts, lengths }, into) =>
        readRanges({ starts: starts.map((at) => offset + at), lengths }, into),
    }),
  };
}

/** Reads all bytes of a source. */
export async function readAll(
  source: Source,
  allocate: (size: number) => Uint8Array = newBytes,
): Promise<Uint8Array> {
  if (source.bytes !== null) return source.bytes;
  const bytes = allocate(source.size);
  await source.read(0, bytes);
  return bytes;
}

/**
 * Returns a store's operations for chunks that are staged under a name. Throws an `attribute` error for a name that is
 * not a valid file name, and for a store without staging.
 */
export function stagingOf({ staging }: ArrayStore, name: string): Staging {
  // A name may come from another machine and becomes a file name, so it must be checked.
  const isName = typeof name === "string" && /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(name);
  if (isName && staging !== undefined && name !== "zarr.json") return staging;
  const why = staging === undefined ? "only arrays in files can be staged" : "it is the metadata";
  const must = "must consist of letters, digits, dots, _ and -, and may not begin with a dot";
  const sentence = isName
    ? `a chunk cannot be staged as ${printValue(name)}: ${why}`
    : `the name ${printValue(name)} of a staged chunk ${must}`;
  throw new TensorError("attribute", sentence, { key: "name", got: factOf(name) });
}
