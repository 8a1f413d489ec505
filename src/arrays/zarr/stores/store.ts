/**
 * Interface of stores for arrays: a store holds objects of bytes under keys. Keys consist of metadata names and
 * coordinates.
 */

import { factOf, printValue, TensorError } from "../../../core/errors.ts";

/**
 * Bytes that can be read: an object, a part of an object, or bytes in memory. Inner chunks of a shard are therefore
 * read like chunks.
 */
export interface Source {
  /** Size, in bytes. */
  readonly size: number;
  /** All bytes if they are in memory; otherwise null. */
  readonly bytes: Uint8Array | null;
  /** Fills `into` with the bytes that begin at `offset`. Callers check the range against `size`. */
  read(offset: number, into: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface StoredObject {
  readonly key: string;
  /** Size, in bytes. */
  readonly size: number;
}

export interface Store {
  /** An absolute path, or a URL. */
  readonly path: string;
  /** Maximum number of requests in progress at once. */
  readonly concurrency: number;
  /** Returns null if the object does not exist. */
  open(key: string): Promise<Source | null>;
  /**
   * Returns text that changes when an object changes: its size and time, or its ETag; empty if the object does not
   * exist.
   */
  stateOf(key: string): Promise<string>;
  /** Returns the size of an object, in bytes; null if the object does not exist. */
  sizeOf(key: string): Promise<number | null>;
  /**
   * Writes an object from parts, atomically. `isDurable` is true to sync the bytes before the object is replaced;
   * otherwise a crash may leave it empty.
   */
  put(key: string, parts: readonly Uint8Array[], isDurable?: boolean): Promise<void>;
  /** Creates an object like `put`. Returns false, without changing the object, if it exists. */
  putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /** Removes an object if it exists. */
  remove(key: string): Promise<void>;
  /** Removes the array in this store, its metadata first. */
  clear(): Promise<void>;
  /** Lists the distinct names between `prefix` and the next slash in keys. */
  folders(prefix: string): Promise<readonly string[]>;
  /** Lists all objects, including those that do not belong to an array. */
  list(): AsyncIterable<StoredObject>;
  /** Returns the first bytes of the file that is at the store's path; null for a folder; absent in stores of objects. */
  head?(length: number): Promise<Uint8Array | null>;
  /** Returns what is at the path of the store, or null; undefined on servers, which have folders only in names. */
  kindOfPath?(): Promise<"folder" | "file" | null>;
  /** True once the server has sent an HTML page for an object, which is then missing; absent if a store has no server. */
  readonly sendsPages?: boolean;
  /** Staging operations; absent if a store cannot rename or copy objects. */
  readonly staging?: Staging;
}

/** The folder for hidden files within an array's folder. */
export const STAGING = ".ndscatter";

/** The file in the folder `STAGING` that names the job that owns the array. */
export const CLAIM = "job";

/** The folder in the folder `STAGING` that records changes in place. */
export const CHANGED = "changed";

/**
 * The file in the folder `STAGING` that marks an array as partly changed, with the number of changed chunks as
 * JSON.
 */
export const PARTIAL = "partial";

/** Operations on staged objects, which readers ignore. Callers check the names. */
export interface Staging {
  open(name: string): Promise<Source | null>;
  /** Lists the names in a folder; absent in stores whose arrays are not changed in place. */
  names?(folder: string): Promise<readonly string[]>;
  /** Syncs the object to disk. */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>;
  putNew(name: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /**
   * Copies an object from another store of the same kind. `most` is the maximum size of the object, in bytes; a shard
   * from another encoder may have gaps. Returns false if the object does not exist or is longer.
   */
  copy(from: Store, key: string, name: string, most?: number): Promise<boolean>;
  /** Returns false if nothing is staged as `name`. */
  publish(name: string, key: string): Promise<boolean>;
  /**
   * Publishes like `publish`, but never replaces an object; absent if objects may be replaced. Throws an `attribute`
   * error if the key holds another object.
   */
  publishNew?(name: string, key: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  end(): Promise<void>;
}

/** Returns the end of a sentence about a missing object. */
export const orPage = ({ sendsPages }: Store): string =>
  sendsPages === true ? "; its server sends an HTML page instead, so check the URL" : "";

/** Returns bytes in memory as a source. */
export const memorySource = (bytes: Uint8Array): Source => ({
  size: bytes.length,
  bytes,
  async read(offset, into) {
    into.set(bytes.subarray(offset, offset + into.length));
  },
  async close() {},
});

/** Returns the `size` bytes at `offset` of a source as another source. Closing the part does not close the whole. */
export const partOfSource = (source: Source, offset: number, size: number): Source =>
  source.bytes === null
    ? { size, bytes: null, read: (at, into) => source.read(offset + at, into), async close() {} }
    : memorySource(source.bytes.subarray(offset, offset + size));

/** Reads all bytes of a source. */
export async function readAll(source: Source): Promise<Uint8Array> {
  if (source.bytes !== null) return source.bytes;
  const bytes = new Uint8Array(source.size);
  await source.read(0, bytes);
  return bytes;
}

/**
 * Runs `action` for each item, `limit` at a time. After an error, no other item begins; the error is thrown when the
 * items in progress have ended.
 */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  action: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      try {
        await action(next.value);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (failures.length > 0) throw failures[0];
}

/**
 * Returns the staging of a store for chunks under a name. Throws an `attribute` error for a name that cannot be a file
 * name, and for a store without staging.
 */
export function stagingOf(store: Store, name: string): Staging {
  // The names of staged chunks become file names and may come from another machine, so they are checked.
  if (typeof name !== "string" || !/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(name)) {
    const must = "must consist of letters, digits, dots, _ and -, and may not begin with a dot";
    throw new TensorError("attribute", `the name ${printValue(name)} of a staged chunk ${must}`, {
      key: "name",
      got: factOf(name),
    });
  }
  const { staging } = store;
  if (staging !== undefined && name !== "zarr.json") return staging;
  const why = staging === undefined ? "only arrays in files can be staged" : "it is the metadata";
  throw new TensorError("attribute", `a chunk cannot be staged as ${printValue(name)}: ${why}`, {
    key: "name",
    got: factOf(name),
  });
}
