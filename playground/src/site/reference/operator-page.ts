/** Creates the page of an operator: its versions, its examples, and statements of documents and other systems. */

import type { DialectAspect, OperatorVersion } from "ndscatter";
import { CONFUSIONS_GROUP } from "../../examples/presets.ts";
import { boundsOf, probesOf } from "./bounds.ts";
import { examplesOf, type Example } from "./calls.ts";
import { aspectsOf, rowsOf, wordsFor } from "./dialects.ts";
import { errataOn, errataTable, type Erratum } from "./errata.ts";
import { exampleSection, versionLinks } from "./example-section.ts";
import { idOf, numberOf, type Family } from "./families.ts";
import type { Library } from "../documents/library.ts";
import { inline, openingOf, table, type Addresses } from "../documents/markdown.ts";
import { codes, html, joined, type Html } from "../html.ts";
import { folded, heading, type Entry, type Page } from "../layout.ts";
import { findsOn } from "./finds.ts";
import { pictureOf, type Drawn } from "./picture.ts";
import { remarksOn } from "./remarks.ts";
import { prose, versionSection } from "./version-section.ts";

export interface OperatorPage {
  readonly page: Page;
  /** The picture; null if no example can be drawn. */
  readonly picture: Drawn | null;
}

export function operatorPage(
  family: Family,
  errata: readonly Erratum[],
  library: Library,
): OperatorPage {
  const { name, home, versions, newest, file } = family;
  const examples = examplesOf(family);
  const sections = versions
    .toReversed()
    .map((version) => versionSection(family, version, examples, errataOn(errata, family, version)));
  const own = errataOn(errata, family);
  const picture = pictureOf(file.replace(".html", ""), examples);
  const body = html`<p class="kind small">${home} · ${family.isScatter ? "scatter" : "gather"}</p>
    <h1>${name}</h1>
    <p class="lead">${prose(openingOf(newest.summary))}</p>
    ${picture === null ? "" : figureOf(picture)} ${heading(2, "versions", "Versions")}
    ${versionsTable(versions, examples)} ${sections.map((section) => section.body)}
    ${heading(2, "examples", "Examples")} ${examplesIntro(family)} ${examples.map(exampleSection)}
    ${folded(2, "errata", "Errata", errataPart(family, own, library))}
    ${folded(2, "room", "What the specification leaves open", roomOf(family, library))}
    ${folded(2, "dialects", "Dialects", dialectsOf(family, examples, library))}`;
  const page = {
    file: `reference/${file}`,
    title: `${name} (${home})`,
    description: openingOf(newest.summary),
    contents: [
      { id: "versions", title: "Versions" },
      ...sections.map(({ entry }) => entry),
      { id: "examples", title: "Examples", inner: examples.map(exampleEntry) },
      { id: "errata", title: "Errata" },
      { id: "room", title: "What the specification leaves open" },
      { id: "dialects", title: "Dialects" },
    ],
    body,
    finds: findsOn(family, examples, own),
  };
  return { page, picture };
}

/** Shows the picture in the colours of the theme; the other theme's file is not loaded. */
function figureOf({ light, dark, preset: { title }, hash }: Drawn): Html {
  const image = (file: string, theme: string): Html =>
    html`<img class="on-${theme}" src="${file}" alt="Tables and lines: ${title}" loading="lazy" />`;
  return html`<figure class="drawn">
    <div class="sheet" tabindex="0" role="group" aria-label="Picture: ${title}">
      ${image(light, "light")}${image(dark, "dark")}
    </div>
    <figcaption>${title}. <a href="../#${hash}">Change it in the playground</a></figcaption>
  </figure>`;
}

const exampleEntry = ({ preset: { id, title } }: Example): Entry => ({ id, title });

const OWN = "separate rules";

function versionsTable(versions: readonly OperatorVersion[], examples: readonly Example[]): Html {
  const rows = versions.toReversed().map((version) => {
    const rule = boundsOf(version, probesOf(version, examples));
    return [
      html`<a href="#${idOf(version)}">${numberOf(version)}</a>`,
      version.attributes.length === 0 ? "none" : codes(version.attributes.map((one) => one.name)),
      `${version.typeConstraints[0].types.length} types`,
      rule?.negative ?? OWN,
      rule?.outOfRange ?? OWN,
      version.deprecated === undefined ? "" : `deprecated: use ${version.deprecated}`,
    ];
  });
  const head = ["version", "attributes", "data", "negative indices", "out of range", "remark"];
  const used = rows.some((row) => row[5] !== "") ? 6 : 5;
  return table(
    head.slice(0, used),
    rows.map((row) => row.slice(0, used)),
  );
}

function examplesIntro({ isScatter }: Family): Html {
  const legend = isScatter
    ? html` Output elements written by one update are <span class="key hit">marked</span>, and
        elements written by two or more updates are <span class="key hit often">underlined</span>.`
    : "";
  return html`<p>
    The library computed all outputs.${legend} The examples include “${CONFUSIONS_GROUP}”: calls
    that differ in one thing.
  </p>`;
}

function errataPart(family: Family, errata: readonly Erratum[], library: Library): Html {
  if (errata.length === 0) return html`<p>The specification has no known errors.</p>`;
  const versionsOf = ({ concerns }: Erratum): Html =>
    versionLinks(concerns.find((concern) => concern.family === family)?.versions ?? []);
  return html`<p>Errors in the specifications, and their corrections.</p>
    ${errataTable(errata, library, "versions", versionsOf)}`;
}

function roomOf(family: Family, library: Library): Html {
  const semantics = library.addressesFrom("docs/semantics.md");
  const addresses: Addresses = (target) =>
    target.startsWith("#") ? `semantics.html${target}` : semantics(target);
  const remarks = remarksOn(library.textOf("docs/semantics.md"), family);
  const items = remarks.map(
    ({ heading: title, id, text }) =>
      html`<li>
        ${inline(text, addresses)} <a class="from" href="semantics.html#${id}">${title}</a>
      </li>`,
  );
  const general = html`<p>
    What holds for all operators, such as the order of updates and the arithmetic, is in
    <a href="semantics.html">Semantics</a>.
  </p>`;
  return items.length === 0
    ? general
    : html`<ul>
          ${items}
        </ul>
        ${general}`;
}

/** Column headers of the aspects that are compared. */
const TITLES: Readonly<Record<DialectAspect, string>> = {
  negative: "negative",
  scatters: "out of range",
  gathers: "out of range",
  repeats: "repeats",
  sums: "order of sums",
  compares: "max and min",
  halves: "half floats",
  types: "other types",
  means: "integer means",
  wholes: "empty tuples",
  strings: "strings",
};

function dialectsOf(family: Family, examples: readonly Example[], library: Library): Html {
  const document = library.textOf("docs/other-systems.md");
  const addresses = library.addressesFrom("docs/other-systems.md");
  const aspects = aspectsOf(family);
  const rows = rowsOf(family, examples, document);
  const body = rows.map(({ dialect, cells }) => [
    html`<a href="${dialect.source}">${dialect.id}</a>
      <span class="small">${dialect.version}</span>`,
    ...cells.map((cell) => {
      if (cell === null) return "–";
      const { does, how, address } = cell;
      const from = address === null ? html`${how}` : html`<a href="${address}">${how}</a>`;
      const word = joined(does.split(/(?<=[+:])/), html`<wbr />`);
      return html`<code class="word">${word}</code> <span class="small">${from}</span>`;
    }),
  ]);
  const words = wordsFor(aspects, document).map(([names, meaning]) => [
    inline(names, addresses),
    inline(meaning, addresses),
  ]);
  return html`<p>
      What other systems do with the same call, and how that is known.
      <a href="other-systems.html">Other systems</a> lists all of them.
    </p>
    ${table(
      ["system", ...aspects.map((one) => TITLES[one])],
      body,
      rows.map(({ dialect }) => `dialect-${dialect.id}`),
    )}
    <p>What the words mean:</p>
    ${table(["about", "words"], words)}`;
}
