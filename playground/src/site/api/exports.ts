/** Exports of the package's entries, each with its declaration. */

import { readTypes, type Declaration, type Parse, type TypeFile } from "./declarations.ts";

/** Reads a type file by its path in `dist/`. */
export type ReadTypes = (file: string) => string;

export interface Export extends Declaration {
  /** The file of the declaration. Two entries that export the same declaration have the same declaration file. */
  readonly file: string;
}

export interface ApiEntry {
  /** The import name: `ndscatter/zarr`. */
  readonly name: string;
  /** The docstring of the entry. */
  readonly doc: string;
  readonly exports: readonly Export[];
}

/** @param entries the entries by name, each with its type file in `dist/` */
export function apiOf(
  entries: Readonly<Record<string, string>>,
  read: ReadTypes,
  parse: Parse,
): ApiEntry[] {
  const files = new Map<string, TypeFile>();
  const fileOf = (file: string): TypeFile => {
    const known = files.get(file) ?? readTypes(file, read(file), parse);
    files.set(file, known);
    return known;
  };
  return Object.entries(entries).map(([name, file]) => ({
    name,
    doc: fileOf(file).doc,
    exports: [...exportsOf(file, fileOf)]
      .map(([as, found]) => ({ ...found, name: as }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  }));
}

function exportsOf(file: string, fileOf: (file: string) => TypeFile): Map<string, Export> {
  const { declared, passed } = fileOf(file);
  const found = new Map<string, Export>();
  for (const { name, local, from } of passed) {
    const target = new URL(from, `file:///${file}`).pathname.slice(1).replace(/\.ts$/, ".d.ts");
    const theirs = exportsOf(target, fileOf);
    if (name === null) for (const [one, what] of theirs) found.set(one, what);
    else {
      const what = theirs.get(local);
      if (what === undefined) throw new Error(`${file} exports ${local}, which ${target} lacks`);
      found.set(name, what);
    }
  }
  // A file's own names take precedence over its re-exports.
  for (const [name, declaration] of declared) found.set(name, { ...declaration, file });
  return found;
}
