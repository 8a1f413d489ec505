/**
 * The public surface as text: the names that each entry exports, and the declarations of the package without comments.
 * The files that hold the declarations are left out, because moving a declaration changes nothing for users.
 */

import fs from "node:fs";
import path from "node:path";
import { parseSync } from "oxc-parser";
import { ROOT, read } from "./documents.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Names that exist at run time, and names of types alone. */
interface Names {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** Reads the exported names and the declarations of a file. */
function parsed(file: string): Names & { readonly texts: readonly string[] } {
  const source = fs.readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const [values, types, texts]: string[][] = [[], [], []];
  for (const statement of program.body) {
    const isExport = statement.type === "ExportNamedDeclaration";
    for (const { exported, exportKind } of isExport ? statement.specifiers : []) {
      (exportKind === "type" ? types : values).push(source.slice(exported.start, exported.end));
    }
    const declaration = isExport ? statement.declaration : statement;
    if (declaration === null || declaration.type === "ImportDeclaration") continue;
    const text = withoutComments(source, declaration, comments);
    texts.push(text);
    if (!isExport) continue;
    const [, kind, name] = /^(?:abstract )?(\w+) (\w+)/.exec(text) ?? [];
    (/interface|type/.test(kind) ? types : values).push(name);
  }
  const listOf = (names: readonly string[]): string[] => [...new Set(names)].toSorted();
  return { values: listOf(values), types: listOf(types), texts };
}

function withoutComments(source: string, { start, end }: Span, comments: readonly Span[]): string {
  let text = "";
  let at = start;
  for (const comment of comments) {
    if (comment.start < start || comment.end > end) continue;
    text += source.slice(at, comment.start);
    at = comment.end;
  }
  const lines = (text + source.slice(at, end)).split("\n").map((line) => line.trimEnd());
  return lines
    .filter((line) => line !== "")
    .join("\n")
    .replace(/^declare /, "");
}

/** Words in lines of at most 120 characters. */
function wrapped(words: readonly string[]): string {
  let text = "";
  let line = "";
  for (const word of words) {
    if (line.length + word.length > 118) {
      text += `${line}\n`;
      line = "";
    }
    line += `${line === "" ? "" : " "}${word}`;
  }
  return text + line;
}

interface Entry extends Names {
  /** The name to import, and the built file. */
  readonly name: string;
  readonly file: string;
}

/** The entries of the built package, and the text of the surface. */
export function readSurface(): { entries: readonly Entry[]; text: string } {
  const texts = new Set(parsed(path.join(ROOT, "dist/entries/types.d.ts")).texts);
  const { exports }: { exports: Record<string, { types: string; default: string } | string> } =
    JSON.parse(read("package.json"));
  const entries = Object.entries(exports).flatMap(([name, files]): Entry[] => {
    if (typeof files === "string") return [];
    const { texts: own, ...names } = parsed(path.join(ROOT, files.types));
    for (const text of own) texts.add(text);
    return [{ name: `ndscatter${name.slice(1)}`, file: path.join(ROOT, files.default), ...names }];
  });
  const lists = entries.map(({ name, values, types }) =>
    [`// ${name}`, wrapped(values), ...(types.length > 0 ? ["// types", wrapped(types)] : [])].join(
      "\n",
    ),
  );
  return { entries, text: `${[...lists, ...[...texts].toSorted()].join("\n\n")}\n` };
}
