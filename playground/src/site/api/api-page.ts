/** Creates the API reference: a page for each entry of the package, from its types and docstrings. */

import {
  codeBlock,
  documentOf,
  inline,
  openingOf,
  plainText,
  table,
} from "../documents/markdown.ts";
import { html, type Html } from "../html.ts";
import { heading, type Find, type Page } from "../layout.ts";
import { docstringOf, firstSentence } from "./docstring.ts";
import type { ApiEntry, Export, Kind } from "./exports.ts";
import { codeOf, namesFor, programOf, type Names } from "./program.ts";

const GROUPS: readonly { readonly kind: Kind; readonly title: string }[] = [
  { kind: "function", title: "Functions" },
  { kind: "class", title: "Classes" },
  { kind: "constant", title: "Constants" },
  { kind: "type", title: "Types" },
];

const groupId = (title: string): string => `all-${title.toLowerCase()}`;

/** Returns the file of an entry: `ndscatter/zarr` is `zarr.html`. */
export const fileOfEntry = (name: string): string => `${name.replace(/^ndscatter\//, "")}.html`;

export const apiPages = (entries: readonly ApiEntry[]): Page[] => [
  indexPage(entries),
  ...entries.map((entry) => entryPage(entry, namesFor(entries, entry.name))),
];

function indexPage(entries: readonly ApiEntry[]): Page {
  return {
    file: "api/index.html",
    title: "API",
    description: "All exports of the package, entry by entry",
    contents: [],
    body: html`<h1>API</h1>
      <p class="lead">
        Everything that the package exports, entry by entry, from its types and docstrings.
      </p>
      <div class="cards">
        ${entries.map(
          ({ name, doc, exports }) =>
            html`<section class="card box">
              <h2>
                <a href="${fileOfEntry(name)}"><code>${name}</code></a>
              </h2>
              <p>${inline(openingOf(docstringOf(doc).text.replaceAll("\n", " ")), () => null)}</p>
              <p class="small">${exports.length} exports</p>
            </section>`,
        )}
      </div>`,
    finds: [],
  };
}

/** The pages of an entry point's exports by name; the page of the entry point itself is empty. */
type Pages = ReadonlyMap<string, string>;

/** Links the names of exports in a docstring, in backticks or in link tags, to the exports. */
const linked = (text: string, pages: Pages): string =>
  text
    .replaceAll(/\{@link ([^}]*)\}/g, "`$1`")
    .replaceAll(/`([A-Za-z]+)[.\w]*`/g, (code, name: string) => {
      const page = pages.get(name);
      return page === undefined ? code : `[${code}](${page}#${name})`;
    });

function entryPage({ name, doc, exports }: ApiEntry, imported: Names): Page {
  const own = exports.filter(({ home }) => home === name);
  const others = exports.filter(({ home }) => home !== name);
  const pages = new Map(
    exports.map((one) => [one.name, one.home === name ? "" : fileOfEntry(one.home)]),
  );
  const { text, examples } = docstringOf(doc);
  const groups = GROUPS.map((group) => ({
    ...group,
    members: own.filter(({ kind }) => kind === group.kind),
  })).filter(({ members }) => members.length > 0);
  const shared = others.length === 0 ? "" : sharedPart(others);
  return {
    file: `api/${fileOfEntry(name)}`,
    title: name,
    description: plainText(openingOf(text.replaceAll("\n", " "))),
    contents: [
      ...groups.map(({ title, members }) => ({
        id: groupId(title),
        title,
        inner: members.map((one) => ({ id: one.name, title: one.name })),
      })),
      ...(others.length === 0 ? [] : [{ id: "all-shared", title: "Shared with other entries" }]),
    ],
    body: html`<p class="kind small">entry</p>
      <h1><code>${name}</code></h1>
      ${documentOf(text).body} ${examples.map((example) => exampleOf(example, imported))}
      ${groups.map(
        ({ title, members }) =>
          html`${heading(2, groupId(title), title)}${members.map((one) => exportPart(one, pages, imported))}`,
      )}
      ${shared}`,
    finds: [
      { kind: "entry", title: name, of: "API", id: "", text: plainText(text) },
      ...own.map((one) => findOf(one, name)),
    ],
  };
}

const findOf = ({ name, kind, doc }: Export, of: string): Find => ({
  kind,
  title: name,
  of,
  id: name,
  text: plainText(docstringOf(doc).text.replaceAll(/\{@link ([^}]*)\}/g, "$1")),
});

/** Shows an example as a program, with the imports that the docstring omits. */
const exampleOf = (text: string, names: Names): Html => codeBlock(programOf(codeOf(text), names));

function exportPart(one: Export, pages: Pages, imported: Names): Html {
  const { text, params, returns, throws, examples, see } = docstringOf(one.doc);
  const said = (part: string): Html =>
    inline(linked(part.replaceAll("\n", " "), pages), (to) => to);
  const first = plainText(firstSentence(text.replaceAll(/\{@link ([^}]*)\}/g, "$1")));
  const rows = params.map((param) => [html`<code>${param.name}</code>`, said(param.text)]);
  return html`<details class="fold export">
    <summary>
      <h3 id="${one.name}"><code>${one.name}</code></h3>
      <span class="first">${first}</span>
    </summary>
    ${codeBlock(one.signature)} ${documentOf(linked(text, pages), (to) => to).body}
    ${rows.length === 0 ? "" : table(["parameter", "meaning"], rows)}
    ${returns === "" ? "" : html`<p><strong>Returns</strong> ${said(returns)}</p>`}
    ${throws.map((error) => html`<p><strong>Throws</strong> ${said(error)}</p>`)}
    ${see.map((source) => html`<p class="small">From ${said(source)}</p>`)}
    ${examples.map((example) => exampleOf(example, imported))}
  </details>`;
}

/** Lists the exports that another entry's page documents. */
function sharedPart(others: readonly Export[]): Html {
  const homes = [...new Set(others.map(({ home }) => home))];
  return html`${heading(2, "all-shared", "Shared with other entries")}
  ${homes.map(
    (home) =>
      html`<p>
          The same as in <a href="${fileOfEntry(home)}"><code>${home}</code></a
          >:
        </p>
        <ul class="names">
          ${others
            .filter((one) => one.home === home)
            .map(
              ({ name }) =>
                html`<li>
                  <a href="${fileOfEntry(home)}#${name}"><code>${name}</code></a>
                </li>`,
            )}
        </ul>`,
  )}`;
}
