/**
 * Writes the type declarations of the package: one file for each entry, and `types.d.ts`, which holds the declarations
 * that several entries need. A class or a symbol must be declared once, because TypeScript compares both by declaration.
 *
 * The compiler writes a file for each source, with all exports. Users can reach a third of that text. This script follows
 * the names from the exports of the entries, so it reads only the syntax that names types; `parse` does not check types.
 */

import fs from "node:fs";
import path from "node:path";
import { parseSync, visitorKeys } from "oxc-parser";

/** Parts of syntax that hold the name of a type or value. */
const REFERENCES = new Set(["typeName", "exprName", "expression", "superClass"]);

/** File of the shared declarations, beside the entries. */
const SHARED = "types";

/**
 * Writes `TARGET/entries/NAME.d.ts` for each entry, and the shared file.
 * @param {string} types folder of the compiler's declarations
 * @param {string} target folder of the package's files
 * @param {readonly string[]} names of the entries
 */
export function writeDeclarations(types, target, names) {
  const program = new Program();
  const entryOf = (name) => path.join(types, "entries", `${name}.d.ts`);
  /** Entries that reach a declaration. */
  const users = new Map();
  for (const name of names) {
    const reached = new Set();
    for (const { symbol } of program.exportsOf(entryOf(name)).values()) {
      program.reach(symbol, reached);
    }
    for (const symbol of reached) users.set(symbol, [...(users.get(symbol) ?? []), name]);
  }
  const chunks = new Map([SHARED, ...names].map((name) => [name, []]));
  // A class of which an entry exports only the type is passed on from the shared file.
  const passed = new Set();
  for (const name of names) {
    for (const { symbol, isType } of program.exportsOf(entryOf(name)).values()) {
      if (isType && !symbol.isType) program.reach(symbol, passed);
    }
  }
  for (const [symbol, by] of users) {
    chunks.get(by.length > 1 || passed.has(symbol) ? SHARED : by[0]).push(symbol);
  }
  const exportedSymbols = new Set(
    names.flatMap((name) =>
      [...program.exportsOf(entryOf(name)).values()].map(({ symbol }) => symbol),
    ),
  );
  const namesOf = (symbols) => namesIn(program, symbols, exportedSymbols);
  const shared = namesOf(chunks.get(SHARED));
  fs.mkdirSync(path.join(target, "entries"), { recursive: true });
  for (const [chunk, symbols] of chunks) {
    const isShared = chunk === SHARED;
    const exported = isShared
      ? [...shared].map(([symbol, name]) => [name, { symbol }])
      : program.exportsOf(entryOf(chunk));
    const header = isShared ? "" : program.module(entryOf(chunk)).header;
    const directives = new Set(symbols.flatMap(({ file }) => program.module(file).directives));
    const imported = new Set(symbols.flatMap((symbol) => program.neededBy(symbol)));
    for (const symbol of symbols) imported.delete(symbol);
    const local = isShared ? shared : namesOf([...symbols, ...imported]);
    const text = printed(program, { symbols, imported, exported, local, shared });
    fs.writeFileSync(
      path.join(target, "entries", `${chunk}.d.ts`),
      [...directives].join("") + header + text,
    );
  }
}

/**
 * Chooses the names of symbols in a file: their own, unless another symbol has it, or a declaration here means the
 * global of this name. Symbols that entries export choose first.
 */
function namesIn(program, symbols, exported) {
  const taken = new Set(symbols.flatMap((symbol) => program.globalsOf(symbol)));
  const chosen = new Map();
  for (const symbol of symbols.toSorted((a, b) => exported.has(b) - exported.has(a))) {
    let { name } = symbol;
    for (let count = 1; taken.has(name); count++) name = `${symbol.name}$${count}`;
    taken.add(name);
    chosen.set(symbol, name);
  }
  return chosen;
}

/** Prints a file: its imports from the shared file, its declarations, and its exports. */
function printed(program, { symbols, imported, exported, local, shared }) {
  const renamed = (name, as) => (name === as ? name : `${name} as ${as}`);
  const list = (keyword, names, from = "") =>
    names.length === 0 ? "" : `${keyword} { ${names.toSorted().join(", ")} }${from};\n`;
  const own = new Set(symbols);
  const [here, there] = [[], []];
  const inPlace = new Set();
  for (const [name, { symbol, isType }] of exported) {
    const isOwn = own.has(symbol);
    const text = renamed((isOwn ? local : shared).get(symbol), name);
    if (isOwn && text === name) inPlace.add(symbol);
    else (isOwn ? here : there).push(isType ? `type ${text}` : text);
  }
  const from = ` from "./${SHARED}.ts"`;
  const imports = [...imported].map((symbol) => renamed(shared.get(symbol), local.get(symbol)));
  return [
    list("import type", imports, from),
    ...symbols.map((symbol) => program.print(symbol, local, inPlace.has(symbol))),
    list("export", there, from),
    list("export", here),
    // Without this line, all declarations of a file would be exported.
    "export {};\n",
  ].join("");
}

/** The declarations of all files. A symbol is a name that a file declares; it may have several declarations. */
class Program {
  #modules = new Map();

  module(file) {
    const known = this.#modules.get(file);
    if (known !== undefined) return known;
    const made = parsed(file);
    this.#modules.set(file, made);
    return made;
  }

  /** The exported names of a file: the symbol of each, and whether the name exists only as a type. */
  exportsOf(file) {
    const { exported, all } = this.module(file);
    const found = new Map(all.flatMap((other) => [...this.exportsOf(other)]));
    for (const [name, { from, local, isType }] of exported) {
      const symbol = from === null ? this.lookUp(file, local) : this.exportOf(from, local);
      if (symbol === null) throw new Error(`${file} does not declare ${local}`);
      found.set(name, { symbol, isType: isType || symbol.isType });
    }
    return found;
  }

  exportOf(file, name) {
    const found = this.exportsOf(file).get(name);
    if (found === undefined) throw new Error(`${file} does not export ${name}`);
    return found.symbol;
  }

  /** The symbol that a name in a file means; null for a global. */
  lookUp(file, name) {
    const { symbols, imports } = this.module(file);
    const imported = imports.get(name);
    return imported === undefined
      ? (symbols.get(name) ?? null)
      : this.exportOf(imported.from, imported.name);
  }

  /** The names in a symbol's declarations: where each stands, and the symbol that it means. */
  references({ file, declarations }) {
    const { imports } = this.module(file);
    return declarations.flatMap(({ node }) =>
      referencesIn(node).map(({ start, end, name, member }) => {
        // A member of a namespace, which is a whole module.
        const space = member === undefined ? undefined : imports.get(name);
        if (space?.name !== "*") {
          const first = start + name.length;
          return { start, end: first, name, symbol: this.lookUp(file, name) };
        }
        return { start, end, name, symbol: this.exportOf(space.from, member) };
      }),
    );
  }

  /** Symbols that a symbol's declarations name. */
  neededBy(symbol) {
    return this.references(symbol).flatMap(({ symbol: meant }) => meant ?? []);
  }

  /** Adds to a set the symbols that a symbol's declarations lead to. */
  reach(symbol, reached) {
    if (reached.has(symbol)) return;
    reached.add(symbol);
    for (const next of this.neededBy(symbol)) this.reach(next, reached);
  }

  /** Global names that a symbol's declarations use. */
  globalsOf(symbol) {
    const globals = this.references(symbol).filter(({ symbol: meant }) => meant === null);
    return globals.map(({ name }) => name);
  }

  /** The text of a symbol's declarations, with the name of each symbol in the file that is written. */
  print(symbol, names, isExported) {
    const { source } = this.module(symbol.file);
    const named = symbol.declarations.map(({ id }) => ({ ...id, symbol }));
    const edits = [...this.references(symbol).filter((one) => one.symbol !== null), ...named];
    const texts = symbol.declarations.map(({ start, end, node }) => {
      let text = "";
      let at = start;
      const inside = edits.filter((one) => one.start >= node.start && one.end <= node.end);
      for (const one of inside.toSorted((a, b) => a.start - b.start)) {
        text += source.slice(at, one.start) + names.get(one.symbol);
        at = one.end;
      }
      // A field whose key is a symbol belongs to the package.
      const types = /(\[\w+\]\??): .*;$/gm;
      return (text + source.slice(at, end))
        .replace(/^(?:export )?(?=(?:declare|interface|type|class) )/m, isExported ? "export " : "")
        .replaceAll(types, "$1: unknown;");
    });
    return texts.map((text) => `${text.trim()}\n`).join("");
  }
}

/** Lists the names of types and values in a declaration, except in the types of fields that users cannot name. */
function referencesIn(node) {
  const found = [];
  const visit = (current, key, isComputed) => {
    if (key === "typeAnnotation" && isComputed) return;
    if (current.type === "Identifier" && (REFERENCES.has(key) || (key === "key" && isComputed))) {
      const { start, end, name } = current;
      found.push({ start, end, name });
    } else if (current.type === "TSQualifiedName") {
      const { start, end, left, right } = current;
      found.push({ start, end, name: left.name, member: right.name });
    } else {
      for (const inner of visitorKeys[current.type] ?? []) {
        for (const child of [current[inner]].flat()) {
          if (typeof child === "object" && child !== null) visit(child, inner, current.computed);
        }
      }
    }
  };
  visit(node, "", false);
  return found;
}

/** Reads the declarations, imports and exports of a file. */
function parsed(file) {
  const source = fs.readFileSync(file, "utf8");
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const fileOf = ({ value }) =>
    value.startsWith(".") ? path.join(path.dirname(file), value.replace(/ts$/, "d.ts")) : null;
  const result = { source, symbols: new Map(), imports: new Map(), exported: new Map(), all: [] };
  let last = 0;
  for (const statement of program.body) {
    const { start, end } = statement;
    // The compiler writes a comment before the declaration that it describes.
    const from =
      last === 0
        ? start - (/\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(source.slice(0, start))?.[0].length ?? 0)
        : last;
    if (statement.type === "ImportDeclaration") addImports(result, statement, fileOf);
    else if (statement.type === "ExportAllDeclaration") result.all.push(fileOf(statement.source));
    else addDeclarations(result, file, { ...statement, from }, fileOf);
    last = end;
  }
  const [first] = program.body;
  // Lines such as `/// <reference lib="esnext.disposable" />`.
  const directives = source.match(/^\/\/\/ <.*\n/gm) ?? [];
  return { ...result, directives, header: source.slice(0, first.start) };
}

function addImports({ imports }, { specifiers, source }, fileOf) {
  const from = fileOf(source);
  if (from === null) return;
  for (const { local, imported } of specifiers) {
    imports.set(local.name, { from, name: imported?.name ?? "*" });
  }
}

function addDeclarations({ symbols, exported }, file, statement, fileOf) {
  const { type, specifiers = [], source, exportKind, from, end } = statement;
  const isExport = type === "ExportNamedDeclaration";
  for (const one of specifiers) {
    exported.set(one.exported.name, {
      from: source === null ? null : fileOf(source),
      local: one.local.name,
      isType: exportKind === "type" || one.exportKind === "type",
    });
  }
  const node = isExport ? statement.declaration : statement;
  if (node === null) return;
  const ids =
    node.type === "VariableDeclaration" ? node.declarations.map(({ id }) => id) : [node.id];
  for (const id of ids) {
    const { name } = id;
    const isType = /^TS(?:Interface|TypeAlias)/.test(node.type);
    const symbol = symbols.get(name) ?? { file, name, isType, declarations: [] };
    const { start } = id;
    symbol.declarations.push({ start: from, end, node, id: { start, end: start + name.length } });
    symbols.set(name, symbol);
    if (isExport) exported.set(name, { from: null, local: name, isType });
  }
}
