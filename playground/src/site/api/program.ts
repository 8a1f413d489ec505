/** Examples of docstrings as whole programs: an example names exports, and its program imports them first. */

import type { ApiEntry } from "./exports.ts";

/** The exports of each entry by the entry's name. Of two entries with one name, the first in order is imported. */
export type Names = ReadonlyMap<string, ReadonlySet<string>>;

/** @param first the entry whose page has the example: its own names take precedence */
export const namesFor = (entries: readonly ApiEntry[], first: string): Names =>
  new Map(
    entries
      .toSorted((a, b) => Number(b.name === first) - Number(a.name === first))
      .map(({ name, exports }) => [
        name,
        new Set(exports.filter(({ kind }) => kind !== "type").map((one) => one.name)),
      ]),
  );

/** The code of an example, which docstrings write as a block of TypeScript. */
export const codeOf = (example: string): string =>
  /^```ts\n([^]*)\n```$/.exec(example.trim())?.[1] ?? "";

/** Everything in which a name is not a use of an export: comments, texts, members and keys. */
const NO_USES = /\/\/.*|"(?:[^"\\]|\\.)*"|\.\w+|\b\w+(?=:)/g;

/** The example with the imports that it lacks. */
export function programOf(code: string, names: Names): string {
  const words = new Set(
    code
      .replaceAll(/`[^`]*`/g, "")
      .replaceAll(NO_USES, "")
      .match(/\b[A-Za-z]\w*\b/g),
  );
  // What the code declares or imports itself is not an export.
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
