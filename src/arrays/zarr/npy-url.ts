/** Reads NPY files on servers by byte ranges. Files on servers are never written. */

import type { ChunkedArray, HeldBytes } from "../boxes/array.ts";
import { checkContiguous, headIn, NpyArray, type Head } from "../boxes/npy-array.ts";
import { readGroup, type ReadAt, type Run } from "../boxes/runs.ts";
import { inParallel } from "../boxes/parallel.ts";
import { within } from "../boxes/urls.ts";
import { malformed, TensorError } from "../../core/errors.ts";
import { ARRAYS, HTTP } from "../../core/limits.ts";
import { orPage, type Source, type Store } from "./stores/store.ts";

/** The size of the first request, in bytes, which suffices for nearly every header. */
const FIRST = 1024;

/**
 * Throws `malformed-file` for a missing or damaged file, `unsupported-file` for another format, or `engine` if the
 * server refuses the request.
 */
export async function openNpyInStore(
  store: Store,
  name: string,
  chunkShape?: readonly number[],
): Promise<ChunkedArray> {
  const place = within(store.path, name);
  // The state is read first, so that later changes are detected.
  const state = await store.stateOf(name);
  const source = await store.open(name);
  if (source === null)
    throw malformed(`${place} does not exist${orPage(store)}`, { file: place, expected: "array" });
  const { size } = source;
  const first = new Uint8Array(Math.min(size, FIRST));
  await source.read(0, first);
  const read: ReadAt = async (at, into) => {
    const end = at + into.length;
    if (end <= first.length) return into.set(first.subarray(at, end));
    await source.read(at, into);
  };
  const head = await headIn({ size, state, read }, place);
  if (chunkShape !== undefined) checkContiguous(chunkShape, head.shape);
  return new RemoteNpyArray(place, head, chunkShape, { store, name, source });
}

/** The location of a file, and the version that was opened. */
interface Remote {
  readonly store: Store;
  readonly name: string;
  readonly source: Source;
}

class RemoteNpyArray extends NpyArray {
  override readonly held: HeldBytes;
  readonly #remote: Remote;

  constructor(
    place: string,
    head: Head,
    chunkShape: readonly number[] | undefined,
    remote: Remote,
  ) {
    super(place, head, chunkShape);
    this.#remote = remote;
    this.held = { read: HTTP.ranges * ARRAYS.span, write: 0 };
  }

  override async stateOf(): Promise<string> {
    return this.#remote.store.stateOf(this.#remote.name);
  }

  override async write(): Promise<void> {
    throw this.#refusal();
  }

  override async writeChunk(): Promise<void> {
    throw this.#refusal();
  }

  protected override readFrom(use: (read: ReadAt) => Promise<void>): Promise<void> {
    const { source } = this.#remote;
    return use((at, part) => source.read(at, part));
  }

  protected override async readGroups(
    groups: Iterable<readonly Run[]>,
    into: Uint8Array,
    read: ReadAt,
  ): Promise<void> {
    await inParallel(groups, HTTP.ranges, (group) => readGroup(read, group, into));
  }

  #refusal(): TensorError {
    return new TensorError(
      "attribute",
      `${this.file} is on a server, where NPY files cannot be written`,
      { key: "location", file: this.file },
    );
  }
}
