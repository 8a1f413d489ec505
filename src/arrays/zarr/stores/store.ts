/** Stores of arrays: objects of bytes under keys. Keys consist of metadata names and coordinates. */

/**
 * An object that is being read, a part of one, or bytes in memory. An inner chunk of a shard is thus read like a chunk.
 */
export interface Source {
  /** In bytes. */
  readonly size: number;
  /** All bytes, if they are in memory; else null. */
  readonly bytes: Uint8Array | null;
  /** Fills `into` with the bytes that begin at `offset`. Callers check the range against `size`. */
  read(offset: number, into: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface StoredObject {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
}

export interface Store {
  /** An absolute path, or a URL. */
  readonly path: string;
  /** Maximum number of requests in progress at once. */
  readonly concurrency: number;
  /** @returns null if the object does not exist */
  open(key: string): Promise<Source | null>;
  /** A text that changes when an object does: its size and time, or its ETag; empty if the object does not exist. */
  stateOf(key: string): Promise<string>;
  /**
   * Writes an object from parts, atomically.
   * @param isDurable true to sync the bytes before the object is replaced; otherwise a crash may leave it empty
   */
  put(key: string, parts: readonly Uint8Array[], isDurable?: boolean): Promise<void>;
  /** Creates an object as {@link put} does. @returns false if the object exists, and leaves it */
  putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /** Removes an object if it exists. */
  remove(key: string): Promise<void>;
  /** Removes the array in this store, its metadata first. */
  clear(): Promise<void>;
  /** The distinct names between `prefix` and the next slash among the keys. */
  folders(prefix: string): Promise<readonly string[]>;
  /** All objects, including those of no array. */
  list(): AsyncIterable<StoredObject>;
  /** Absent if a store cannot rename. */
  readonly staging?: Staging;
}

/** The folder for hidden files within an array's folder. */
export const STAGING = ".ndscatter";

/** The file in that folder that names the job that owns the array. */
export const CLAIM = "job";

/** The file in that folder that marks an array as partly changed: JSON with the number of changed chunks. */
export const PARTIAL = "partial";

/** Objects that readers ignore. Callers check the names. */
export interface Staging {
  open(name: string): Promise<Source | null>;
  /** Syncs the object to disk. */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>;
  putNew(name: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /**
   * Copies an object of another store of the same kind.
   * @param most bytes of the object, because another encoder may have left gaps in a shard
   * @returns false if it does not exist or is longer
   */
  copy(from: Store, key: string, name: string, most?: number): Promise<boolean>;
  /** @returns false if nothing is staged as `name` */
  publish(name: string, key: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  end(): Promise<void>;
}

/** Bytes in memory as a source. */
export const memorySource = (bytes: Uint8Array): Source => ({
  size: bytes.length,
  bytes,
  async read(offset, into) {
    into.set(bytes.subarray(offset, offset + into.length));
  },
  async close() {},
});

/** `size` bytes of a source that begin at `offset`. Closing it does not close the source. */
export const partOfSource = (source: Source, offset: number, size: number): Source =>
  source.bytes === null
    ? { size, bytes: null, read: (at, into) => source.read(offset + at, into), async close() {} }
    : memorySource(source.bytes.subarray(offset, offset + size));

/** All bytes of a source. */
export async function readAll(source: Source): Promise<Uint8Array> {
  if (source.bytes !== null) return source.bytes;
  const bytes = new Uint8Array(source.size);
  await source.read(0, bytes);
  return bytes;
}

/**
 * Runs `action` for each item, `limit` at a time. After an error no other item begins, and those in progress end first.
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
