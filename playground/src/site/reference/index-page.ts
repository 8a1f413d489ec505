/** First page of the reference: a card for each operator, and the changes of each version. */

import { html, joined, type Html } from "../html.ts";
import { heading, type Page } from "../layout.ts";
import { openingOf, table } from "../documents/markdown.ts";
import { examplesOf } from "./calls.ts";
import { errataOn, type Erratum } from "./errata.ts";
import { idOf, numberOf, type Family } from "./families.ts";

export function indexPage(all: readonly Family[], errata: readonly Erratum[]): Page {
  const homes = [...new Set(all.map(({ home }) => home))];
  const body = html`<h1>Operators</h1>
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
      <li><a href="semantics.html">Semantics</a>: behaviour that the specifications leave open.</li>
      <li>
        <a href="errata.html">Errata</a>: ${errata.length} errors in the specifications, and their
        corrections.
      </li>
      <li>
        <a href="other-systems.html">Other systems</a>: how they handle indices, repeats and floats.
      </li>
    </ul>
    ${heading(2, "changes", "Changes by version")} ${changesTable(all)}`;
  return {
    file: "reference/index.html",
    title: "Operators",
    description:
      "Scatter and gather operators of ONNX and OpenVINO, version by version, with live examples",
    contents: [
      ...homes.map((home) => ({ id: home.toLowerCase(), title: home })),
      { id: "all", title: "For all operators" },
      { id: "changes", title: "Changes by version" },
    ],
    body,
    finds: [],
  };
}

const count = (number: number, noun: string): string =>
  `${number} ${number === 1 ? noun : `${noun}s`}`;

function cardOf(family: Family, errata: readonly Erratum[]): Html {
  const { file, name, newest, versions } = family;
  const own = errataOn(errata, family).length;
  return html`<section class="card box">
    <h3><a href="${file}">${name}</a></h3>
    <p>${openingOf(newest.summary)}</p>
    <p class="chips row">
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

/** Links to the changes of every version. */
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
