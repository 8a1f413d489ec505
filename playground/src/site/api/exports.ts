/**
 * Exports of the package's entries, each with its declaration. `oxc-parser` parses the package's type files, because
 * TypeScript 7 has no stable API for scripts. In these files, each name is declared once, and other files pass it on
 * with `export { name } from`. Signatures are copied from the files.
 */

import type { Comment, Directive, Function as Callable, Node, Statement } from "oxc-parser";

export type Parse = (
  file: string,
  source: string,
) => { program: { body: readonly (Directive | Statement)[] }; comments: Comment[] };

/** Reads a type file by its path in `dist/`. */
export type ReadTypes = (file: string) => string;

export type Kind = "function" | "class" | "constant" | "type";

export interface Export {
  readonly name: string;
  readonly kind: Kind;
  /** All overloads of a function form one signature. */
  readonly signature: string;
  /** The text of the docstring; empty if the docstring is missing. */
  readonly doc: string;
  /** The first entry that exports the declaration, whose page documents it. */
  readonly home: string;
}

export interface ApiEntry {
  /** The import name: `ndscatter/zarr`. */
  readonly name: string;
  /** The docstring of the entry. */
  readonly doc: string;
  readonly exports: readonly Export[];
}

type Declared = Omit<Export, "home">;

interface TypeFile {
  readonly declared: ReadonlyMap<string, Declared>;
  /** The names that the file passes on, with the files that declare them. */
  readonly passed: readonly { readonly name: string; readonly from: string }[];
  readonly doc: string;
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
  const homes = new Map<Declared, string>();
  const withHome = (one: Declared, entry: string): Export => {
    const home = homes.get(one) ?? entry;
    homes.set(one, home);
    return { ...one, home };
  };
  return Object.entries(entries).map(([name, file]) => {
    const { doc, declared, passed } = fileOf(file);
    const others = passed.map((one) => {
      const found = fileOf(one.from).declared.get(one.name);
      if (found === undefined)
        throw new Error(`${file} exports ${one.name}, which ${one.from} lacks`);
      return found;
    });
    const exports = [...declared.values(), ...others].map((one) => withHome(one, name));
    return { name, doc, exports: exports.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  });
}

function readTypes(file: string, source: string, parse: Parse): TypeFile {
  const { program, comments } = parse(file, source);
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  const declared = new Map<string, Declared>();
  const passed: { name: string; from: string }[] = [];
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    for (const { local } of statement.specifiers) {
      const from = new URL(statement.source?.value ?? "", `file:///${file}`).pathname.slice(1);
      passed.push({ name: "name" in local ? local.name : "", from: from.replace(/ts$/, "d.ts") });
    }
    const found = statement.declaration && declarationOf(statement.declaration, source);
    if (found === null) continue;
    const before = declared.get(found.name);
    const signatures = [...(before === undefined ? [] : [before.signature]), found.signature];
    const doc = before?.doc || docBefore(docs, source, statement.start);
    declared.set(found.name, { ...found, signature: signatures.join("\n"), doc });
  }
  const [first] = docs;
  const isOfFile = first !== undefined && isAlone(first, source);
  return { declared, passed, doc: isOfFile ? textOfDoc(first) : "" };
}

/**
 * Checks whether the first comment precedes another comment, an import or a re-export, and therefore describes the
 * whole file.
 */
const isAlone = ({ start, end }: Comment, source: string): boolean =>
  source.slice(0, start).trim() === "" &&
  /^\s*(\/\*\*|import|export (type )?[{*])/.test(source.slice(end));

function docBefore(docs: readonly Comment[], source: string, start: number): string {
  const doc = docs.find(({ end }) => end <= start && source.slice(end, start).trim() === "");
  return doc === undefined ? "" : textOfDoc(doc);
}

/** Converts a docstring to Markdown. */
const textOfDoc = ({ value }: Comment): string =>
  value
    .replaceAll(/^\*|\s+$/g, "")
    .replaceAll(/^\s*\* ?/gm, "")
    .trim();

type Declaration = NonNullable<
  Extract<Statement, { type: "ExportNamedDeclaration" }>["declaration"]
>;

function declarationOf(declaration: Declaration, source: string): Omit<Declared, "doc"> {
  const text = source.slice(declaration.start, declaration.end).replace(/^declare /, "");
  const [, word, name] = /^(?:abstract )?(\w+) ([\w$]+)/.exec(text) ?? ["", "", ""];
  if (declaration.type === "TSDeclareFunction") {
    return { name, kind: "function", signature: functionText(text, declaration, source) };
  }
  // Users cannot access private members.
  if (word === "class") {
    return { name, kind: "class", signature: text.replaceAll(/^\s*(?:private |#).*\n/gm, "") };
  }
  if (word !== "const") return { name, kind: "type", signature: text };
  const isFunction = /: \(?(<|\()[^]*=>|: typeof (run|\w+\.)/.test(text);
  return { name, kind: isFunction ? "function" : "constant", signature: text };
}

/** The maximum width of a one-line signature; in a longer signature each parameter is on a separate line. */
const WIDEST = 96;

function functionText(text: string, declaration: Callable, source: string): string {
  if (text.length <= WIDEST) return text;
  const { id, typeParameters, params, returnType } = declaration;
  const part = (node: Node | null | undefined): string =>
    node ? source.slice(node.start, node.end) : "";
  const lines = params.map((one) => `  ${part(one)},\n`).join("");
  return `function ${id?.name ?? ""}${part(typeParameters)}(\n${lines})${part(returnType)};`;
}
