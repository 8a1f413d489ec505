/**
 * Creates errors for locations that contain no array or group, or cannot contain one. The errors state what is at the
 * location instead.
 */

import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { HEAD, kindOfName, otherKindOf, type FileKind } from "../../core/tensor/bytes.ts";
import { isCode } from "../boxes/file.ts";
import { placeOfUrl } from "../boxes/urls.ts";
import { orPage, type Store } from "./stores/store.ts";

/** Returns the error for a location without a Zarr v3 or v2 array. */
export async function absentArray(store: Store): Promise<TensorError> {
  const file = store.path;
  const kind = await kindAt(store);
  if (kind === null) {
    return malformed(await lackOf(store, "array", ".zarray"), { file, expected: "array" });
  }
  return unsupported(
    `${file} must be a Zarr array, or a file whose name ends in .npy, got ${kind.name}; ${kind.advice}`,
    { file, got: kind.name, expected: "array" },
  );
}

/** Returns the error for a location without a group. */
export async function absentGroup(store: Store): Promise<TensorError> {
  const { path: file } = store;
  return malformed(await lackOf(store, "group", ".zgroup"), { file, expected: "group" });
}

/** States what a location without metadata is: a folder, a file, or nothing. */
async function lackOf(store: Store, what: "array" | "group", older: string): Promise<string> {
  const must = `${store.path} must be a Zarr ${what}, but`;
  const kind = await store.kindOfPath?.();
  if (kind === undefined) {
    const advice = orPage(store) || "; check the URL";
    return `${must} its server has neither zarr.json nor ${older} there${advice}`;
  }
  if (kind === "folder") return `${must} has neither zarr.json nor ${older}`;
  if (kind === null) return `${must} does not exist`;
  return `${must} is a file instead of a folder with zarr.json or ${older}`;
}

/** Throws an `attribute` error if a file exists where a folder must be created. */
export async function unblocked<T>(
  { path }: Pick<Store, "path">,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (!isCode(cause, "ENOTDIR", "EEXIST")) throw cause;
    const sentence = `${path} cannot be a folder, because the path or a part of it is a file; choose another path`;
    throw new TensorError("attribute", sentence, { key: "location", file: path }, { cause });
  }
}

/** Returns the kind of file at a store's path, or null for a folder, a missing file and an unknown kind. */
async function kindAt(store: Store): Promise<FileKind | null> {
  const named = kindOfName(placeOfUrl(store.path));
  // On a server, folders exist only as parts of names.
  if (store.head === undefined) return named;
  const head = await store.head(HEAD);
  return head === null ? null : (otherKindOf(head) ?? named);
}
