/** The pages of the reference as files. What they say is in the registry, in `docs/`, and in the examples. */

import { examplesOf } from "./calls.ts";
import { errataOf, errataOn, type Erratum } from "./errata.ts";
import { families, openingOf, idOf, numberOf, type Family } from "./families.ts";
import { html, joined, type Html } from "./html.ts";
import { documentFrom, heading, type Files, type Page } from "./layout.ts";
import { blocksOf, inline, rendered, table, type Addresses } from "./markdown.ts";
import { operatorPage, type Documents } from "./operator-page.ts";

export interface File {
  /** Within the folder of the reference. */
  readonly name: string;
  readonly text: string;
}

const PAGES: ReadonlySet<string> = new Set(["errata", "semantics", "dialects"]);

/** A document that is no page here is not linked. */
const addresses: Addresses = (target) => {
  if (/^https?:|^#/.test(target)) return target;
  const found = /^([a-z-]+)\.md(#.*)?$/.exec(target);
  return found !== null && PAGES.has(found[1]) ? `${found[1]}.html${found[2] ?? ""}` : null;
};

export function siteOf(documents: Documents, files: Files): File[] {
  const all = families();
  const errata = errataOf(documents.errata, all);
  const pages = [
    indexPage(all, errata),
    ...all.map((family) => operatorPage(family, errata, documents, addresses)),
    documentPage("semantics.html", documents.semantics),
    errataPage(documents.errata, errata),
    documentPage("dialects.html", documents.dialects),
  ];
  return pages.map((page) => ({ name: page.file, text: documentFrom(page, files) }));
}

function indexPage(all: readonly Family[], errata: readonly Erratum[]): Page {
  const homes = [...new Set(all.map(({ home }) => home))];
  const body = html`<h1>Reference</h1>
    <p class="lead">
      The scatter and gather operators of ONNX and OpenVINO, for those who use them and those who
      implement them: what each version does, where its document is wrong, what other systems do,
      and calls to try.
    </p>
    ${homes.map((home) => {
      const own = all.filter((family) => family.home === home);
      return html`${heading(2, home.toLowerCase(), home)}
        <div class="cards">${own.map((one) => cardOf(one, errata))}</div>`;
    })}
    ${heading(2, "all", "For all operators")}
    <ul>
      <li>
        <a href="semantics.html">Semantics</a>: what operators do where their documents leave room.
      </li>
      <li>
        <a href="errata.html">Errata</a>: ${errata.length} mistakes of the published documents, and
        what is right.
      </li>
      <li>
        <a href="dialects.html">Dialects</a>: what other systems do with indices, repeats and
        floats.
      </li>
    </ul>
    ${heading(2, "changes", "What each version changed")} ${changesTable(all)}`;
  return {
    file: "index.html",
    title: "Operators",
    description:
      "What scatter and gather operators of ONNX and OpenVINO do, version by version, to be tried",
    contents: [
      ...homes.map((home) => ({ id: home.toLowerCase(), title: home })),
      { id: "all", title: "For all operators" },
      { id: "changes", title: "What each version changed" },
    ],
    body,
  };
}

const count = (number: number, noun: string): string =>
  `${number} ${number === 1 ? noun : `${noun}s`}`;

function cardOf(family: Family, errata: readonly Erratum[]): Html {
  const { file, name, newest, versions } = family;
  const own = errataOn(errata, family).length;
  return html`<section class="card">
    <h3><a href="${file}">${name}</a></h3>
    <p>${openingOf(newest.summary)}</p>
    <p class="chips">
      ${versions.map((one) => html`<a href="${file}#${idOf(one)}">${numberOf(one)}</a>`)}
    </p>
    <p class="small">
      <a href="${file}#examples">${count(examplesOf(family).length, "example")}</a>${
        own === 0
          ? ""
          : html`, <a href="${file}#errata">${own === 1 ? "1 erratum" : `${own} errata`}</a>`
      }
    </p>
  </section>`;
}

/** Where the changes of every version are told. */
function changesTable(all: readonly Family[]): Html {
  const rows = all
    .filter(({ versions }) => versions.length > 1)
    .map(({ name, home, file, versions }) => [
      html`<a href="${file}">${name}</a> of ${home}`,
      joined(
        versions
          .slice(1)
          .map(
            (to, at) =>
              html`<a href="${file}#${idOf(to)}-changes"
                >${versions[at].sinceVersion} → ${to.sinceVersion}</a
              >`,
          ),
        " · ",
      ),
    ]);
  return table(["operator", "from → to"], rows);
}

/** A document of `docs/` as a page. */
function documentPage(file: string, document: string): Page {
  const blocks = blocksOf(document);
  const headings = blocks.flatMap((block) => (block.kind === "heading" ? [block] : []));
  const [title] = headings;
  const first = blocks.find((block) => block.kind === "paragraph");
  return {
    file,
    title: title.text,
    description:
      first?.kind === "paragraph" ? openingOf(first.text).replaceAll("`", "") : title.text,
    contents: headings
      .filter(({ level }) => level === 2)
      .map(({ id, text }) => ({ id, title: text.replaceAll("`", "") })),
    body: rendered(blocks, addresses),
  };
}

/** All errata, operator by operator: the same rows that the operators' pages have. */
function errataPage(document: string, errata: readonly Erratum[]): Page {
  const blocks = blocksOf(document);
  const page = documentPage("errata.html", document);
  const rows = blocks.flatMap((block) => (block.kind === "table" ? block.rows : []));
  const body = html`<h1>${page.title}</h1>
    <p>${page.description}</p>
    ${table(
      ["document", "as printed", "right", "on the page of"],
      rows.map((row, at) => [
        ...row.slice(0, 3).map((cell) => inline(cell, addresses)),
        joined(
          errata[at].concerns.map(
            ({ family }) => html`<a href="${family.file}#${errata[at].id}">${family.name}</a>`,
          ),
          ", ",
        ),
      ]),
      errata.map(({ id }) => id),
    )}`;
  return { ...page, body };
}
