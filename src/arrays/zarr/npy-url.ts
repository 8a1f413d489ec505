/** Reads NPY files on servers, in archives and in stores of the caller by byte ranges. The files are never written. */

import type { ChunkedArray } from "../boxes/array.ts";
import { within } from "../boxes/urls.ts";
import { malformed } from "../../core/errors.ts";
import { ARRAYS, HTTP } from "../../core/limits.ts";
import { checkContiguous, NpyArray, readHeader, type NpyFile } from "../npy/array.ts";
import { orPage, unfit, type ArrayStore } from "./stores/store.ts";

/**
 * Throws `malformed-file` for a missing or damaged file, `unsupported-file` for another format, or `engine` if the
 * server refuses the request.
 */
export async function openNpyInStore(
  store: ArrayStore,
  name: string,
  chunkShape?: readonly number[],
): Promise<ChunkedArray> {
  const path = within(store.path, name);
  // The state is read first, so that later changes are detected.
  const state = await store.stateOf(name);
  const source = await store.open(name);
  if (source === null)
    throw malformed(`${path} does not exist${orPage(store)}`, { file: path, expected: "array" });
  const opened = await readHeader((at, into) => source.read(at, into), source.size, state, path);
  checkContiguous(chunkShape, opened.header);
  const file: NpyFile = {
    path,
    reads: HTTP.ranges,
    held: HTTP.ranges * ARRAYS.span,
    stateOf: () => store.stateOf(name),
    read: (use) => use((at, into) => source.read(at, into)),
    async write() {
      throw unfit(path, "can only be read; NPY files are written only in folders");
    },
  };
  return new NpyArray(file, opened, chunkShape);
}
