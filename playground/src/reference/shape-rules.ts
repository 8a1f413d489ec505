/** The shape rules of a version, term by term, as the library derives them for the examples. */

import { printShape, type DerivedShape, type OperatorVersion } from "ndscatter";
import { toHash } from "../model/hash.ts";
import { explainState } from "../model/read-state.ts";
import { inVersion, type Example } from "./calls.ts";
import { html, joined, type Html } from "./html.ts";
import { table } from "./markdown.ts";

/** One line for each rule that differs by its terms: by the length of tuples, the axis, or the batches. */
export function shapeRules(version: OperatorVersion, examples: readonly Example[]): Html {
  const lines = new Map<string, readonly Html[]>();
  for (const { preset } of examples) {
    const state = inVersion(preset.state, version);
    const { explanation } = explainState(state);
    for (const shape of explanation?.shapes ?? []) {
      const rule = `${shape.of} ${shape.terms.map(({ text }) => text).join()}`;
      if (lines.has(rule) || shape.terms.length === 0) continue;
      lines.set(rule, [
        html`<code>${shape.of}.shape</code>`,
        html`<span class="terms">${termsOf(shape)}</span>`,
        html`<a href="#${preset.id}">${preset.title}</a>, <a href="../#${toHash(state)}">try</a>`,
      ]);
    }
  }
  return lines.size === 0
    ? html`<p>No example of this version.</p>`
    : table(["shape", "term by term", "in the example"], [...lines.values()]);
}

function termsOf({ terms, expected }: DerivedShape): Html {
  const shown = terms.map(
    ({ text, shape }) =>
      html`<span class="term"
        ><code>${text}</code><span class="value">${printShape(shape)}</span></span
      >`,
  );
  const sum = terms.length === 1 ? "" : html`<span class="sum">= ${printShape(expected)}</span>`;
  return html`${joined(shown, html`<span class="plus">++</span>`)}${sum}`;
}
