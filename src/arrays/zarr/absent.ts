/**
 * Creates errors for locations that contain no array or group, or cannot contain one. The errors state what is at the
 * location instead.
 */

import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { listFirst } from "../../core/foreign.ts";
import { HEAD, otherKindOf } from "../../core/tensor/bytes.ts";
import { isCode } from "../boxes/file.ts";
import { within } from "../boxes/urls.ts";
import { orPage, type ArrayStore } from "./stores/store.ts";

/** The maximum number of an archive's members in an error. */
const MOST_NAMES = 10;

/** Returns the error for a location without a Zarr v3 or v2 array. */
export async function absentArray(store: ArrayStore): Promise<TensorError> {
  const file = store.path;
  const found = await store.peek?.(HEAD);
  const kind = found == null || found === "folder" ? null : otherKindOf(found);
  if (kind === null) {
    return malformed(lackOf(store, found, "array", ".zarray"), { file, expected: "array" });
  }
  return unsupported(
    `${file} must be a Zarr array, or a file whose name ends in .npy, got ${kind.name}; ${kind.advice}`,
    { file, got: kind.name, expected: "array" },
  );
}

/** Returns the error for a location without a group. */
export async function absentGroup(store: ArrayStore): Promise<TensorError> {
  const sentence = lackOf(store, await store.peek?.(0), "group", ".zgroup");
  return malformed(sentence, { file: store.path, expected: "group" });
}

/** States what a location without metadata is: a folder, a file, an archive, or nothing. */
function lackOf(
  store: ArrayStore,
  found: Uint8Array | "folder" | null | undefined,
  what: "array" | "group",
  older: string,
): string {
  const { members, path } = store;
  if (members !== undefined) {
    const names = members.flatMap(
      (one) => /^(.+)(?:\.npy|\/(?:zarr\.json|\.zarray))$/is.exec(one)?.[1] ?? [],
    );
    if (names.length === 0) return `${path} must be an archive of arrays, but contains none`;
    const example = within(path.replace(/(\.(?:zip|npz)).*$/is, "$1"), names[0]);
    return `${path} must be one of the archive's arrays, ${listFirst(names, MOST_NAMES)}; name it as in ${example}`;
  }
  const must = `${path} must be a Zarr ${what}, but`;
  if (found === undefined) {
    const advice = orPage(store) || "; check the URL";
    return `${must} its server has neither zarr.json nor ${older} there${advice}`;
  }
  if (found === "folder") return `${must} has neither zarr.json nor ${older}`;
  if (found === null) return `${must} does not exist`;
  return `${must} is a file instead of a folder with zarr.json or ${older}`;
}

/** Throws an `attribute` error if a file exists where a folder must be created. */
export async function unblocked<T>(
  { path }: Pick<ArrayStore, "path">,
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
