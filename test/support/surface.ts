/**
 * The public surface as text: the names that each entry exports, and the declarations that these names lead to, as the
 * compiler printed them, without comments. The files that declare them are left out, because moving a declaration
 * changes nothing for users.
 */

import fs from "node:fs";
import path from "node:path";
import { parseSync, visitorKeys } from "oxc-parser";
import { ROOT, read } from "./documents.ts";

type Syntax = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

/** A module's own declaration, or a name of another module; the name `*` stands for all of them. */
type Meaning = { readonly text: string; readonly body: Syntax } | Reference;
interface Reference {
  readonly from: string;
  readonly name: string;
}

interface Exported {
  /** The name in the scope of the module. */
  readonly local: string;
  /** True if the name does not exist at run time. */
  readonly isType: boolean;
}

interface Module {
  readonly scope: ReadonlyMap<string, Meaning[]>;
  readonly exported: ReadonlyMap<string, Exported>;
  /** Modules whose exports are all exported. */
  readonly all: readonly string[];
}

const isSyntax = (value: unknown): value is Syntax =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

const partOf = (node: Syntax, key: string): Syntax => node[key] as Syntax;
const partsOf = (node: Syntax, key: string): Syntax[] => [node[key]].flat().filter(isSyntax);
const nameOf = (node: Syntax): string => String(node["name"]);

/** The parts of syntax that hold the name of a type or value. */
const REFERENCES = new Set(["typeName", "exprName", "expression", "superClass"]);

/** A longer list that no entry exports is a table, from which users see only the names of its rows. */
const LONGEST_LIST = 12;

/** True for syntax that leads to nothing that users can reach. */
const isInternal = (node: Syntax): boolean =>
  // Classes are created and tested by functions, and symbols of the package are not exported.
  node["kind"] === "constructor" ||
  node["static"] === true ||
  node["computed"] === true ||
  // `Executor["kind"]` makes one field public, not the interface.
  (node.type === "TSIndexedAccessType" && partOf(node, "objectType").type === "TSTypeReference");

class Surface {
  private readonly modules = new Map<string, Module>();
  private readonly followed = new Set<Syntax>();
  /** Declarations that exported names lead to. */
  readonly texts = new Set<string>();

  private module(file: string): Module {
    const known = this.modules.get(file);
    if (known !== undefined) return known;
    const made = parsed(file);
    this.modules.set(file, made);
    return made;
  }

  /** The exported names of a module. It collects the declarations of each. */
  names(file: string): (readonly [name: string, isType: boolean])[] {
    const { exported, all } = this.module(file);
    for (const name of exported.keys()) this.collectExport(file, name);
    const own = [...exported].map(([name, { isType }]) => [name, isType] as const);
    return [...own, ...all.flatMap((other) => this.names(other))];
  }

  /**
   * Collects what an exported name of a module leads to; false if the module does not export it.
   * @param isList whether only the values of a list are wanted, as in `typeof LIST`
   */
  private collectExport(file: string, name: string, isList = false): boolean {
    const { exported, all } = this.module(file);
    const own = exported.get(name);
    if (own === undefined) return all.some((other) => this.collectExport(other, name, isList));
    this.collect(file, own.local, isList);
    return true;
  }

  /** Collects what a name in the scope of a module leads to. Global names lead to nothing. */
  private collect(file: string, name: string, isList: boolean): void {
    for (const meaning of this.module(file).scope.get(name) ?? []) {
      if ("from" in meaning) {
        const { from, name } = meaning;
        const isDeclared = name === "*" || this.collectExport(from, name, isList);
        if (!isDeclared) throw new Error(`${from} does not export ${name}`);
      } else if (isList) {
        if (meaning.text.split("\n").length <= LONGEST_LIST) this.texts.add(meaning.text);
      } else if (!this.followed.has(meaning.body)) {
        this.texts.add(meaning.text);
        this.followed.add(meaning.body);
        this.follow(file, meaning.body);
      }
    }
  }

  /** Collects what the types inside a declaration lead to. */
  private follow(file: string, node: Syntax): void {
    if (isInternal(node)) return;
    for (const key of visitorKeys[node.type] ?? []) {
      for (const child of partsOf(node, key)) {
        if (!REFERENCES.has(key)) this.follow(file, child);
        else if (child.type === "Identifier") this.collect(file, nameOf(child), key === "exprName");
        else if (child.type === "TSQualifiedName") this.collectMember(file, child);
        else this.follow(file, child);
      }
    }
  }

  /** Collects what a name of a namespace, which is a whole module, leads to. */
  private collectMember(file: string, node: Syntax): void {
    const [space] = this.module(file).scope.get(nameOf(partOf(node, "left"))) ?? [];
    if (space !== undefined && "from" in space) {
      this.collectExport(space.from, nameOf(partOf(node, "right")));
    }
  }
}

function parsed(file: string): Module {
  const source = fs.readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const scope = new Map<string, Meaning[]>();
  const exported = new Map<string, Exported>();
  const all: string[] = [];
  const add = (name: string, meaning: Meaning): unknown =>
    scope.set(name, [...(scope.get(name) ?? []), meaning]);
  const fileOf = (node: Syntax): string | null => {
    const name = String(partOf(node, "source")["value"]);
    return name.startsWith(".") ? path.join(path.dirname(file), name.replace(/ts$/, "d.ts")) : null;
  };
  for (const statement of program.body as unknown[] as Syntax[]) {
    const from = isSyntax(statement["source"]) ? fileOf(statement) : null;
    if (statement.type === "ImportDeclaration") {
      for (const one of from === null ? [] : partsOf(statement, "specifiers")) {
        const isSpace = one.type === "ImportNamespaceSpecifier";
        const name = isSpace ? "*" : nameOf(partOf(one, "imported"));
        add(nameOf(partOf(one, "local")), { from: from ?? "", name });
      }
    } else if (statement.type === "ExportAllDeclaration") {
      if (from !== null) all.push(from);
    } else {
      const isExport = statement.type === "ExportNamedDeclaration";
      for (const one of isExport ? partsOf(statement, "specifiers") : []) {
        const [name, inner] = [nameOf(partOf(one, "exported")), nameOf(partOf(one, "local"))];
        const isType = statement["exportKind"] === "type" || one["exportKind"] === "type";
        // Names of other modules are not in scope, so they get a key that is no name.
        exported.set(name, { local: from === null ? inner : `export ${name}`, isType });
        if (from !== null) add(`export ${name}`, { from, name: inner });
      }
      const body = isExport ? partsOf(statement, "declaration")[0] : statement;
      const text = body && withoutComments(source, body, comments);
      for (const name of body === undefined ? [] : declaredIn(body)) {
        add(name, { text, body });
        const isType = /^(?:interface|type) /.test(text);
        if (isExport) exported.set(name, { local: name, isType });
      }
    }
  }
  return { scope, exported, all };
}

const declaredIn = (declaration: Syntax): string[] =>
  declaration.type === "VariableDeclaration"
    ? partsOf(declaration, "declarations").map((one) => nameOf(partOf(one, "id")))
    : partsOf(declaration, "id").map(nameOf);

function withoutComments(
  source: string,
  { start, end }: Syntax,
  comments: readonly { readonly start: number; readonly end: number }[],
): string {
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

interface Entry {
  /** The name to import, and the built file. */
  readonly name: string;
  readonly file: string;
  /** Names that exist at run time, and names of types alone. */
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** The entries of the built package, and the text of the surface. */
export function readSurface(): { entries: readonly Entry[]; text: string } {
  const surface = new Surface();
  const { exports }: { exports: Record<string, { types: string; default: string } | string> } =
    JSON.parse(read("package.json"));
  const entries = Object.entries(exports).flatMap(([name, files]): Entry[] => {
    if (typeof files === "string") return [];
    const names = surface.names(path.join(ROOT, files.types));
    const named = (wanted: boolean): string[] =>
      names.flatMap(([name, isType]) => (isType === wanted ? [name] : [])).toSorted();
    const file = path.join(ROOT, files.default);
    return [{ name: `ndscatter${name.slice(1)}`, file, values: named(false), types: named(true) }];
  });
  const lists = entries.map(({ name, values, types }) =>
    [`// ${name}`, wrapped(values), ...(types.length > 0 ? ["// types", wrapped(types)] : [])].join(
      "\n",
    ),
  );
  return { entries, text: `${[...lists, ...[...surface.texts].toSorted()].join("\n\n")}\n` };
}
