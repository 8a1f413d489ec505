/** Reads metadata from stores. */

import { isTensorError, unsupported } from "../../core/errors.ts";
import { readAll, type Source, type ArrayStore } from "./stores/store.ts";

/** Opens the object under a key, or returns null without such an object. */
export type Open = (key: string) => Promise<Source | null>;

/** The maximum size of a metadata file, in bytes; real metadata takes about 1 kB. */
const MOST_METADATA = 2 ** 24;

/**
 * Reads the metadata stored under a key. Returns null if the object does not exist. Throws `unsupported-file` for more
 * than `most` bytes.
 */
export async function readKey(
  { path }: Pick<ArrayStore, "path">,
  key: string,
  open: Open,
  most = MOST_METADATA,
): Promise<Uint8Array | null> {
  const source = await open(key);
  if (source === null) return null;
  try {
    if (source.size > most) {
      const sentence = `${key} of ${path} has ${source.size} bytes, more than the limit of ${most}`;
      throw unsupported(sentence, { key, file: path, got: source.size, limit: most });
    }
    return await readAll(source);
  } finally {
    await source.close();
  }
}

/**
 * Looks for an object under several keys. If the client may not list objects, S3 answers "forbidden" for a missing
 * object. This answer is therefore an error only if no key is found.
 */
export class Forbidden {
  #error: unknown = null;

  /** Returns null if the object is missing or forbidden. */
  async read(store: ArrayStore, key: string, open: Open): Promise<Uint8Array | null> {
    try {
      return await readKey(store, key, open);
    } catch (error) {
      if (!isTensorError(error, "engine") || error.got !== 403) throw error;
      this.#error ??= error;
      return null;
    }
  }

  /** Throws the error of the first forbidden object. */
  check(): void {
    if (this.#error !== null) throw this.#error;
  }
}

/** Returns a hash of metadata. */
export async function fingerprintOf(metadata: Uint8Array): Promise<string> {
  const hash = await globalThis.crypto.subtle.digest("SHA-256", new Uint8Array(metadata));
  const view = new DataView(hash);
  const bits = (view.getBigUint64(0) << 64n) | view.getBigUint64(8);
  return `zarr:${bits.toString(16).padStart(32, "0")}`;
}
