/**
 * Checks that jobs stay inside the folders and addresses in which a worker may read and write. Anyone who can write to
 * a queue can name job folders, and a job can name any array. Therefore, a worker with roots accepts only jobs whose
 * folder, inputs and output all lie within a root. Paths are compared after resolving links.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { wrongOption, wrongValue } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import { isCode, isUrl } from "../../boxes/file.ts";
import type { Guard } from "../../boxes/array.ts";
import { files } from "../../boxes/files.ts";
import { partOf } from "./open-arrays.ts";
import type { JobSpec } from "./spec.ts";

/** Folders without links, and object storage addresses such as `s3://bucket/prefix`. */
export interface Roots {
  readonly folders: readonly string[];
  readonly addresses: readonly string[];
}

/** @throws TensorError `attribute` unless the value is null or has both lists */
export function checkRoots(roots: unknown): asserts roots is Roots | null {
  if (roots === null) return;
  const { folders, addresses }: Partial<Roots> = Object(roots);
  if (isStrings(folders) && isStrings(addresses)) return;
  throw wrongOption(
    "roots",
    'null or lists such as { folders: ["/shared"], addresses: [] }',
    roots,
  );
}

const isStrings = (list: unknown): boolean =>
  Array.isArray(list) && list.every((one) => typeof one === "string");

/**
 * @param given existing folders, and addresses
 * @throws TensorError `attribute` if the list has other entries
 */
export async function rootsFrom(given: unknown): Promise<Roots> {
  if (!Array.isArray(given) || given.length === 0) {
    const must = "roots must be a list of folders, and of addresses such as s3://bucket/prefix";
    throw wrongValue("attribute", must, given, { key: "roots" });
  }
  const [folders, addresses]: string[][] = [[], []];
  for (const root of given as unknown[]) {
    if (typeof root !== "string" || root === "" || root.includes("\0"))
      throw wrongValue("attribute", "a root must be a folder", root, { key: "roots" });
    if (isUrl(root)) addresses.push(plainAddress(root, "the root"));
    else folders.push(await realFolder(root));
  }
  return { folders, addresses };
}

async function realFolder(root: string): Promise<string> {
  const found = await fs.realpath(root).catch(() => null);
  if (found !== null && (await fs.stat(found)).isDirectory()) return found;
  throw new TensorError("attribute", `the root ${root} must be a folder that exists`, {
    key: "roots",
    file: root,
  });
}

/** Returns a function that rejects files that links move outside all roots. */
export const guardOf =
  (roots: Roots): Guard =>
  (file) =>
    checkPlace(roots, file, "the file");

/** Throws an `attribute` error if a folder lies outside all roots. */
export const checkFolderIn = (roots: Roots, folder: string): Promise<void> =>
  checkPlace(roots, folder, "the job's folder");

/** Throws an `attribute` error if the job's folder or one of its arrays lies outside all roots. */
export async function checkJobIn(roots: Roots, folder: string, spec: JobSpec): Promise<void> {
  await checkFolderIn(roots, folder);
  const { data, indices, updates, out } = spec;
  for (const [name, array] of Object.entries({ data, indices, updates, out })) {
    if (array === undefined) continue;
    const what = name === "out" ? "the job's output" : `the job's ${name}`;
    // The first path that is outside is the error.
    await checkPlace(roots, array.path, what);
  }
  // The name of the unfinished output differs, and may also be a link.
  if (out.format === "npy") await checkPlace(roots, partOf(spec), "the job's output");
}

async function checkPlace(roots: Roots, place: string, what: string): Promise<void> {
  const isIn = isUrl(place)
    ? roots.addresses.some((root) => startsWith(plainAddress(place, what), root))
    : await isInFolders(roots.folders, place);
  if (isIn) return;
  const all = [...roots.folders, ...roots.addresses].join(", ");
  throw new TensorError("attribute", `${what} ${place} lies outside this worker's roots: ${all}`, {
    key: "roots",
    file: place,
    allowed: [...roots.folders, ...roots.addresses],
  });
}

const startsWith = (address: string, root: string): boolean =>
  address === root || address.startsWith(root.endsWith("/") ? root : `${root}/`);

/**
 * Returns an address after checking that servers interpret all its parts in the same way. Throws an `attribute` error
 * for ambiguous parts such as `..`.
 */
function plainAddress(address: string, what: string): string {
  const [, rest = ""] = /^[a-z][a-z0-9+.-]+:\/\/(.*)$/is.exec(address) ?? [];
  const isPlain =
    !/[\\@?#%\s]/.test(rest) && rest.split("/").every((part) => part !== "." && part !== "..");
  if (isPlain) return address;
  const must = "must be an address without . and .. as names, and without \\ @ ? # % and spaces";
  throw wrongValue("attribute", `${what} ${must}`, address, { key: "roots" });
}

async function isInFolders(folders: readonly string[], place: string): Promise<boolean> {
  const real = await realPath(path.resolve(place));
  if (real === null) return false;
  return folders.some((folder) => {
    const rest = path.relative(folder, real);
    return rest === "" || (rest.split(path.sep)[0] !== ".." && !path.isAbsolute(rest));
  });
}

/**
 * Resolves links in a path. Names that do not exist are appended to the resolved path of the existing folders. For a
 * link without a target, the result is null, because a write would create the target.
 */
async function realPath(place: string): Promise<string | null> {
  try {
    return await files.realpath(place);
  } catch (error) {
    const above = path.dirname(place);
    // The path of an array in an archive continues after a file.
    if (!isCode(error, "ENOENT", "ENOTDIR") || above === place) return null;
    const isLink = await fs.lstat(place).then(
      () => true,
      () => false,
    );
    if (isLink) return null;
    const real = await realPath(above);
    return real === null ? null : path.join(real, path.basename(place));
  }
}
