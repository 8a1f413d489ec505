/**
 * Stores that the caller provides. Nothing that such a store returns is trusted: bytes are copied at once and compared
 * with the requested length, failures become errors with the key, and a call without an answer ends.
 */

import { isError, isTensorError, TensorError } from "../../../core/errors.ts";
import { printValue, readForeign, wrongOption } from "../../../core/foreign.ts";
import { HTTP } from "../../../core/limits.ts";
import { isUint8Array } from "../../../core/tensor/storage.ts";
import { within } from "../../boxes/urls.ts";
import { reasonOf } from "../codecs/byte-codec.ts";
import { join } from "../codecs/gzip.ts";
import { copied } from "../codecs/own.ts";
import { Silence, unlessSilent } from "./silence.ts";
import {
  foldersIn,
  isOfArray,
  memorySource,
  readOnly,
  type ArrayStore,
  type Source,
  type StoredObject,
} from "./store.ts";

/** Part of an object, in bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

type Maybe<T> = T | Promise<T>;

/** Keys of objects, one after the other. */
export type Keys = Iterable<string> | AsyncIterable<string>;

/**
 * Objects of bytes under keys such as `weather/rain/c/0/0`, without a slash at the beginning. Every function may be
 * asynchronous.
 */
export interface Store {
  /**
   * Returns the bytes of an object, or of the range of the object; undefined without such an object. Ranges lie within
   * the object. Without `size`, only whole objects are requested. The bytes are copied as soon as they arrive, so a
   * function that returns them without a promise may use the same memory for each call.
   */
  get(key: string, range?: ByteRange): Maybe<Uint8Array | undefined>;
  /** Returns the size of an object, in bytes; undefined without such an object. */
  size?(key: string): Maybe<number | undefined>;
  /**
   * Stores an object, atomically if possible. If `ifAbsent` is true, an existing object is kept, and the result is true
   * only if the object was stored. Without `put`, arrays can only be read.
   */
  put?(key: string, bytes: Uint8Array, options: { readonly ifAbsent: boolean }): Maybe<unknown>;
  /** Lists the keys that begin with `prefix`. */
  list?(prefix: string): Maybe<Keys>;
  /** Deletes an object, if it exists. */
  delete?(key: string): Maybe<unknown>;
}

/** A store in memory: the bytes of each object by its key. */
export type MemoryStore = Map<string, Uint8Array>;

/** The functions of a store. */
type Functions = { readonly [Name in keyof Store]-?: Store[Name] | undefined };

const NAMES = ["get", "size", "put", "list", "delete"] as const;

/** Reads the functions of a store once. Throws an `attribute` error for any other value. */
function functionsOf(given: object): Functions {
  const must = "location must be a path, a URL, or a store whose functions can be read";
  const read = (): Functions => {
    // A Map of another realm has another class.
    const isMap = Object.prototype.toString.call(given) === "[object Map]";
    const store = isMap ? storeOfMap(given as MemoryStore) : (given as Store);
    const functions = NAMES.map((name) => {
      const one: unknown = store[name];
      if (typeof one === "function") return [name, one.bind(store)];
      if (name === "get")
        throw wrongOption(
          "location",
          "a path or a URL, as text, or a store with a function get",
          given,
        );
      if (one === undefined) return [name, one];
      throw wrongOption("location", `a store whose ${name} is a function`, one);
    });
    return Object.fromEntries(functions) as Functions;
  };
  return readForeign(read, "attribute", must, "location");
}

const storeOfMap = (map: MemoryStore): Store => ({
  get: (key, range) => map.get(key)?.subarray(range?.offset, range && range.offset + range.length),
  size: (key) => map.get(key)?.length,
  put(key, bytes, { ifAbsent }) {
    const isStored = !ifAbsent || !map.has(key);
    if (isStored) map.set(key, bytes);
    return isStored;
  },
  list: (prefix) => [...map.keys()].filter((key) => key.startsWith(prefix)),
  delete: (key) => map.delete(key),
});

export class OwnStore implements ArrayStore {
  readonly path: string;
  readonly concurrency = 8;
  readonly #prefix: string;
  readonly #signal: AbortSignal | undefined;
  readonly #functions: Functions;

  /** `path` is the path of the array in the store. */
  constructor(store: object, path = "", signal?: AbortSignal) {
    this.path = `store://${path}`;
    this.#prefix = path === "" ? "" : `${path}/`;
    this.#signal = signal;
    this.#functions = functionsOf(store);
  }

  /** Waits for a function of the store, and converts its failure to an `engine` error. */
  async #call<T>(name: keyof Store, key: string, action: () => Maybe<T>): Promise<T> {
    const signal = this.#signal;
    signal?.throwIfAborted();
    try {
      const result = (async () => action())();
      return await unlessSilent(result, signal, () => {}, HTTP.store);
    } catch (cause) {
      signal?.throwIfAborted();
      if (isTensorError(cause)) throw cause;
      const reason =
        cause instanceof Silence
          ? `did not answer for ${cause.time / 1000} s`
          : `failed: ${isError(cause) ? reasonOf(cause) : printValue(cause)}`;
      throw this.#error(name, key, reason, cause);
    }
  }

  #error(name: keyof Store, key: string, what: string, cause?: unknown): TensorError {
    const file = within(this.path, key);
    const sentence = `the store's function ${name} for ${file} ${what}`;
    return new TensorError("engine", sentence, { file, key: name }, { cause });
  }

  /** Returns a copy of the bytes, because the store may change its own. */
  async #get(key: string, range?: ByteRange): Promise<Uint8Array | null> {
    const whole = this.#prefix + key;
    const bytes = await this.#call("get", key, () => copied(this.#functions.get?.(whole, range)));
    if (bytes == null) return null;
    if (isUint8Array(bytes)) return bytes;
    const must = `must return a Uint8Array, or undefined, got ${printValue(bytes)}`;
    throw this.#error("get", key, must);
  }

  async open(key: string): Promise<Source | null> {
    if (this.#functions.size === undefined) {
      const bytes = await this.#get(key);
      return bytes && memorySource(bytes);
    }
    const size = await this.sizeOf(key);
    if (size === null) return null;
    const read = async (offset: number, into: Uint8Array): Promise<void> => {
      const { length } = into;
      if (length === 0) return;
      const bytes = await this.#get(key, { offset, length });
      if (bytes?.length !== length) {
        const got = bytes === null ? "nothing" : `${bytes.length} bytes`;
        throw this.#error("get", key, `must return ${length} bytes at ${offset}, got ${got}`);
      }
      into.set(bytes);
    };
    return { size, bytes: null, read, async close() {} };
  }

  async sizeOf(key: string): Promise<number | null> {
    const { size } = this.#functions;
    if (size === undefined) return (await this.#get(key))?.length ?? null;
    const got: unknown = await this.#call("size", key, () => size(this.#prefix + key));
    if (got == null) return null;
    if (Number.isSafeInteger(got) && Number(got) >= 0) return Number(got);
    throw this.#error("size", key, `must return a number of bytes, got ${printValue(got)}`);
  }

  async peek(): Promise<"folder"> {
    return "folder";
  }

  async stateOf(key: string): Promise<string> {
    return String((await this.sizeOf(key)) ?? "");
  }

  async put(key: string, parts: readonly Uint8Array[]): Promise<void> {
    await this.#put(key, parts, false);
  }

  async putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean> {
    const isStored = await this.#put(key, parts, true);
    if (typeof isStored === "boolean") return isStored;
    const must = `must return true or false if ifAbsent is true, got ${printValue(isStored)}`;
    throw this.#error("put", key, must);
  }

  #put(key: string, parts: readonly Uint8Array[], ifAbsent: boolean): Promise<unknown> {
    const { put } = this.#functions;
    if (put === undefined) throw readOnly(this);
    // The store may keep the bytes, whose memory is reused.
    const bytes = new Uint8Array(join(parts));
    return this.#call("put", key, () => put(this.#prefix + key, bytes, { ifAbsent }));
  }

  async remove(key: string): Promise<void> {
    const { delete: remove } = this.#functions;
    if (remove === undefined) throw readOnly(this);
    await this.#call("delete", key, () => remove(this.#prefix + key));
  }

  async clear(): Promise<void> {
    const keys: string[] = [];
    for await (const key of this.#keys("")) if (isOfArray(key)) keys.push(key);
    for (const key of ["zarr.json", ".zarray", ...keys]) await this.remove(key);
  }

  async folders(prefix: string): Promise<readonly string[]> {
    return foldersIn(this.#keys(prefix), prefix);
  }

  async *list(): AsyncGenerator<StoredObject> {
    for await (const key of this.#keys("")) {
      const size = await this.sizeOf(key);
      if (size !== null) yield { key, size };
    }
  }

  /** Lists the keys below the store's path that begin with `prefix`. */
  async *#keys(prefix: string): AsyncGenerator<string> {
    const { list } = this.#functions;
    if (list === undefined) {
      const sentence = `the objects of ${this.path} cannot be listed, because the store has no function list`;
      throw new TensorError("engine", sentence, { file: this.path });
    }
    const start = this.#prefix + prefix;
    const keys = await this.#call("list", prefix, () => list(start));
    const iterator = readIterator(keys) ?? this.#refuseKeys(prefix, keys);
    for (;;) {
      const { done, value } = await this.#call("list", prefix, () => iterator.next());
      if (done === true) return;
      if (typeof value !== "string" || !value.startsWith(start)) this.#refuseKeys(prefix, value);
      yield value.slice(this.#prefix.length);
    }
  }

  #refuseKeys(prefix: string, got: unknown): never {
    const must = `must list keys that begin with ${printValue(this.#prefix + prefix)}`;
    throw this.#error("list", prefix, `${must}, got ${printValue(got)}`);
  }
}

/** Returns the iterator of keys, or undefined for a value that is not iterable. */
function readIterator(keys: unknown): Iterator<string> | AsyncIterator<string> | undefined {
  if (typeof keys !== "object" || keys === null) return undefined;
  const one = keys as Partial<Iterable<string> & AsyncIterable<string>>;
  return one[Symbol.asyncIterator]?.() ?? one[Symbol.iterator]?.();
}
