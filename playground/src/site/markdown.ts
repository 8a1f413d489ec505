/**
 * Reads the part of Markdown that the documents in `docs/` are written in: headings, paragraphs, lists of one level,
 * tables and blocks of code. It is no reader of Markdown in general.
 */

import { html, joined, type Html } from "./html.ts";

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string; readonly id: string }
  | { readonly kind: "table"; readonly head: readonly string[]; readonly rows: readonly string[][] }
  | { readonly kind: "list"; readonly items: readonly string[] }
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "code"; readonly text: string };

/** Where a link of a document leads from a page; null where no page has its target. */
export type Addresses = (target: string) => string | null;

/** The blocks of a document. Comments are left out. */
export function blocksOf(document: string): Block[] {
  const blocks: Block[] = [];
  const lines = document.replaceAll(/<!--[^>]*-->\n?/g, "").split("\n");
  for (let at = 0; at < lines.length;) {
    const end = endOfBlock(lines, at);
    if (end > at) blocks.push(blockFrom(lines.slice(at, end)));
    at = Math.max(end, at + 1);
  }
  return blocks;
}

/** The line after a block; the same line where it is empty and so begins none. */
function endOfBlock(lines: readonly string[], from: number): number {
  const first = lines[from];
  const after = (isEnd: (line: string) => boolean): number => {
    const end = lines.findIndex((line, at) => at > from && isEnd(line));
    return end === -1 ? lines.length : end;
  };
  if (first.trim() === "") return from;
  if (first.startsWith("#")) return from + 1;
  if (first.startsWith("```")) return after((line) => line.startsWith("```")) + 1;
  if (first.startsWith("|")) return after((line) => !line.startsWith("|"));
  return after(
    (line) => /^\s*$|^#|^```|^\|/.test(line) || (line.startsWith("- ") && !first.startsWith("- ")),
  );
}

function blockFrom(lines: readonly string[]): Block {
  const [first] = lines;
  if (first.startsWith("```")) return { kind: "code", text: lines.slice(1, -1).join("\n") };
  if (first.startsWith("|")) {
    const [head, , ...rows] = lines.map(cellsOf);
    return { kind: "table", head, rows };
  }
  const heading = /^(#+) (.*)$/.exec(first);
  if (heading !== null) {
    const [, marks, text] = heading;
    return { kind: "heading", level: marks.length, text, id: anchorOf(text) };
  }
  const text = lines.map((line) => line.trim()).join("\n");
  if (!first.startsWith("- ")) return { kind: "paragraph", text: text.replaceAll("\n", " ") };
  const items = `\n${text}`.split("\n- ").slice(1);
  return { kind: "list", items: items.map((item) => item.replaceAll("\n", " ")) };
}

/** The cells of a line of a table. A bar within code is no border. */
function cellsOf(line: string): string[] {
  const cells = line.replaceAll(/`[^`]*`/g, (code) => code.replaceAll("|", "\0")).split("|");
  return cells.slice(1, -1).map((cell) => cell.replaceAll("\0", "|").trim());
}

/** The id of a heading, as the sites that show these documents make it, so that links within them hold. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

const INLINE =
  /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)]+)\)|<(https:[^>]+)>/g;

/** Text with code, stress and links. */
export function inline(text: string, addresses: Addresses): Html {
  const parts: (Html | string)[] = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, code, strong, stressed, label, target, address] = found;
    parts.push(text.slice(last, found.index));
    last = found.index + whole.length;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (strong !== undefined) parts.push(html`<strong>${inline(strong, addresses)}</strong>`);
    else if (stressed !== undefined) parts.push(html`<em>${stressed}</em>`);
    else if (address !== undefined)
      parts.push(html`<a class="address" href="${address}">${address}</a>`);
    else {
      const to = addresses(target);
      const shown = inline(label, addresses);
      parts.push(to === null ? shown : html`<a href="${to}">${shown}</a>`);
    }
  }
  return html`${parts}${text.slice(last)}`;
}

/** Blocks as HTML. Every heading but the title has an address. */
export function rendered(blocks: readonly Block[], addresses: Addresses): Html {
  return joined(
    blocks.map((block) => renderBlock(block, addresses)),
    "\n",
  );
}

function renderBlock(block: Block, addresses: Addresses): Html {
  switch (block.kind) {
    case "heading": {
      const text = inline(block.text, addresses);
      if (block.level === 1) return html`<h1>${text}</h1>`;
      const anchor = html`<a class="anchor" href="#${block.id}" aria-label="Link to ${block.text}"
        >#</a
      >`;
      return block.level === 2
        ? html`<h2 id="${block.id}">${text} ${anchor}</h2>`
        : html`<h3 id="${block.id}">${text} ${anchor}</h3>`;
    }
    case "paragraph":
      return html`<p>${inline(block.text, addresses)}</p>`;
    case "code":
      return html`<pre tabindex="0"><code>${block.text}</code></pre>`;
    case "list":
      return html`<ul>
        ${block.items.map((item) => html`<li>${inline(item, addresses)}</li>`)}
      </ul>`;
    case "table":
      return table(
        block.head.map((cell) => inline(cell, addresses)),
        block.rows.map((row) => row.map((cell) => inline(cell, addresses))),
      );
  }
}

/** Tables with more columns are lists of their cells on a narrow screen. */
const MOST_NARROW = 3;

/**
 * A table of facts. Roles are written down because browsers drop them from tables that are shown as lists.
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
        html`<td${role("cell")}${isLong ? html` data-label="${head[column + 1]}"` : ""}>${cell}</td>`,
    );
    const anchor = id === null ? "" : html` id="${id}"`;
    return html`<tr${role("row")}${anchor}><th scope="row"${role("rowheader")}>${first}</th>${cells}</tr>\n`;
  });
  const heads = head.map((cell) => html`<th scope="col" ${role("columnheader")}>${cell}</th>`);
  const kind = isLong ? "facts long" : "facts";
  return html`<div class="wide"><table class="${kind}"${role("table")}>
    <thead${role("rowgroup")}><tr${role("row")}>${heads}</tr></thead>
    <tbody${role("rowgroup")}>${body}</tbody></table></div>`;
}
