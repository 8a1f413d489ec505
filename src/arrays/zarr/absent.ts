/** Errors for locations that hold no array or group, which name what is there instead. */

import { malformed, unsupported, type TensorError } from "../../core/errors.ts";
import { HEAD, kindOfName, otherKindOf, type FileKind } from "../../core/tensor/other-kind.ts";
import { placeOfUrl } from "../boxes/urls.ts";
import { orPage, type Store } from "./stores/store.ts";

/** Returns the error for a location that holds neither an array of Zarr v3 nor one of v2. */
export async function absentArray(store: Store): Promise<TensorError> {
  const file = store.path;
  const kind = await kindAt(store);
  if (kind === null) {
    const sentence = `${file} must be a Zarr array, but has neither zarr.json nor .zarray`;
    return malformed(sentence + orPage(store), { file, expected: "array" });
  }
  return unsupported(
    `${file} must be a Zarr array, or a file whose name ends in .npy, got ${kind.name}; ${kind.advice}`,
    { file, got: kind.name, expected: "array" },
  );
}

/** Returns the error for a location that holds no group. */
export const absentGroup = (store: Store): TensorError =>
  malformed(
    `${store.path} must be a Zarr group, but has neither zarr.json nor .zgroup${orPage(store)}`,
    { file: store.path, expected: "group" },
  );

/** Returns the kind of the file at a store's path; null for a folder, a missing file and an unknown kind. */
async function kindAt(store: Store): Promise<FileKind | null> {
  const named = kindOfName(placeOfUrl(store.path));
  // A server has folders only in names.
  if (store.head === undefined) return named;
  const head = await store.head(HEAD);
  return head === null ? null : (otherKindOf(head) ?? named);
}
