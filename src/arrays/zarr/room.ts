/** Checks that a location is free for a new array, or makes it free. */

import type { TensorError } from "../../core/errors.ts";
import type { CreateOptions } from "./create.ts";
import { readKey } from "./read-key.ts";
import { unfit, type ArrayStore } from "./stores/store.ts";

export const alreadyThere = ({ path }: Pick<ArrayStore, "path">): TensorError =>
  unfit(path, "exists; pass overwrite: true, or choose another path", "overwrite");

export async function makeRoom(store: ArrayStore, { overwrite }: CreateOptions): Promise<void> {
  if (overwrite === true) await clear(store);
  else if (!(await isFree(store))) throw alreadyThere(store);
}

/** Returns true if the store contains neither an array nor a group. */
export async function isFree(store: ArrayStore): Promise<boolean> {
  for (const key of ["zarr.json", ".zarray", ".zgroup"]) {
    if ((await store.sizeOf(key)) !== null) return false;
  }
  return true;
}

/** Removes the array in a store, but never a group, because a group contains other arrays. */
async function clear(store: ArrayStore): Promise<void> {
  const text = await readKey(store, "zarr.json", (key) => store.open(key));
  const isGroup = text !== null && new TextDecoder().decode(text).includes('"group"');
  const old = await readKey(store, ".zgroup", (key) => store.open(key));
  if (isGroup || old !== null) {
    throw unfit(store.path, "is a group, which an array must not overwrite");
  }
  await store.clear();
}
