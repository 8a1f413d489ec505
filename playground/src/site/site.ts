/** Generates the site around the page: the operator reference, the documents, the API and the search, as files. */

import { apiPages } from "./api/api-page.ts";
import { apiOf, type Parse, type ReadTypes } from "./api/exports.ts";
import { documentPage, documentsPage } from "./documents/document-page.ts";
import { libraryOf, pageOf, type Texts } from "./documents/library.ts";
import { documentFrom, type Files, type Page } from "./layout.ts";
import { ERRATA, errataOf, errataPage } from "./reference/errata.ts";
import { families } from "./reference/families.ts";
import { indexPage } from "./reference/index-page.ts";
import { operatorPage } from "./reference/operator-page.ts";
import { indexOf } from "./search/index.ts";

export interface File {
  /** The path within the site's folder. */
  readonly name: string;
  readonly text: string;
}

/** Sources of the site, in addition to the registry and the examples. */
export interface Sources {
  readonly documents: Texts;
  /** Paths of the pictures in `docs/`. */
  readonly pictures: readonly string[];
  /** The address of the repository; null if unknown. */
  readonly repository: string | null;
  /** Entries of the package by name, with their type files. */
  readonly entries: Readonly<Record<string, string>>;
  readonly readTypes: ReadTypes;
  readonly parse: Parse;
}

export interface Site {
  /** @param files the names of files to which pages refer, including the search index */
  pages(files: Files): File[];
  readonly pictures: readonly File[];
  /** The text of the search index. */
  readonly index: string;
}

export function siteOf(sources: Sources): Site {
  const { documents, pictures, repository, entries, readTypes, parse } = sources;
  const library = libraryOf(documents, pictures, repository);
  const all = families();
  const errata = errataOf(library.textOf(ERRATA), all);
  const operators = all.map((family) => operatorPage(family, errata, library));
  const pages: Page[] = [
    indexPage(all, errata),
    ...operators.map(({ page }) => page),
    ...library.paths.map((path) =>
      path === ERRATA ? errataPage(library, errata) : documentPage(library, path),
    ),
    documentsPage(library),
    ...apiPages(apiOf(entries, readTypes, parse)),
  ];
  return {
    pages: (files) => pages.map((page) => ({ name: page.file, text: documentFrom(page, files) })),
    pictures: operators.flatMap(({ picture }) =>
      (picture?.files ?? []).map(({ name, text }) => ({ name: `reference/${name}`, text })),
    ),
    index: indexOf(pages),
  };
}

export { pageOf };
