/** Where arrays are kept: objects of bytes under keys. A key is made of metadata's words and of coordinates alone. */

/** An object that is being read, a part of one, or bytes in memory: so an inner chunk of a shard is read as a chunk is. */
export interface Source {
  /** In bytes. */
  readonly size: number;
  /** All of it, where it is in memory. */
  readonly bytes: Uint8Array | null;
  /** Fills `into` with the bytes from `offset` on. They are there: callers compare with `size`. */
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
  /** How many requests are under way at once, at most. */
  readonly concurrency: number;
  /** @returns null where there is no such object */
  open(key: string): Promise<Source | null>;
  /** A text that changes when an object does: of its size and time, or its ETag; empty where there is no such object. */
  stateOf(key: string): Promise<string>;
  /**
   * Puts parts one after the other, as a whole or not at all.
   * @param isDurable whether the disk must have them before the object is replaced: a crash may empty an object that it has not
   */
  put(key: string, parts: readonly Uint8Array[], isDurable?: boolean): Promise<void>;
  /** {@link put} where there is no such object. @returns false where there is one, which stays */
  putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /** Removes an object, if it is there. */
  remove(key: string): Promise<void>;
  /** Removes the array that was here, its metadata first. */
  clear(): Promise<void>;
  /** The names of what keys have between `prefix` and the next slash, where they have one. */
  folders(prefix: string): Promise<readonly string[]>;
  /** All objects, of which some may be of no array. */
  list(): AsyncIterable<StoredObject>;
  /** Absent where a store cannot rename. */
  readonly staging?: Staging;
}

/** The folder in an array's folder for what no reader sees yet. */
export const STAGING = ".ndscatter";

/** The file in that folder that says which job has the array. */
export const CLAIM = "job";

/** The file in that folder that marks an array as changed in part: JSON with the number of changed chunks. */
export const PARTIAL = "partial";

/** Objects that no reader sees yet. Names were checked. */
export interface Staging {
  open(name: string): Promise<Source | null>;
  /** Waits until the disk has it. */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>;
  putNew(name: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /**
   * Copies an object of another store of the same kind.
   * @param most bytes that a file may have: another encoder may have left gaps in a shard
   * @returns false where there is none, or a longer one
   */
  copy(from: Store, key: string, name: string, most?: number): Promise<boolean>;
  /** @returns false where nothing is staged as `name` */
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

/** `size` bytes of a source from `offset` on. Closing it closes nothing. */
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

/** Runs `action` for each item, `limit` at a time. After an error no other begins, and those under way end first. */
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
