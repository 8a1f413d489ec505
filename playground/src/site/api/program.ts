/** Converts docstring examples to complete programs: an example uses exports, and the program imports them first. */

import type { ApiEntry } from "./exports.ts";

/**
 * Names exported by each entry. If several entries export a name, programs import it from the first of these entries.
 */
export type Names = ReadonlyMap<string, ReadonlySet<string>>;

/** @param first the entry whose page shows the example; its names take precedence */
export const namesFor = (entries: readonly ApiEntry[], first: string): Names =>
  new Map(
    entries
      .toSorted((a, b) => Number(b.name === first) - Number(a.name === first))
      .map(({ name, exports }) => [
        name,
        new Set(exports.filter(({ kind }) => kind !== "type").map((one) => one.name)),
      ]),
  );

/** Returns the code of an example, which is a TypeScript block in the docstring. */
export const codeOf = (example: string): string =>
  /^```ts\n([^]*)\n```$/.exec(example.trim())?.[1] ?? "";

/** Matches text in which a name does not refer to an export: comments, strings, members and keys. */
const NO_USES = /\/\/.*|"(?:[^"\\]|\\.)*"|\.\w+|\b\w+(?=:)/g;

/** Adds the missing imports to an example. */
export function programOf(code: string, names: Names): string {
  const words = new Set(
    code
      .replaceAll(/`[^`]*`/g, "")
      .replaceAll(NO_USES, "")
      .match(/\b[A-Za-z]\w*\b/g),
  );
  // A name that the code declares or imports itself does not refer to an export.
  for (const [, own] of code.matchAll(/\b(?:const|let|function) (\w+)/g)) words.delete(own);
  for (const [, list] of code.matchAll(/^import \{([^}]*)\}/gm)) {
    for (const own of list.split(",")) words.delete(own.trim());
  }
  const imports: string[] = [];
  for (const [entry, exports] of names) {
    const used = [...words].filter((word) => exports.has(word));
    for (const word of used) words.delete(word);
    if (used.length > 0) imports.push(`import { ${used.toSorted().join(", ")} } from "${entry}";`);
  }
  const own = code.startsWith("import ") ? "" : "\n";
  return imports.length === 0 ? code : `${imports.toSorted().join("\n")}\n${own}${code}`;
}
