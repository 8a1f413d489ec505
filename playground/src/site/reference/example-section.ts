/** Shows one example: its call, its tensors as tables, the library's output, and a link to edit it on the stage. */

import type { DialectComparison } from "ndscatter";
import type { Example, Outcome } from "./calls.ts";
import { idOf, numberOf } from "./families.ts";
import { countsOf, tensorTables } from "./grids.ts";
import { codes, html, joined, type Html } from "../html.ts";

export function exampleSection(example: Example): Html {
  const { preset, explained, hash, outcomes, elsewhere } = example;
  const { id, title, note, state } = preset;
  const { inputs, explanation, version, faults } = explained;
  const tensors = inputs.map((one, position) => {
    const name = version?.inputs[position]?.name ?? "";
    return one === undefined ? "" : tensorTables(name, one);
  });
  const output =
    explanation === null || explanation.output === null || faults.length > 0
      ? html`<div class="tensor result">
          <p class="label"><strong>no output</strong></p>
          ${faults.map(({ sentence }) => html`<p class="error">${sentence}</p>`)}
        </div>`
      : tensorTables(
          version?.outputs[0].name ?? "output",
          explanation.output,
          countsOf(explanation),
        );
  const call = [
    `${state.op}-${state.opset}`,
    ...Object.entries(state.attributes).map(([name, text]) => `${name} = ${text}`),
  ];
  return html`<article class="example box" data-preset="${id}">
    <details class="fold">
      <summary><h3 id="${id}">${title}</h3></summary>
      <p class="call">${call.map((one) => html`<code>${one}</code> `)}</p>
      ${note === "" ? "" : html`<p>${note}</p>`}
      <div class="picture row">${tensors}${output}</div>
      ${outcomesOf(outcomes)} ${elsewhereOf(elsewhere, faults.length > 0)}
      <div class="live row">
        <details>
          <summary>Change it here</summary>
          <iframe loading="lazy" title="${title}, live" src="../?embed=1#${hash}"></iframe>
        </details>
        <a href="../#${hash}">Open in the playground</a>
      </div>
    </details>
  </article> `;
}

/** Links version numbers to the call in these versions. */
const numbers = (list: readonly Outcome[]): Html =>
  joined(
    list.map(({ version, hash }) => html`<a href="../#${hash}">${numberOf(version)}</a>`),
    ", ",
  );

/**
 * Shows the results of the call by version; empty for an operator with one version. Each number links to the call in
 * that version.
 */
function outcomesOf(outcomes: readonly Outcome[]): Html | string {
  if (outcomes.length < 2) return "";
  const same = outcomes.filter(({ is }) => is === "same");
  const others = outcomes.filter(({ is }) => is !== "same");
  return html`<p class="small">In versions</p>
    <ul class="outcomes">
      ${same.length === 0 ? "" : html`<li>${numbers(same)}: the same</li>`}
      ${others.map(
        (one) =>
          html`<li class="${one.is}">
            ${numbers([one])}: ${one.is === "other" ? "a different result" : one.sentence}
          </li>`,
      )}
    </ul>`;
}

/** Shows the results of other systems. Systems that lack the operator are omitted. */
function elsewhereOf(all: readonly DialectComparison[], isError: boolean): Html | string {
  const known = all.filter(({ why }) => why !== "missing");
  if (known.length === 0) return "";
  const agreeing = known.filter(({ agrees }) => agrees).map(({ dialect }) => dialectLink(dialect));
  const others = known.filter(({ agrees }) => !agrees);
  return html`<p class="small">In other systems</p>
    <ul class="elsewhere">
      ${agreeing.length === 0 ? "" : html`<li>the same: ${joined(agreeing, ", ")}</li>`}
      ${others.map((one) => html`<li>${dialectLink(one.dialect)}: ${differenceOf(one, isError)}</li>`)}
    </ul>`;
}

const dialectLink = (id: string): Html => html`<a href="#dialect-${id}">${id}</a>`;

const count = (cells: readonly number[], one: string, many: string): string =>
  cells.length === 1 ? `1 cell ${one}` : `${cells.length} cells ${many}`;

/** @param isError true if the call is invalid in its version */
function differenceOf(
  { why, output, differing, undecided, ids }: DialectComparison,
  isError: boolean,
): Html {
  const facts = [
    why === "error" ? "an error" : null,
    why === "undefined" ? "undefined or unknown" : null,
    isError && output !== null ? "a result instead of an error" : null,
    !isError && differing.length > 0 ? count(differing, "differs", "differ") : null,
    undecided.length > 0 ? count(undecided, "is not determined", "are not determined") : null,
  ].filter((one) => one !== null);
  return html`${facts.join(", ")}${ids.length === 0 ? "" : html` (${codes(ids)})`}`;
}

/** Links versions to their sections. */
export const versionLinks = (outcomes: readonly Outcome["version"][]): Html =>
  html`<span class="chips row"
    >${outcomes.map((version) => html`<a href="#${idOf(version)}">${numberOf(version)}</a>`)}</span
  >`;
