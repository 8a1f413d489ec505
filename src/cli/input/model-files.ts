/** Lists the model files at a path: a single file, or all models in a folder. */

import * as fs from "node:fs";
import * as path from "node:path";
import { Failure, STDIN, withPath, wrongData } from "../failure.ts";
import type { Io } from "../io.ts";
import { isIR, isIRFile } from "./read-files.ts";

/** A readable model file, or an unreadable folder. */
export interface FoundFile {
  readonly file: string;
  readonly failure?: Failure;
}

/** Sorts numbers in file names by value, so that `block10` follows `block9`. */
const { compare } = new Intl.Collator("en", { numeric: true });

export const isFolder = ({ cwd }: Io, file: string): boolean =>
  file !== STDIN &&
  (fs.statSync(path.resolve(cwd, file), { throwIfNoEntry: false })?.isDirectory() ?? false);

/**
 * Yields the files specified in `given`, in order. Folders are read lazily, and `looking` is called for each folder.
 */
export function* findModels(
  io: Io,
  given: string,
  looking: (folder: string) => void,
): Iterable<FoundFile> {
  if (!isFolder(io, given)) {
    yield { file: given };
    return;
  }
  let count = 0;
  for (const found of modelsIn(io, given, looking)) {
    count++;
    yield found;
  }
  if (count > 0) return;
  const failure = wrongData(`${given} must contain an .onnx file, or an .xml file of OpenVINO`);
  yield { file: given, failure };
}

function* modelsIn(io: Io, folder: string, looking: (folder: string) => void): Iterable<FoundFile> {
  looking(folder);
  let entries: fs.Dirent[];
  try {
    entries = withPath(folder, () =>
      fs.readdirSync(path.resolve(io.cwd, folder), { withFileTypes: true }),
    );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    yield { file: folder, failure: error };
    return;
  }
  for (const entry of entries.toSorted((a, b) => compare(a.name, b.name))) {
    const { name } = entry;
    const place = path.join(folder, name);
    // Symbolic links to folders are not followed, because they may create cycles.
    if (entry.isDirectory()) {
      if (!isPassedOver(name)) yield* modelsIn(io, place, looking);
    } else if (isModelName(name) && !isFolder(io, place)) {
      if (!isIR(name) || isIRFile(io, place)) yield { file: place };
    }
  }
}

/** Returns true for folders that usually contain no user models. */
const isPassedOver = (name: string): boolean => name.startsWith(".") || name === "node_modules";

const isModelName = (name: string): boolean => isIR(name) || /\.onnx$/i.test(name);
