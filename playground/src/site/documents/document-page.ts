/** A document of the repository as a page, and the list of all documents. */

import { html, type Html } from "../html.ts";
import { heading, type Find, type Page } from "../layout.ts";
import { openingOf } from "./opening.ts";
import { pageOf, type Library } from "./library.ts";
import { documentOf } from "./markdown.ts";

export function documentPage(library: Library, path: string): Page {
  const { title, opening, sections, body } = documentOf(
    library.textOf(path),
    library.addressesFrom(path),
  );
  const finds = sections.map(({ level, id, title: section, text }): Find => ({
    kind: level === 1 ? "document" : "section",
    title: section,
    of: level === 1 ? "" : title,
    id: level === 1 ? "" : id,
    text,
  }));
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
  readonly id: string;
  readonly title: string;
  readonly has: RegExp;
}

/** What readers look for. A document stands on the first shelf that takes it, so the last takes all others. */
const SHELVES: readonly Shelf[] = [
  { id: "begin", title: "Begin", has: /^README|browsers|webgpu/ },
  { id: "rules", title: "What operators do", has: /semantics|errata|dialects/ },
  {
    id: "models",
    title: "Models",
    has: /my-model-fails|diagnose|inspect|convert|exact|known-faults/,
  },
  { id: "arrays", title: "Arrays larger than memory", has: /arrays\// },
  { id: "project", title: "The project", has: /./ },
];

export function documentsPage(library: Library): Page {
  const shelfOf = (path: string): Shelf | undefined => SHELVES.find(({ has }) => has.test(path));
  const shelves = SHELVES.map((shelf) => ({
    ...shelf,
    paths: library.paths.filter((path) => shelfOf(path) === shelf),
  })).filter(({ paths }) => paths.length > 0);
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
  return html`<section class="card">
    <h3><a href="../${pageOf(path)}">${title}</a></h3>
    <p>${description}</p>
  </section>`;
}
