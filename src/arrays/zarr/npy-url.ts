/** Reads NPY files on servers by byte ranges. Files on servers are never written. */

import type { ChunkedArray } from "../boxes/array.ts";
import { within } from "../boxes/urls.ts";
import { malformed, TensorError } from "../../core/errors.ts";
import { ARRAYS, HTTP } from "../../core/limits.ts";
import { checkContiguous, NpyArray, readHeader, type NpyFile } from "../npy/array.ts";
import { orPage, type Store } from "./stores/store.ts";

/**
 * Throws `malformed-file` for a missing or damaged file, `unsupported-file` for another format, or `engine` if the
 * server refuses the request.
 */
export async function openNpyInStore(
  store: Store,
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
      throw new TensorError(
        "attribute",
        `${path} is on a server, where NPY files cannot be written`,
        { key: "location", file: path },
      );
    },
  };
  return new NpyArray(file, opened, chunkShape);
}
