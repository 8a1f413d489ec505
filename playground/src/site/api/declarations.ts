/**
 * Reads the declarations and exports of a type file. `oxc-parser` parses the package's `.d.ts` files, because
 * TypeScript 7 has no stable API for scripts. Signatures are copied from the file.
 */

import type { Comment, Directive, Function as Callable, Node, Statement } from "oxc-parser";

export type Parse = (
  file: string,
  source: string,
) => { program: { body: Body }; comments: Comment[] };
type Body = readonly (Directive | Statement)[];

export type Kind = "function" | "class" | "constant" | "type";

/** An export as its file declares it. All overloads of a function form one declaration. */
export interface Declaration {
  readonly name: string;
  readonly kind: Kind;
  readonly signature: string;
  /** The text of the docstring; empty if the docstring is missing. */
  readonly doc: string;
}

/** A re-export: one name from another file, or all names of that file. */
export interface Passed {
  readonly name: string | null;
  readonly local: string;
  readonly from: string;
}

export interface TypeFile {
  readonly declared: ReadonlyMap<string, Declaration>;
  readonly passed: readonly Passed[];
  /** The docstring of the whole file; empty if the docstring is missing. */
  readonly doc: string;
}

export function readTypes(file: string, source: string, parse: Parse): TypeFile {
  const { program, comments } = parse(file, source);
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  const declared = new Map<string, Declaration>();
  const passed: Passed[] = [];
  const imports = importsOf(program.body);
  for (const statement of program.body) {
    if (statement.type === "ExportAllDeclaration") {
      passed.push({ name: null, local: "", from: statement.source.value });
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    for (const { exported, local } of statement.specifiers) {
      const name = nameOf(exported);
      const imported = imports.get(nameOf(local));
      if (statement.source !== null) {
        passed.push({ name, local: nameOf(local), from: statement.source.value });
      } else if (imported !== undefined) passed.push({ ...imported, name });
    }
    if (statement.declaration === null) continue;
    const doc = textOfDoc(docBefore(docs, source, statement.start));
    for (const found of declarationsIn(statement.declaration, source)) {
      const before = declared.get(found.name);
      const signature =
        before === undefined ? found.signature : `${before.signature}\n${found.signature}`;
      declared.set(found.name, { ...found, signature, doc: before?.doc || doc });
    }
  }
  const [first] = docs;
  const isOfFile = first !== undefined && (/@module/.test(first.value) || isAlone(docs, source));
  return { declared, passed, doc: isOfFile ? textOfDoc(first.value) : "" };
}

/** Returns the imports of a file, by local name. */
function importsOf(body: Body): ReadonlyMap<string, { local: string; from: string }> {
  const imports = new Map<string, { local: string; from: string }>();
  for (const statement of body) {
    if (statement.type !== "ImportDeclaration") continue;
    for (const one of statement.specifiers) {
      if (one.type !== "ImportSpecifier") continue;
      imports.set(one.local.name, { local: nameOf(one.imported), from: statement.source.value });
    }
  }
  return imports;
}

const nameOf = (name: { type: string; name?: string; value?: string }): string =>
  name.name ?? name.value ?? "";

/**
 * Checks whether the first comment precedes another comment, an import or a re-export, and therefore describes the
 * whole file.
 */
const isAlone = (docs: readonly Comment[], source: string): boolean =>
  source.slice(0, docs[0].start).trim() === "" &&
  /^\s*(\/\*\*|import|export (type )?[{*])/.test(source.slice(docs[0].end));

const docBefore = (docs: readonly Comment[], source: string, start: number): string =>
  docs.find(({ end }) => end <= start && source.slice(end, start).trim() === "")?.value ?? "";

/** Converts a docstring to Markdown. */
const textOfDoc = (comment: string): string =>
  comment
    .replaceAll(/^\*|\s+$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();

type Declared = Extract<Statement, { type: "ExportNamedDeclaration" }>["declaration"];

function declarationsIn(
  declaration: NonNullable<Declared>,
  source: string,
): Omit<Declaration, "doc">[] {
  const text = (node: Node): string => source.slice(node.start, node.end);
  switch (declaration.type) {
    case "TSDeclareFunction":
    case "FunctionDeclaration":
      return [
        {
          name: declaration.id?.name ?? "",
          kind: "function",
          signature: functionText(declaration, source),
        },
      ];
    case "ClassDeclaration":
      return [
        {
          name: declaration.id?.name ?? "",
          kind: "class",
          signature: withoutPrivate(text(declaration)).replace(/^declare /, ""),
        },
      ];
    case "VariableDeclaration":
      return declaration.declarations.map(({ id }) => ({
        name: "name" in id ? id.name : "",
        kind: /: \(?(<|\()[^]*=>|: typeof (run|\w+\.)/.test(text(id)) ? "function" : "constant",
        signature: `const ${text(id)};`,
      }));
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [
        {
          name: declaration.id.name,
          kind: "type",
          signature: text(declaration).replace(/^declare /, ""),
        },
      ];
    default:
      return [];
  }
}

/** Removes private members, because users cannot access them. */
const withoutPrivate = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !/^\s*(private |#)/.test(line))
    .join("\n");

/** The maximum width of a one-line signature; in a longer signature each parameter is on a separate line. */
const WIDEST = 96;

function functionText(declaration: Callable, source: string): string {
  const text = source.slice(declaration.start, declaration.end).replace(/^declare /, "");
  if (text.length <= WIDEST) return text;
  const { id, typeParameters, params, returnType } = declaration;
  const part = (node: Node | null | undefined): string =>
    node === null || node === undefined ? "" : source.slice(node.start, node.end);
  const lines = params.map((one) => `  ${part(one)},\n`).join("");
  return `function ${id?.name ?? ""}${part(typeParameters)}(\n${lines})${part(returnType)};`;
}
