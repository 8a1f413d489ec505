/**
 * Opens and creates NPY files by path. The module is loaded only for paths of NPY files, because browsers have no
 * files.
 */

import type * as Fs from "node:fs/promises";
import type * as Path from "node:path";
import { defaultChunks } from "../boxes/grid.ts";
import { checkFiles, moduleOfNode } from "../boxes/node.ts";
import type * as NpyFiles from "../npy/files.ts";
import type { ChunkedArray, PendingArray } from "../boxes/array.ts";
import { malformed } from "../../core/errors.ts";
import { optionsOf, wrongOption } from "../../core/foreign.ts";
import { isCode, makeFolders } from "../boxes/file.ts";
import { MAX_RANK } from "../../core/tensor/shape.ts";
import { checkDType, rowOf } from "../../core/tensor/dtype.ts";
import { checkCoordinates } from "../boxes/checks.ts";
import { checkContiguous } from "../npy/array.ts";
import { unblocked } from "./absent.ts";
import { isList } from "./json.ts";
import { alreadyThere } from "./room.ts";
import { checkOverwrite, MEANT, type CreateOptions } from "./create.ts";

async function load(path: string): Promise<typeof NpyFiles> {
  checkFiles(path);
  return import("../npy/files.ts");
}

export async function openNpy(path: string, chunkShape?: readonly number[]): Promise<ChunkedArray> {
  const { openNpyArray } = await load(path);
  return orAbsent(path, () => openNpyArray(path, chunkShape));
}

/** Throws a `malformed-file` error for a missing file. */
async function orAbsent<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (!isCode(cause, "ENOENT", "ENOTDIR", "EISDIR")) throw cause;
    const what = isCode(cause, "EISDIR") ? "must be an NPY file, got a folder" : "does not exist";
    throw malformed(`${path} ${what}`, { file: path, expected: "array" }, { cause });
  }
}

export async function openPendingNpy(path: string): Promise<PendingArray> {
  const { openPendingNpy } = await load(path);
  return orAbsent(path, () => openPendingNpy(path));
}

/** Throws an `attribute` error for options that NPY files do not support. */
export async function createNpy(path: string, given: CreateOptions): Promise<PendingArray> {
  const { like, dtype, shape, chunkShape, overwrite } = optionsOf(
    given,
    ["like", "dtype", "shape", "chunkShape", "overwrite"],
    {},
    "options",
    MEANT,
  ) as CreateOptions;
  checkOverwrite(overwrite);
  const type = dtype ?? like?.dtype;
  checkDType(type, {});
  const dims = shape ?? like?.shape;
  if (!isList(dims) || dims.length > MAX_RANK)
    throw wrongOption("shape", "a list of integers", dims);
  const { createPendingNpy } = await load(path);
  const checked = checkCoordinates(dims, dims.length, "the shape");
  const chunks = chunkShape ?? defaultChunks(checked, rowOf(type).bytes);
  checkContiguous(chunks, { shape: checked, fortranOrder: false });
  const fs = moduleOfNode("node:fs/promises") as typeof Fs;
  const nodePath = moduleOfNode("node:path") as typeof Path;
  const folder = nodePath.dirname(nodePath.resolve(path));
  await unblocked({ path: folder }, () => makeFolders(folder));
  if (overwrite === true) {
    await fs.rm(`${path}.part`, { force: true });
  } else if ((await fs.stat(path).catch(() => null)) !== null) {
    throw alreadyThere({ path });
  }
  return createPendingNpy(path, { dtype: type, shape: checked, chunkShape: chunks });
}
