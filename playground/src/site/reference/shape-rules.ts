/** Shows the shape rules of a version, term by term, as the library derives them for the examples. */

import type { DerivedShape, OperatorVersion } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { toHash } from "../../document/hash.ts";
import { explainState } from "../../document/read-state.ts";
import { inVersion, type Example } from "./calls.ts";
import { html, joined, type Html } from "../html.ts";
import { table } from "../documents/markdown.ts";

interface Rule {
  readonly shape: DerivedShape;
  readonly example: Example;
  readonly hash: string;
}

/**
 * Shows a line for each rule with different terms, which depend on the tuple length, the axis, or the batches. If
 * several examples share a rule, the example with the most dimensions is shown, because empty terms explain little.
 */
export function shapeRules(version: OperatorVersion, examples: readonly Example[]): Html {
  const rules = new Map<string, Rule>();
  for (const example of examples) {
    const state = inVersion(example.preset.state, version);
    const { explanation } = explainState(state);
    for (const shape of explanation?.shapes ?? []) {
      const key = `${shape.of} ${shape.terms.map(({ text }) => text).join()}`;
      const rank = rules.get(key)?.shape.expected.length ?? -1;
      if (shape.terms.length === 0 || shape.expected.length <= rank) continue;
      rules.set(key, { shape, example, hash: toHash(state) });
    }
  }
  if (rules.size === 0) return html`<p>No example runs in this version.</p>`;
  const order = [...new Set([...rules.values()].map(({ shape }) => shape.of))];
  const sorted = order.flatMap((of) => [...rules.values()].filter(({ shape }) => shape.of === of));
  const rows = sorted.map(({ shape, example: { preset }, hash }) => [
    html`<code>${shape.of}.shape</code>`,
    html`<span class="terms row">${termsOf(shape)}</span>`,
    html`<a href="#${preset.id}">${preset.title}</a>,
      <a href="../#${hash}" aria-label="try ${preset.title}">try</a>`,
  ]);
  return table(["shape", "term by term", "in the example"], rows);
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
