/** The documents of the repository, and the addresses of their pages. */

import type { Addresses } from "./markdown.ts";
import { rootFrom } from "../layout.ts";

/** Documents by their path in the repository. */
export type Texts = Readonly<Record<string, string>>;

export interface Library {
  /** The paths, in the order of the list. */
  readonly paths: readonly string[];
  textOf(path: string): string;
  /** Returns a function that resolves a document's links for its page. */
  addressesFrom(path: string): Addresses;
}

/** Documents that are listed with the operators. The pages of such documents show more than the document. */
const AMONG_OPERATORS: ReadonlySet<string> = new Set(["errata", "semantics", "other-systems"]);

/** Returns the page of a document: `docs/arrays/README.md` is `docs/arrays/index.html`. */
export function pageOf(path: string): string {
  const name = path.replace(/^docs\//, "").replace(/\.md$/, "");
  if (AMONG_OPERATORS.has(name)) return `reference/${name}.html`;
  const [, example] = /^examples\/([^/]+)\/README$/.exec(name) ?? [];
  if (example !== undefined) return `docs/examples/${example}.html`;
  if (name === "arrays/README") return "docs/arrays/index.html";
  return `docs/${name === name.toUpperCase() ? name.toLowerCase() : name}.html`;
}

/**
 * @param pictures the paths of pictures that documents show
 * @param repository the address of the source code; null omits links to it
 */
export function libraryOf(
  texts: Texts,
  pictures: readonly string[],
  repository: string | null,
): Library {
  const paths = Object.keys(texts);
  const isPage = new Set(paths);
  const isPicture = new Set(pictures);
  return {
    paths,
    textOf(path) {
      const text = texts[path];
      if (text === undefined) throw new Error(`the site needs ${path}, which does not exist`);
      return text;
    },
    addressesFrom(path) {
      const root = rootFrom(pageOf(path));
      return (target) => {
        if (/^https?:|^#/.test(target)) return target;
        const [, file, anchor] = /^([^#]*)(#.*)?$/.exec(target) ?? [];
        const to = resolved(path, file ?? "");
        if (isPage.has(to)) return `${root}${pageOf(to)}${anchor ?? ""}`;
        if (isPicture.has(to)) return `${root}${to}`;
        return repository === null ? null : `${repository}/blob/main/${to}`;
      };
    },
  };
}

/** Resolves a link in a file to a path in the repository. */
const resolved = (from: string, link: string): string =>
  new URL(link, `https://repository/${from}`).pathname.slice(1);
