/** Finds the store of a location: a path, a URL, a name in an archive or a reference file, or a store of the caller. */

import { wrongOption } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { checkSignal } from "../boxes/checks.ts";
import { isUrl } from "../boxes/file.ts";
import type { Guard } from "../boxes/array.ts";
import { checkFiles, moduleOfNode } from "../boxes/node.ts";
import { placeOfUrl, splitArchive, splitReferences, splitUrl, within } from "../boxes/urls.ts";
import type { MemoryStore, Store } from "./stores/own-store.ts";
import { s3OptionsOf } from "./stores/s3-options.ts";
import { SCHEMES, type StoreOptions } from "./stores/store-options.ts";
import type { ArrayStore } from "./stores/store.ts";

/** A path, a URL, or a store of the caller. */
export type Location = string | Store | MemoryStore;

/** A store, and the key of an NPY file in the store or null for Zarr; or the path of a local NPY file. */
export type Place =
  | { readonly store: ArrayStore; readonly file: string | null }
  | { readonly store: null; readonly file: string };

export const isNpy = (location: unknown): boolean =>
  typeof location === "string" && /\.npy$/i.test(placeOfUrl(location));

/** Throws an `attribute` error for a location that is neither text nor an object. */
export function checkLocation(location: unknown): asserts location is Location {
  const isText = typeof location === "string" && location !== "" && !location.includes("\0");
  if (isText || (typeof location === "object" && location !== null)) return;
  throw wrongOption("location", "a path or a URL, as text, or a store", location);
}

/** Finds the array of a location. Throws an `attribute` error for wrong options. */
export async function placeOf(
  location: Location,
  options: StoreOptions = {},
  guard?: Guard,
): Promise<Place> {
  checkPlace(location, options);
  const { path = "" } = options;
  if (typeof location !== "string") {
    const names = path.split("/");
    const file = isNpy(path) ? (names.pop() as string) : null;
    return { store: await ownStore(location, { ...options, path: names.join("/") }), file };
  }
  const archive = splitArchive(location);
  if (archive !== null) {
    const { folder, name } = splitFile(archive.archive);
    const { openArchive } = await import("./stores/zip-directory.ts");
    const { placeInArchive } = await import("./stores/zip-store.ts");
    const opened = await openArchive(await plainStore(folder, options, guard), name);
    if (opened !== null) return placeInArchive(opened, archive.name);
  }
  const references = splitReferences(location);
  if (references !== null) {
    const { folder, name } = splitFile(references.archive);
    const { openReferences } = await import("./stores/reference-store.ts");
    const parent = await plainStore(folder, options, guard);
    const at = (url: string) => fileAt(url, parent, options, guard);
    const store = await openReferences(parent, name, references.name, at);
    if (store !== null) return { store, file: null };
  }
  if (!isNpy(location)) return { store: await plainStore(location, options, guard), file: null };
  if (!isUrl(location)) return { store: null, file: location };
  const { folder, name } = splitUrl(location);
  return { store: await plainStore(folder, options), file: name };
}

/** Returns the store whose root is the location. Throws an `attribute` error for wrong options. */
export async function storeOf(
  location: Location,
  options: StoreOptions = {},
  guard?: Guard,
): Promise<ArrayStore> {
  checkPlace(location, options);
  if (typeof location !== "string") return ownStore(location, options);
  const { store, file } = await placeOf(location, options, guard);
  return store === null || file !== null ? plainStore(location, options, guard) : store;
}

function checkPlace(location: unknown, { s3, signal, path, fetch }: StoreOptions): void {
  checkLocation(location);
  checkSignal(signal);
  // The options are checked even for folders, which do not use them.
  if (s3 !== undefined) s3OptionsOf(s3);
  if (fetch !== undefined && typeof fetch !== "function")
    throw wrongOption("fetch", "a function like the platform's fetch", fetch);
  if (path === undefined) return;
  const isPath =
    typeof path === "string" &&
    (path === "" || path.split("/").every((name) => !["", ".", ".."].includes(name)));
  if (!isPath) throw wrongOption("path", 'a path in the store, such as "weather/rain"', path);
  if (typeof location === "string")
    throw wrongOption("path", "omitted unless the location is a store", path);
}

async function ownStore(
  store: Exclude<Location, string>,
  { path, signal }: StoreOptions,
): Promise<ArrayStore> {
  const { OwnStore } = await import("./stores/own-store.ts");
  return new OwnStore(store, path, signal as AbortSignal | undefined);
}

/** Returns the store and the key of a file that a reference file in the store `parent` names. */
async function fileAt(
  url: string,
  parent: ArrayStore,
  options: StoreOptions,
  guard?: Guard,
): Promise<{ readonly store: ArrayStore; readonly name: string }> {
  const isWhole = isUrl(url) || moduleOfNode("node:path")?.isAbsolute(url) === true;
  const file = isWhole ? url : within(parent.path, url);
  // Stores of folders call the guard themselves.
  if (isUrl(file)) await guard?.(file);
  if (!isWhole) return { store: parent, name: url };
  const { folder, name } = splitFile(url);
  const { endpoint, region, forbidden } = options.s3 ?? {};
  // The author of a reference file must not choose a server that receives requests with the user's keys.
  const s3 = /^s3:/i.test(url) ? options.s3 : { endpoint, region, forbidden };
  return { store: await plainStore(folder, { ...options, s3 }, guard), name };
}

/** Splits the path or the URL of a file. */
function splitFile(location: string): { readonly folder: string; readonly name: string } {
  if (isUrl(location)) return splitUrl(location);
  checkFiles(location);
  const path = moduleOfNode("node:path");
  return { folder: path?.dirname(location) ?? "", name: path?.basename(location) ?? "" };
}

/** Returns the store of a folder. Each kind of store is loaded on demand, because browsers have no files. */
async function plainStore(
  location: string,
  { s3, signal, fetch }: StoreOptions,
  guard?: Guard,
): Promise<ArrayStore> {
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location) ?? [];
  if (scheme === undefined) {
    checkFiles(location);
    const { FileStore } = await import("./stores/file-store.ts");
    return new FileStore(location, guard);
  }
  if (SCHEMES.includes(scheme.toLowerCase())) {
    const { openS3Store } = await import("./stores/s3-store.ts");
    return openS3Store(location, s3, signal as AbortSignal | undefined, fetch);
  }
  const advice =
    scheme === "file"
      ? "pass fileURLToPath(url)"
      : scheme === "store"
        ? "the array is in a store of the caller, which cannot be opened again; copy the array to a folder"
        : "give a folder, or an s3:// or https:// URL";
  const sentence = `arrays at ${scheme}:// cannot be opened; ${advice}`;
  throw new TensorError("attribute", sentence, {
    key: "location",
    got: scheme,
    allowed: SCHEMES,
  });
}
