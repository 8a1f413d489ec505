/**
 * Converts documents to HTML. `marked` parses and renders the Markdown, and escapes all text. A document cannot add its
 * own markup to a page, because HTML in documents is left out.
 */

import { lexer, Lexer, Parser, Renderer, type Token, type Tokens } from "marked";
import { html, type Html } from "../html.ts";

/** Resolves a link or a picture in a document to an address on the site; null if the site lacks the target. */
export type Addresses = (target: string) => string | null;

const NO_ADDRESSES: Addresses = () => null;

/** A table of a document that is read as data; its texts are Markdown. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").trim();

export const tablesIn = (document: string): Table[] =>
  lexer(document)
    .filter(isTable)
    .map(({ header, rows }) => ({
      head: header.map(({ text }) => text),
      rows: rows.map((row) => row.map(({ text }) => text)),
    }));

/** A paragraph or an item of a list, with the heading above it. */
export interface Statement {
  readonly heading: string;
  readonly id: string;
  readonly text: string;
}

export function statementsIn(document: string): Statement[] {
  const idOf = anchors();
  let [heading, id] = ["", ""];
  return lexer(document).flatMap((token) => {
    if (isHeading(token)) [heading, id] = [token.text, idOf(token.text)];
    const parts = isList(token) ? token.items : token.type === "paragraph" ? [token] : [];
    return parts.map(({ text }) => ({ heading, id, text: oneLine(String(text)) }));
  });
}

// Comparing types does not narrow the union of tokens, because one member's type is any string.
const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";
const isTable = (token: Token): token is Tokens.Table => token.type === "table";
const isList = (token: Token): token is Tokens.List => token.type === "list";

/** Creates the same heading ids as the sites that host these documents, so that links within documents work. */
function anchors(): (text: string) => string {
  const counts = new Map<string, number>();
  return (text) => {
    const id = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

/** Converts text with code, emphasis and links to HTML. */
export const inline = (text: string, addresses: Addresses): Html => ({
  markup: parserFor(addresses).parseInline(Lexer.lexInline(text)),
});

/** Creates a parser whose links lead to the site, and whose headings, tables and code are those of the site. */
function parserFor(addresses: Addresses, idOf = anchors()): Parser {
  const renderer = new Renderer();
  const parser = new Parser({ renderer });
  const inner = (tokens: Token[]): Html => ({ markup: parser.parseInline(tokens) });
  const cells = (row: readonly Tokens.TableCell[]): Html[] =>
    row.map(({ tokens }) => inner(tokens));
  renderer.html = () => "";
  renderer.code = ({ text }) => codeBlock(text).markup;
  renderer.link = ({ href, text, tokens }) => {
    const to = addresses(href);
    const shown = href === text ? html`${text}` : inner(tokens);
    const kind = href === text ? html` class="address"` : "";
    return to === null ? shown.markup : html`<a${kind} href="${to}">${shown}</a>`.markup;
  };
  renderer.image = ({ href, text }) => {
    const source = addresses(href);
    return source === null
      ? html`<em>${text}</em>`.markup
      : html`<img class="shot" src="${source}" alt="${text}" loading="lazy" />`.markup;
  };
  renderer.heading = ({ depth, tokens, text }) => {
    const [id, title] = [idOf(text), textOf(tokens)];
    const anchor = html`<a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a>`;
    const name = `h${Math.min(depth, 3)}`;
    const tail = depth === 1 ? "" : ` ${anchor.markup}`;
    return `<${name} id="${id}">${inner(tokens).markup}${tail}</${name}>\n`;
  };
  renderer.table = ({ header, rows }) => {
    const whole = table(cells(header), rows.map(cells));
    // Each table row becomes a paragraph on a phone.
    return rows.length <= MOST_ROWS ? whole.markup : folded(rows.length, whole).markup;
  };
  return parser;
}

const folded = (count: number, whole: Html): Html =>
  html`<details class="fold rows">
    <summary>Table of ${count} rows</summary>
    ${whole}
  </details>`;

/** Returns Markdown without its formatting characters. */
export const plainText = (text: string): string => textOf(Lexer.lexInline(oneLine(text)));

const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => ("tokens" in token && token.tokens ? textOf(token.tokens) : rawText(token)))
    .join("");

const rawText = (token: Token): string =>
  token.type === "html" ? "" : "text" in token ? String(token.text) : token.raw;

/** Returns the first sentence of a text, or the first two if the first sentence is too short to be useful. */
export function openingOf(text: string): string {
  const [first, second = ""] = text.split(/(?<=\.)\s+/);
  return first.length < 60 && second !== "" ? `${first} ${second}` : first;
}

/** A section of a document, or a part of a section that the search finds by itself. */
export interface Section {
  readonly kind: "document" | "section" | "row" | "recipe";
  /** Level of the heading; 0 for a part. */
  readonly level: number;
  /** Id of the heading. */
  readonly id: string;
  readonly title: string;
  /** Text without formatting characters, and without the rows that are found by themselves. */
  readonly text: string;
}

export interface Document {
  readonly title: string;
  /** The first paragraph of the document. */
  readonly opening: string;
  readonly sections: readonly Section[];
  readonly body: Html;
}

/** Parses a document, with the addresses for its page. */
export function documentOf(source: string, addresses: Addresses = NO_ADDRESSES): Document {
  const tokens = lexer(source);
  const idOf = anchors();
  const sections: Section[] = [];
  const parts: Section[] = [];
  for (const token of tokens) {
    if (isHeading(token)) {
      const kind = token.depth === 1 ? "document" : "section";
      const [title, id] = [textOf(token.tokens), idOf(token.text)];
      sections.push({ kind, level: token.depth, id, title, text: "" });
      continue;
    }
    const last = sections.at(-1);
    const text = oneLine(textOfBlock(token));
    if (last === undefined || text === "") continue;
    sections[sections.length - 1] = { ...last, text: `${last.text} ${text}`.trim() };
    parts.push(...partsOf(token).map((part) => ({ ...part, level: 0, id: last.id })));
  }
  const first = tokens.find(({ type }) => type === "paragraph");
  return {
    title: sections[0]?.title ?? "",
    opening: first === undefined ? "" : plainText(first.raw),
    sections: [...sections, ...parts],
    body: { markup: parserFor(addresses).parse(tokens) },
  };
}

/** Returns the rows of a table that begin with a name in code or a message, if each has its own. */
function namedRows({ rows }: Tokens.Table): readonly Tokens.TableCell[][] {
  const named = rows.filter(([first]) => first.tokens[0]?.type === "codespan");
  return new Set(named.map(([first]) => first.text)).size === named.length ? named : [];
}

const textOfCells = (cells: readonly Tokens.TableCell[]): string =>
  oneLine(cells.map(({ tokens }) => textOf(tokens)).join(" · "));

/**
 * Returns the parts of a block that the search finds by themselves: named rows, and the steps of a program that begin
 * with a title in a comment, such as `// Sum by group: the sales of three stores.`
 */
function partsOf(token: Token): Pick<Section, "kind" | "title" | "text">[] {
  if (isTable(token)) {
    return namedRows(token).map(([first, ...rest]) => ({
      kind: "row",
      title: textOf(first.tokens),
      text: textOfCells(rest),
    }));
  }
  if (token.type !== "code") return [];
  return String(token.text)
    .split(/\n{2,}/)
    .flatMap((text) => {
      const [, title] = /^\/\/ ([A-Z][^:\n]{2,30}): .*\n/.exec(text) ?? [];
      return title === undefined ? [] : [{ kind: "recipe", title, text: oneLine(text) }];
    });
}

/** Returns the text of a block. Texts of cells and items are separated by spaces. */
function textOfBlock(token: Token): string {
  if (isTable(token)) {
    const named = new Set(namedRows(token));
    return [token.header, ...token.rows.filter((row) => !named.has(row))]
      .map(textOfCells)
      .join(" ");
  }
  if (isList(token))
    return token.items.map(({ tokens }) => tokens.map(textOfBlock).join(" ")).join(" ");
  // The search indexes only the commands of a transcript, because the outputs of several examples are alike.
  if (token.type === "code" && String(token.text).startsWith("$ ")) {
    return token.text.match(/^\$ .*$/gm)?.join(" ") ?? "";
  }
  return "tokens" in token && token.tokens ? textOf(token.tokens) : rawText(token);
}

/** Creates a code block that can be scrolled separately, also by keyboard. The text keeps its line breaks. */
export const codeBlock = (text: string): Html => html`<pre tabindex="0"><code>${text}</code></pre>`;

/** The maximum number of rows in an open table; longer tables are folded. */
const MOST_ROWS = 40;

/** The maximum number of columns on a narrow screen; wider tables become lists of their cells. */
const MOST_NARROW = 3;

/**
 * Creates a table of facts. ARIA roles are explicit, because browsers drop them from tables that are styled as lists.
 */
export function table(
  head: readonly (Html | string)[],
  rows: readonly (readonly (Html | string)[])[],
  ids: readonly (string | null)[] = [],
): Html {
  const isLong = head.length > MOST_NARROW;
  const role = (name: string): Html | string => (isLong ? html` role="${name}"` : "");
  const body = rows.map(([first, ...rest], at) => {
    const id = ids[at] ?? null;
    const cells = rest.map(
      (cell, column) =>
        html`<td${role("cell")}${isLong ? html` data-label="${labelOf(head[column + 1])}"` : ""}>${cell}</td>`,
    );
    const anchor = id === null ? "" : html` id="${id}"`;
    return html`<tr${role("row")}${anchor}><th scope="row"${role("rowheader")}>${first}</th>${cells}</tr>\n`;
  });
  const heads = head.map((cell) =>
    isEmpty(cell)
      ? html`<td ${role("cell")}></td>`
      : html`<th scope="col" ${role("columnheader")}>${cell}</th>`,
  );
  const kind = isLong ? "facts long" : "facts";
  return html`<div class="wide box"><table class="${kind}"${role("table")}>
    <thead${role("rowgroup")}><tr${role("row")}>${heads}</tr></thead>
    <tbody${role("rowgroup")}>${body}</tbody></table></div>`;
}

/** Checks for a header without words, which becomes a plain cell above the row names. */
const isEmpty = (head: Html | string): boolean =>
  (typeof head === "string" ? head : head.markup) === "";

/** Returns a column header as an attribute value, which cannot contain markup. */
const labelOf = (head: Html | string): Html | string =>
  typeof head === "string" ? head : { markup: head.markup.replaceAll(/<[^>]*>/g, "") };
