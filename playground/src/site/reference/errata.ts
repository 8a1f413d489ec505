/** The rows of `docs/errata.md`, with the operators and versions that each row concerns, and the page of all rows. */

import type { OperatorVersion } from "ndscatter";
import type { Family } from "./families.ts";
import { documentPage } from "../documents/document-page.ts";
import type { Library } from "../documents/library.ts";
import { inline, plainText, table, tablesIn } from "../documents/markdown.ts";
import { html, joined, slugOf, type Html } from "../html.ts";
import type { Find, Page } from "../layout.ts";

/** The document that lists the errata. */
export const ERRATA = "docs/errata.md";

export interface Erratum {
  readonly id: string;
  /** The document, its printed text, and the correct text, in Markdown. */
  readonly document: string;
  readonly printed: string;
  readonly right: string;
  readonly concerns: readonly Concern[];
}

interface Concern {
  readonly family: Family;
  readonly versions: readonly OperatorVersion[];
}

export function errataOf(document: string, all: readonly Family[]): Erratum[] {
  const rows = tablesIn(document).flatMap((one) => one.rows);
  const ids = new Map<string, number>();
  return rows.map(([where, printed, right]) => {
    const words = slugOf(`${where} ${printed}`).slice(0, 48).replace(/-$/, "");
    const count = (ids.get(words) ?? 0) + 1;
    ids.set(words, count);
    return {
      id: `erratum-${words}${count === 1 ? "" : `-${count}`}`,
      document: where,
      printed,
      right,
      concerns: concernsOf(where, all),
    };
  });
}

/**
 * Returns the operators and versions that a document's name refers to: `GatherND-12, 13` are two versions, `ScatterND`
 * means all versions. ONNX and OpenVINO have operators of the same name, such as GatherND, so the numbers distinguish
 * the operators. A name without numbers means ONNX's operator, which the registry lists first.
 */
function concernsOf(where: string, all: readonly Family[]): Concern[] {
  return [...where.matchAll(/\b([A-Z][A-Za-z]+)\b(?:-(\d+(?:, \d+)*))?/g)].flatMap(
    ([, name, list]): Concern[] => {
      const named = all.filter((family) => family.name === name);
      const numbers = list?.split(", ").map(Number);
      const withNumbers = (family: Family): readonly OperatorVersion[] =>
        family.versions.filter(({ sinceVersion }) => numbers?.includes(sinceVersion) ?? true);
      const family = named.find((one) => withNumbers(one).length > 0);
      return family === undefined ? [] : [{ family, versions: withNumbers(family) }];
    },
  );
}

/** Returns the errata of an operator, or of one of its versions. */
export const errataOn = (
  errata: readonly Erratum[],
  family: Family,
  version?: OperatorVersion,
): Erratum[] =>
  errata.filter(({ concerns }) =>
    concerns.some(
      (one) =>
        one.family.file === family.file &&
        (version === undefined || one.versions.includes(version)),
    ),
  );

export const findOf = ({ id, document, printed, right }: Erratum, of: string): Find => ({
  kind: "erratum",
  title: plainText(`${document}: ${printed}`),
  of,
  id,
  text: plainText(right),
});

/** Shows errata as a table, whose last column has the title `last`. */
export function errataTable(
  errata: readonly Erratum[],
  library: Library,
  last: string,
  lastOf: (erratum: Erratum) => Html,
): Html {
  const addresses = library.addressesFrom(ERRATA);
  const rows = errata.map((one) => [
    ...[one.document, one.printed, one.right].map((cell) => inline(cell, addresses)),
    lastOf(one),
  ]);
  return table(
    ["document", "as printed", "right", last],
    rows,
    errata.map(({ id }) => id),
  );
}

/** Lists all errata, with links to the pages of their operators. */
export function errataPage(library: Library, errata: readonly Erratum[]): Page {
  const page = documentPage(library, ERRATA);
  const linkTo = ({ id, concerns }: Erratum): Html =>
    joined(
      concerns.map(({ family }) => html`<a href="${family.file}#${id}">${family.name}</a>`),
      ", ",
    );
  const body = html`<h1>${page.title}</h1>
    <p>${page.description}</p>
    ${errataTable(errata, library, "on the page of", linkTo)}`;
  const finds = errata.map((one) => findOf(one, "Errata"));
  return { ...page, body, contents: [], finds: [page.finds[0], ...finds] };
}
