/** Frame of every page of the site: its head, the bar, and the list of its sections. */

import { html, type Html } from "./html.ts";

/** Files that pages refer to, as addresses relative to the site's folder. */
export interface Files {
  readonly style: string;
  /** The address of the icon; null while Vite serves the page. */
  readonly icon: string | null;
  /** The script that applies the chosen theme before anything is drawn. */
  readonly theme: string;
  /** The script of the search, which loads the index at the first search. */
  readonly search: string;
  readonly index: string;
}

export interface Entry {
  readonly id: string;
  readonly title: string;
  readonly inner?: readonly Entry[];
}

export interface Page {
  /** The path within the site's folder. */
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly contents: readonly Entry[];
  readonly body: Html;
  /** Places on the page that the search can find. */
  readonly finds: readonly Find[];
}

/** A place that the search can find. */
export interface Find {
  readonly kind: string;
  readonly title: string;
  /** Operator or document that the place belongs to. */
  readonly of: string;
  /** The id of the place on the page; empty for the page itself. */
  readonly id: string;
  readonly text: string;
}

/**
 * Content security policy. Pages may show the site's own pictures, and frames of the page itself. All requests to other
 * sites are forbidden.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The parts of the site, and the folders whose pages belong to them. */
const PARTS: readonly { readonly to: string; readonly text: string; readonly is: RegExp }[] = [
  { to: "reference/", text: "Operators", is: /^reference\// },
  { to: "docs/", text: "Documents", is: /^docs\// },
  { to: "api/", text: "API", is: /^api\// },
];

/** Returns the relative path from a page to the site's folder. */
export const rootFrom = (file: string): string => "../".repeat(file.split("/").length - 1);

export function documentFrom(page: Page, files: Files): string {
  const { file, title, description, contents, body } = page;
  const root = rootFrom(file);
  const links = PARTS.map(
    ({ to, text, is }) =>
      html`<a href="${root}${to}" ${is.test(file) ? html` aria-current="true"` : ""}>${text}</a>`,
  );
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>${title} · ndscatter</title>
        ${files.icon === null ? "" : html`<link rel="icon" href="${root}${files.icon}" type="image/svg+xml" />`}
        <link rel="stylesheet" href="${root}${files.style}" />
        <script src="${root}${files.theme}"></script>
        <script
          defer
          src="${root}${files.search}"
          data-root="${root}"
          data-index="${root}${files.index}"
        ></script>
      </head>
      <body>
        <a class="hidden" href="#content">Skip to the text</a>
        <header class="bar">
          <a class="brand" href="${root}">ndscatter</a>
          <nav aria-label="Site">${links}</nav>
          <button type="button" class="find" hidden aria-haspopup="dialog" aria-keyshortcuts="/">
            <span class="word">Search</span> <kbd>/</kbd>
          </button>
          <a class="open" href="${root}">Playground</a>
        </header>
        <div class="columns">
          ${contents.length === 0 ? html`<div></div>` : contentsOf(contents)}
          <main id="content">${body}</main>
        </div>
      </body>
    </html> `;
  return markup;
}

const contentsOf = (contents: readonly Entry[]): Html =>
  html`<nav class="contents" aria-label="On this page">
    <ul>
      ${contents.map(entryOf)}
    </ul>
  </nav>`;

const entryOf = ({ id, title, inner = [] }: Entry): Html =>
  html`<li>
    <a href="#${id}">${title}</a>${
      inner.length === 0
        ? ""
        : html`<ul>
            ${inner.map(entryOf)}
          </ul>`
    }
  </li>`;

/** Creates a heading with a link to itself. */
export function heading(level: 2 | 3, id: string, title: string): Html {
  const anchor = html`<a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a>`;
  return level === 2
    ? html`<h2 id="${id}">${title} ${anchor}</h2>`
    : html`<h3 id="${id}">${title} ${anchor}</h3>`;
}

/** Creates a heading that unfolds its section. A link to a place within the section also unfolds it. */
export const folded = (
  level: 2 | 3,
  id: string,
  title: Html | string,
  body: Html,
  isOpen = false,
): Html =>
  html`<details class="fold" ${isOpen ? "open" : ""}>
    <summary>
      ${level === 2 ? html`<h2 id="${id}">${title}</h2>` : html`<h3 id="${id}">${title}</h3>`}
    </summary>
    ${body}
  </details>`;
