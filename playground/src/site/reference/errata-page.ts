/** Lists all errata by operator, with the same rows as the operators' pages. */

import { documentPage } from "../documents/document-page.ts";
import { inline, plainText, table } from "../documents/markdown.ts";
import type { Library } from "../documents/library.ts";
import { html, joined } from "../html.ts";
import type { Page } from "../layout.ts";
import type { Erratum } from "./errata.ts";

export function errataPage(library: Library, errata: readonly Erratum[]): Page {
  const page = documentPage(library, "docs/errata.md");
  const addresses = library.addressesFrom("docs/errata.md");
  const body = html`<h1>${page.title}</h1>
    <p>${page.description}</p>
    ${table(
      ["document", "as printed", "right", "on the page of"],
      errata.map(({ id, document, printed, right, concerns }) => [
        ...[document, printed, right].map((cell) => inline(cell, addresses)),
        joined(
          concerns.map(({ family }) => html`<a href="${family.file}#${id}">${family.name}</a>`),
          ", ",
        ),
      ]),
      errata.map(({ id }) => id),
    )}`;
  const finds = errata.map(({ id, document, printed, right }) => ({
    kind: "erratum",
    title: plainText(`${document}: ${printed}`),
    of: "Errata",
    id,
    text: plainText(right),
  }));
  return { ...page, body, contents: [], finds: [page.finds[0], ...finds] };
}
