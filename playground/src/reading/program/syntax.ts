/**
 * Parses the Python and TypeScript statements that define arrays and call functions. Any other text becomes an
 * unreadable statement, and parsing continues on the next line.
 */

import { MOST_TOKENS, tokensOf, type Token } from "./tokens.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Argument {
  /** The argument's keyword; null for a positional argument. */
  readonly name: string | null;
  readonly value: Node;
}

export type Node = Span &
  (
    | { readonly kind: "name"; readonly name: string }
    | { readonly kind: "number"; readonly text: string }
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "attribute"; readonly of: Node; readonly name: string }
    | { readonly kind: "call"; readonly callee: Node; readonly arguments: readonly Argument[] }
    | { readonly kind: "index"; readonly of: Node; readonly items: readonly Node[] }
    | { readonly kind: "slice"; readonly isAll: boolean }
    | { readonly kind: "list"; readonly bracket: string; readonly items: readonly Node[] }
    | { readonly kind: "record"; readonly entries: readonly (readonly [string, Node])[] }
    | { readonly kind: "operation"; readonly sign: string; readonly parts: readonly Node[] }
  );

export type Statement = Span &
  (
    | {
        readonly kind: "assign";
        readonly sign: string;
        readonly target: Node;
        readonly value: Node;
      }
    | { readonly kind: "value"; readonly value: Node }
    /** A line that begins with a keyword such as `import` or `for`. */
    | { readonly kind: "word"; readonly word: string }
    | { readonly kind: "unread"; readonly sentence: string; readonly at: number }
  );

/** The maximum bracket nesting, which is several times the depth of five-axis arrays inside calls. */
const DEEPEST = 60;

/**
 * The maximum number of consecutive operations, and of names, calls and indices in a chain, because each adds a tree
 * level.
 */
const LONGEST_CHAIN = 100;

class Unread extends Error {
  readonly at: number;
  constructor(sentence: string, at: number) {
    super(sentence);
    this.at = at;
  }
}

const WORDS: ReadonlySet<string> = new Set(
  "import from for while if elif else with def class return try except finally assert del global pass raise lambda async await export function interface type throw".split(
    " ",
  ),
);

const OPENING = "([{";
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Parses a program's statements; comments have already been replaced by spaces. The function never throws. */
export function statementsOf(text: string): Statement[] {
  const tokens = tokensOf(text);
  if (tokens === null) {
    const sentence = `the text has more than ${MOST_TOKENS.toLocaleString("en")} words and signs`;
    return [{ kind: "unread", sentence, at: 0, start: 0, end: text.length }];
  }
  const parser = new Parser(tokens);
  const statements: Statement[] = [];
  for (;;) {
    while (parser.is("line") || parser.is(";")) parser.next();
    if (parser.is("end")) return statements;
    statements.push(parser.statement());
  }
}

class Parser {
  readonly tokens: readonly Token[];
  at = 0;
  /** The current bracket depth; line breaks inside brackets count as spaces. */
  inner = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get token(): Token {
    return this.tokens[Math.min(this.at, this.tokens.length - 1)];
  }

  next(): Token {
    const { token } = this;
    this.at++;
    if (this.inner > 0) this.skipLines();
    return token;
  }

  skipLines(): void {
    while (this.token.kind === "line" && this.at < this.tokens.length - 2) this.at++;
  }

  /** Checks the kind or the sign of the next token. */
  is(what: string): boolean {
    const { kind, text } = this.token;
    return kind === what || (kind === "sign" && text === what);
  }

  take(sign: string): boolean {
    const isThere = this.token.kind === "sign" && this.token.text === sign;
    if (isThere) this.next();
    return isThere;
  }

  fail(expected: string): Unread {
    const { text, kind, start } = this.token;
    const got = kind === "line" || kind === "end" ? "the line ends" : `got ${text.slice(0, 20)}`;
    return new Unread(`expected ${expected}, but ${got}`, start);
  }

  statement(): Statement {
    const first = this.at;
    const { start, text } = this.token;
    try {
      if (text === "return") this.next();
      return this.simple(start);
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      this.inner = 0;
      this.at = first;
      const end = this.skipStatement();
      if (WORDS.has(text)) return { kind: "word", word: text, start, end };
      return { kind: "unread", sentence: error.message, at: error.at, start, end };
    }
  }

  simple(start: number): Statement {
    const { token } = this;
    if (token.kind === "name" && WORDS.has(token.text)) throw this.fail("a value");
    if (token.kind === "name" && /^(?:const|let|var)$/.test(token.text)) this.next();
    const target = this.values();
    // The colon starts a type annotation, such as Tensor.
    if (this.is(":")) {
      this.next();
      this.value(0);
    }
    const { text: sign, kind } = this.token;
    if (kind === "sign" && /^(?:=|[-+*/%@&|^]=|\/\/=)$/.test(sign)) {
      this.next();
      this.skipLines();
      const value = this.values();
      // In a = b = …, all names get the last value.
      if (this.is("=")) throw this.fail("the end of the statement");
      return this.ended({ kind: "assign", sign, target, value, start, end: value.end });
    }
    return this.ended({ kind: "value", value: target, start, end: target.end });
  }

  ended(statement: Statement): Statement {
    if (this.is("line") || this.is(";") || this.is("end")) return statement;
    throw this.fail("the end of the line");
  }

  /** Skips to the end of the statement and its brackets. Returns the end position of the statement's last token. */
  skipStatement(): number {
    let depth = 0;
    let { end } = this.token;
    for (; !this.is("end"); this.at++) {
      const { text, kind } = this.token;
      if (depth <= 0 && (kind === "line" || (kind === "sign" && text === ";"))) break;
      if (kind === "sign" && OPENING.includes(text)) depth++;
      else if (kind === "sign" && /[)\]}]/.test(text)) depth--;
      if (kind !== "line") ({ end } = this.token);
    }
    return end;
  }

  /** Parses a value, or several values separated by commas, which form a tuple. */
  values(): Node {
    const first = this.value(0);
    if (!this.is(",")) return first;
    const items = [first];
    while (this.take(",")) {
      if (this.is("line") || this.is("=") || this.is("end")) break;
      items.push(this.value(0));
    }
    return {
      kind: "list",
      bracket: "(",
      items,
      start: first.start,
      end: items[items.length - 1].end,
    };
  }

  value(depth: number): Node {
    if (depth > DEEPEST) throw new Unread(`brackets are nested ${depth} deep`, this.token.start);
    let left = this.factor(depth);
    let chain = 0;
    while (
      this.token.kind === "sign" &&
      /^(?:[-+*/%@&|^<>]|\*\*|\/\/|[=!<>]=)$/.test(this.token.text)
    ) {
      if (++chain > LONGEST_CHAIN) throw this.fail("a shorter expression");
      const sign = this.next().text;
      const right = this.factor(depth);
      const parts = [left, right];
      left = { kind: "operation", sign, parts, start: left.start, end: right.end };
    }
    return left;
  }

  factor(depth: number): Node {
    const { start } = this.token;
    let sign = "";
    while (
      this.is("-") ||
      this.is("+") ||
      this.is("~") ||
      this.is("*") ||
      this.is("**") ||
      this.is("...")
    ) {
      if (this.is("...")) {
        const { end } = this.next();
        return { kind: "slice", isAll: false, start, end };
      }
      sign = this.next().text;
    }
    const value = this.postfix(this.primary(depth), depth);
    if (sign === "") return value;
    return { kind: "operation", sign, parts: [value], start, end: value.end };
  }

  primary(depth: number): Node {
    const { kind, text, start, end } = this.token;
    if (depth > DEEPEST) throw new Unread(`brackets are nested ${depth} deep`, start);
    if (kind === "name") {
      this.next();
      if (text === "new" || text === "await") return this.primary(depth + 1);
      return { kind: "name", name: text, start, end };
    }
    if (kind === "number") {
      this.next();
      return { kind: "number", text, start, end };
    }
    if (kind === "text") {
      this.next();
      return { kind: "text", text: text.replace(/^\w*("""|'''|["'`])([^]*)\1$/, "$2"), start, end };
    }
    if (kind === "sign" && text === "{") return this.record(depth);
    if (kind === "sign" && OPENING.includes(text)) {
      const items = this.bracketed(() => this.item(depth + 1));
      return { kind: "list", bracket: text, items: items.all, start, end: items.end };
    }
    throw this.fail("a value");
  }

  item(depth: number): Node {
    const value = this.value(depth);
    if (this.token.kind === "name" && this.token.text === "for") throw this.fail(", or a bracket");
    return value;
  }

  /** Parses the contents of brackets. Commas are optional, because NumPy prints arrays without commas. */
  bracketed<T>(one: () => T): { readonly all: T[]; readonly end: number } {
    const closing = CLOSING[this.token.text];
    this.inner++;
    this.next();
    const all: T[] = [];
    while (!this.is(closing)) {
      all.push(one());
      if (!this.take(",") && /^[)\]}:=]$/.test(this.token.text) && !this.is(closing)) {
        throw this.fail(closing);
      }
    }
    this.inner--;
    const { end } = this.next();
    return { all, end };
  }

  record(depth: number): Node {
    const { start } = this.token;
    const { all, end } = this.bracketed((): readonly [string, Node] => {
      const key = this.value(depth + 1);
      const name = key.kind === "name" ? key.name : key.kind === "text" ? key.text : "";
      return [name, this.take(":") ? this.value(depth + 1) : key];
    });
    return { kind: "record", entries: all, start, end };
  }

  postfix(first: Node, depth: number): Node {
    let value = first;
    const { start } = first;
    for (let chain = 0; ; chain++) {
      if (chain > LONGEST_CHAIN) throw this.fail("a shorter expression");
      if (this.is(".")) {
        this.next();
        const { kind, text, end } = this.token;
        if (kind !== "name") throw this.fail("a name");
        this.next();
        value = { kind: "attribute", of: value, name: text, start, end };
      } else if (this.is("(")) {
        const { all, end } = this.bracketed(() => this.argument(depth + 1));
        value = { kind: "call", callee: value, arguments: all, start, end };
      } else if (this.is("[") && value.kind !== "number") {
        const { all, end } = this.bracketed(() => this.subscript(depth + 1));
        value = { kind: "index", of: value, items: all, start, end };
      } else return value;
    }
  }

  argument(depth: number): Argument {
    const value = this.item(depth);
    if (value.kind !== "name" || !this.take("=")) return { name: null, value };
    // Printed arguments such as grad_fn=<AddBackward0> are accepted.
    if (this.take("<")) {
      while (!this.is(">") && !this.is("end") && !this.is("line")) this.next();
      this.take(">");
      return { name: value.name, value };
    }
    return { name: value.name, value: this.item(depth) };
  }

  /** Parses `:`, `1:3`, `...` or a value. */
  subscript(depth: number): Node {
    const { start, end } = this.token;
    const before = this.is(":") ? null : this.value(depth);
    if (!this.is(":")) return before ?? { kind: "slice", isAll: false, start, end };
    let isAll = before === null;
    let last = end;
    while (this.take(":")) {
      if (this.is(",") || this.is("]") || this.is(":")) continue;
      isAll = false;
      last = this.value(depth).end;
    }
    return { kind: "slice", isAll, start, end: last };
  }
}

/** Returns a dotted name such as `np.add.at`; null for any other value. */
export function pathOf(node: Node): string | null {
  const names: string[] = [];
  let one = node;
  while (one.kind === "attribute") {
    names.push(one.name);
    one = one.of;
  }
  return one.kind === "name" ? [one.name, ...names.toReversed()].join(".") : null;
}
