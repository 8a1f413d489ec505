/** Zarr arrays in a map that counts the reads. */

import { ZarrArray } from "../../src/arrays/zarr/array.ts";
import { metadataOf, type CreateOptions } from "../../src/arrays/zarr/create.ts";
import { parseJson, type JsonObject } from "../../src/arrays/zarr/json.ts";
import { parseMetadata, printMetadata } from "../../src/arrays/zarr/metadata.ts";
import { parseMetadataV2 } from "../../src/arrays/zarr/metadata-v2.ts";
import type {
  Source,
  Staging,
  ArrayStore,
  StoredObject,
} from "../../src/arrays/zarr/stores/store.ts";

const joined = (parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

export class MemoryStore implements ArrayStore {
  readonly path = "memory";
  readonly concurrency = 3;
  readonly objects = new Map<string, Uint8Array>();
  /** The requests for bytes: keys, offsets and lengths. */
  readonly reads: { key: string; offset: number; length: number }[] = [];
  readonly staging: Staging;

  constructor() {
    const { objects } = this;
    const nameOf = (name: string): string => `.ndscatter/${name}`;
    this.staging = {
      open: (name) => this.open(nameOf(name)),
      put: (name, parts) => this.put(nameOf(name), parts),
      putNew: (name, parts) => this.putNew(nameOf(name), parts),
      async copy(from, key, name) {
        const bytes = from instanceof MemoryStore ? from.objects.get(key) : undefined;
        if (bytes !== undefined) objects.set(nameOf(name), bytes);
        return bytes !== undefined;
      },
      async publish(name, key) {
        const bytes = objects.get(nameOf(name));
        if (bytes !== undefined) objects.set(key, bytes);
        return objects.delete(nameOf(name));
      },
      async remove(name) {
        objects.delete(nameOf(name));
      },
      async end() {
        for (const key of objects.keys()) if (key.startsWith(".ndscatter/")) objects.delete(key);
      },
    };
  }

  async stateOf(key: string): Promise<string> {
    return String(this.objects.get(key)?.length ?? "");
  }

  async sizeOf(key: string): Promise<number | null> {
    return this.objects.get(key)?.length ?? null;
  }

  async open(key: string): Promise<Source | null> {
    const bytes = this.objects.get(key);
    if (bytes === undefined) return null;
    return {
      size: bytes.length,
      bytes: null,
      read: async (offset, into) => {
        this.reads.push({ key, offset, length: into.length });
        into.set(bytes.subarray(offset, offset + into.length));
      },
      async close() {},
    };
  }

  async put(key: string, parts: readonly Uint8Array[]): Promise<void> {
    this.objects.set(key, joined(parts));
  }

  async putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean> {
    if (this.objects.has(key)) return false;
    await this.put(key, parts);
    return true;
  }

  async remove(key: string): Promise<void> {
    this.objects.delete(key);
  }

  async clear(): Promise<void> {
    this.objects.clear();
  }

  async folders(prefix: string): Promise<readonly string[]> {
    const rests = [...this.objects.keys()].flatMap((key) =>
      key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
    );
    return [...new Set(rests.flatMap((rest) => /^(.*?)\//.exec(rest)?.[1] ?? []))];
  }

  async *list(): AsyncGenerator<StoredObject> {
    for (const [key, bytes] of this.objects) yield { key, size: bytes.length };
  }
}

/** A new array in memory. Its metadata are printed and parsed again, like those of a file. */
export function arrayInMemory(
  options: CreateOptions,
  store = new MemoryStore(),
): { readonly array: ZarrArray; readonly store: MemoryStore } {
  const text = printMetadata(metadataOf(options, "memory"));
  const json = parseJson(new TextEncoder().encode(text), "zarr.json");
  return { array: new ZarrArray(store, parseMetadata(json, "memory"), text), store };
}

/** An array with metadata from elsewhere. */
export const arrayOf = (json: JsonObject, store = new MemoryStore()): ZarrArray =>
  new ZarrArray(
    store,
    json["zarr_format"] === 2
      ? parseMetadataV2(json, undefined, "memory")
      : parseMetadata(json, "memory"),
    "",
  );
