/** What every page of the reference has: its head, the bar, and the list of its sections. */

import { html, type Html } from "./html.ts";

/** The files that pages refer to, as addresses from a page of the reference. */
export interface Files {
  readonly style: string;
  /** Null while Vite serves the page. */
  readonly icon: string | null;
  /** The script that takes over the colours that were chosen on the page. */
  readonly theme: string | null;
}

export interface Entry {
  readonly id: string;
  readonly title: string;
  readonly inner?: readonly Entry[];
}

export interface Page {
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly contents: readonly Entry[];
  readonly body: Html;
}

/** Pages show pictures of the site, and frames of the page itself. They send nothing anywhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const LINKS: readonly (readonly [string, string])[] = [
  ["index.html", "Operators"],
  ["semantics.html", "Semantics"],
  ["errata.html", "Errata"],
  ["dialects.html", "Dialects"],
];

export function documentFrom(page: Page, files: Files): string {
  const { file, title, description, contents, body } = page;
  const links = LINKS.map(
    ([to, text]) =>
      html`<a href="${to}" ${to === file ? html` aria-current="page"` : ""}>${text}</a>`,
  );
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>${title} · ndscatter reference</title>
        ${files.icon === null ? "" : html`<link rel="icon" href="${files.icon}" type="image/svg+xml" />`}
        <link rel="stylesheet" href="${files.style}" />
        ${files.theme === null ? "" : html`<script src="${files.theme}"></script>`}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the text</a>
        <header class="bar">
          <a class="brand" href="../">ndscatter</a>
          <nav aria-label="Reference">${links}</nav>
          <a href="../gpu.html">This GPU</a>
          <a class="open" href="../">Playground</a>
        </header>
        <div class="columns">
          <nav class="contents" aria-label="On this page">
            <ul>
              ${contents.map(entryOf)}
            </ul>
          </nav>
          <main id="content">${body}</main>
        </div>
      </body>
    </html> `;
  return markup;
}

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

/** A heading with the link to itself. */
export function heading(level: 2 | 3, id: string, title: string): Html {
  const anchor = html`<a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a>`;
  return level === 2
    ? html`<h2 id="${id}">${title} ${anchor}</h2>`
    : html`<h3 id="${id}">${title} ${anchor}</h3>`;
}
