/** Creates the page of a document in the repository, and the list of all documents. */

import { html, slugOf, type Html } from "../html.ts";
import { heading, type Find, type Page } from "../layout.ts";
import { pageOf, type Library } from "./library.ts";
import { documentOf, openingOf } from "./markdown.ts";

export function documentPage(library: Library, path: string): Page {
  const { title, opening, sections, body } = documentOf(
    library.textOf(path),
    library.addressesFrom(path),
  );
  const finds = sections.map(({ kind, id, title: section, text }): Find => {
    const isWhole = kind === "document";
    return { kind, title: section, of: isWhole ? "" : title, id: isWhole ? "" : id, text };
  });
  return {
    file: pageOf(path),
    title,
    description: opening === "" ? title : openingOf(opening),
    contents: sections
      .filter(({ level }) => level === 2)
      .map((section) => ({ id: section.id, title: section.title })),
    body,
    finds,
  };
}

interface Shelf {
  readonly title: string;
  readonly paths: readonly string[];
}

const LIST = "README.md";

/**
 * Returns the documents in README's order, with a shelf for each kind of reader. A document that README does not list
 * is placed with the README of its folder, otherwise on the last shelf.
 */
function shelvesOf(library: Library): Shelf[] {
  const lines = [...library.textOf(LIST).matchAll(/^- \*\*([^*]+)\*\*:((?:.|\n {2})*)/gm)];
  const listed = lines
    .map(([, title, links]) => ({
      title,
      paths: [...links.matchAll(/\]\(([^)#]+\.md)\)/g)]
        .map(([, path]) => path)
        .filter((path) => library.paths.includes(path)),
    }))
    .filter(({ paths }) => paths.length > 0);
  const known = new Set(listed.flatMap(({ paths }) => paths));
  const rest = library.paths.filter((path) => !known.has(path) && path !== LIST);
  const shelfOf = (path: string): Shelf => {
    const folder = `${path.slice(0, path.lastIndexOf("/") + 1)}README.md`;
    return listed.find(({ paths }) => paths.includes(folder)) ?? listed[listed.length - 1];
  };
  return [
    { title: "Begin", paths: [LIST] },
    ...listed.map((shelf) => ({
      ...shelf,
      paths: [...shelf.paths, ...rest.filter((path) => shelfOf(path) === shelf)],
    })),
  ];
}

export function documentsPage(library: Library): Page {
  const shelves = shelvesOf(library).map((shelf) => ({ ...shelf, id: slugOf(shelf.title) }));
  return {
    file: "docs/index.html",
    title: "Documents",
    description: "Guides to ndscatter, and the rules that it follows",
    contents: shelves.map(({ id, title }) => ({ id, title })),
    body: html`<h1>Documents</h1>
      <p class="lead">Guides to ndscatter, and the rules that it follows.</p>
      ${shelves.map(
        ({ id, title, paths }) =>
          html`${heading(2, id, title)}
            <div class="cards">${paths.map((path) => cardOf(library, path))}</div>`,
      )}`,
    finds: [],
  };
}

function cardOf(library: Library, path: string): Html {
  const { title, description } = documentPage(library, path);
  return html`<section class="card box">
    <h3><a href="../${pageOf(path)}">${title}</a></h3>
    <p>${description}</p>
  </section>`;
}
