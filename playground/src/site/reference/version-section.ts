/** Shows one version of an operator: the content of its registry row, and results of calls. */

import type { AttributeSchema, OperatorVersion, ParameterSchema } from "ndscatter";
import { roleOf, typesOf } from "ndscatter/operators";
import { boundsOf, probesOf } from "./bounds.ts";
import type { Example } from "./calls.ts";
import { linesOf } from "./changes.ts";
import type { Erratum } from "./errata.ts";
import { documentOf, idOf, numberOf, type Family } from "./families.ts";
import { code, codes, html, joined, type Html } from "../html.ts";
import { folded, heading, type Entry } from "../layout.ts";
import { inline, table } from "../documents/markdown.ts";
import { shapeRules } from "./shape-rules.ts";

interface VersionSection {
  readonly entry: Entry;
  readonly body: Html;
}

/** @param errata the errata of this version */
export function versionSection(
  family: Family,
  version: OperatorVersion,
  examples: readonly Example[],
  errata: readonly Erratum[],
): VersionSection {
  const id = idOf(version);
  const title = `Version ${numberOf(version)}`;
  const before = family.versions[family.versions.indexOf(version) - 1];
  const parts = Object.entries<readonly [title: string, body: Html]>({
    changes: [changesTitle(before), changesPart(before, version)],
    attributes: ["Attributes", attributesPart(version)],
    inputs: ["Inputs", parametersPart(version, version.inputs, true)],
    outputs: ["Outputs", parametersPart(version, version.outputs, false)],
    types: ["Types", typesPart(version)],
    shapes: ["Shape rule", shapeRules(version, examples)],
    bounds: ["Bounds", boundsPart(version, examples)],
    errata: ["Errata", errataPart(errata)],
    examples: ["Examples", examplesPart(version, examples)],
  }).map(([name, [text, body]]) => ({ id: `${id}-${name}`, title: text, body }));
  const inner = html`${version.deprecated === undefined ? "" : html`<p class="warning">Deprecated: use ${version.deprecated}. It still runs.</p>`}
    <p id="${id}-summary">${prose(version.summary)}</p>
    <p class="small">
      <a href="${documentOf(version)}">The published document of version ${version.sinceVersion}</a>
    </p>
    ${parts.map((part) => html`${heading(3, part.id, part.title)}${part.body} `)}`;
  // Only the newest version is unfolded, because most readers look for that version, and all versions are too long for
  // a phone.
  const isNewest = version === family.newest;
  const body = html`<section class="version" data-version="${version.sinceVersion}">
    ${folded(2, id, title, inner, isNewest)}
  </section> `;
  return {
    entry: { id, title, inner: parts.map((part) => ({ id: part.id, title: part.title })) },
    body,
  };
}

/** Formats the text of a row. Formulas become code: parts with a dot, a bracket or `++` in the middle of a sentence. */
export function prose(text: string): Html {
  const formula =
    /\b[a-z]+(?:\[(?:[^[\]]|\[[^\]]*\])+\])+|[a-z]+\.shape(?:\[[^\]]*\])?(?: (?:=|\+\+) \S*[a-z]+\.shape(?:\[[^\]]*\])?)*|\[-?[a-z0-9][^\]]*\]|\b[a-z]+_[a-z_]+\b(?:\[[^\]]*\])?|\bk = \S+\]/g;
  const parts: (Html | string)[] = [];
  let last = 0;
  for (const found of text.matchAll(formula)) {
    parts.push(text.slice(last, found.index), code(found[0]));
    last = found.index + found[0].length;
  }
  return html`${parts}${text.slice(last)}`;
}

const changesTitle = (before: OperatorVersion | undefined): string =>
  before === undefined ? "Changes" : `Changes since version ${before.sinceVersion}`;

function changesPart(before: OperatorVersion | undefined, version: OperatorVersion): Html {
  if (before === undefined) return html`<p>This is the first version in this reference.</p>`;
  const lines = linesOf(before, version);
  if (lines.length === 0) return html`<p>No change affects the result of a call.</p>`;
  return html`<ul class="changes">
    ${lines.map(
      ({ mark, text, paths }) =>
        html`<li data-paths="${paths.join(" ")}">
          <span class="mark">${mark}</span> <span>${text}</span>
        </li>`,
    )}
  </ul>`;
}

function attributesPart({ attributes }: OperatorVersion): Html {
  if (attributes.length === 0) return html`<p>None.</p>`;
  const rows = attributes.map((one) => [
    code(one.name),
    one.type,
    one.default === undefined ? "required" : code(String(one.default)),
    takes(one),
    prose(one.description),
  ]);
  return table(["name", "type", "default", "takes", "meaning"], rows);
}

const takes = ({ type, values, minimum }: AttributeSchema): Html | string => {
  if (values !== undefined) return codes(values);
  if (type === "boolean") return codes(["true", "false"]);
  return minimum === undefined ? "any integer that fits the shapes" : `${minimum} and above`;
};

function parametersPart(
  version: OperatorVersion,
  list: readonly ParameterSchema[],
  isInput: boolean,
): Html {
  const rows = list.map((one) => {
    const types = typesOf(version, one.type);
    const type =
      types.length === 1 ? code(one.type) : html`${code(one.type)}, ${types.length} types`;
    const name = html`${code(one.name)}${one.optional === true ? " (optional)" : ""}`;
    return isInput
      ? [name, roleOf(one), type, prose(one.description)]
      : [name, type, prose(one.description)];
  });
  return table(isInput ? ["name", "role", "type", "meaning"] : ["name", "type", "meaning"], rows);
}

const typesPart = ({ typeConstraints }: OperatorVersion): Html =>
  html`<dl class="types">
    ${typeConstraints.map(
      ({ name, types, description }) =>
        html`<dt>${code(name)}</dt>
          <dd>${codes(types)}. ${description}</dd>`,
    )}
  </dl>`;

function boundsPart(version: OperatorVersion, examples: readonly Example[]): Html {
  const all = probesOf(version, examples);
  const rule = boundsOf(version, all);
  const sentence =
    rule === null
      ? html`<p>These indices are positions, which follow <a href="#room">separate rules</a>.</p>`
      : html`<p>Negative indices: ${rule.negative}. Indices out of range: ${rule.outOfRange}.</p>`;
  return html`${sentence}${all.map(({ example, axis, size, probes }) => {
    const rows = probes.map(({ index, value, sentence: said, isError, hash }) => [
      index === String(value) ? code(index) : html`${code(index)} = ${value}`,
      html`<span class="${isError ? "error" : "fine"}">${isError ? "error: " : ""}${said}</span>`,
      html`<a href="../#${hash}" aria-label="try ${index}">try</a>`,
    ]);
    const { id, title } = example.preset;
    return html`<p>
        The first index of <a href="#${id}">${title}</a> with other values; axis ${axis} of data has
        s = ${size}:
      </p>
      ${table(["first index", "what the call does", "live"], rows)}`;
  })}`;
}

const errataPart = (errata: readonly Erratum[]): Html =>
  errata.length === 0
    ? html`<p>None known.</p>`
    : html`<ul>
        ${errata.map(
          ({ id, document, printed }) =>
            html`<li>
              <a href="#${id}">${inline(document, () => null)}</a>: ${inline(printed, () => null)}
            </li>`,
        )}
      </ul>`;

const OWN = "Example written for this version";
const OTHERS = {
  same: "Same result here",
  other: "Different result here",
  refused: "Refused here",
} as const;

/** Groups the examples by their result in this version. */
function examplesPart(version: OperatorVersion, examples: readonly Example[]): Html {
  const titleOf = ({ preset, outcomes }: Example): string => {
    const { is } = outcomes.find((one) => one.version === version) ?? { is: "same" };
    return preset.state.opset === version.sinceVersion ? OWN : OTHERS[is];
  };
  const groups = [OWN, ...Object.values(OTHERS)]
    .map((title) => ({ title, members: examples.filter((one) => titleOf(one) === title) }))
    .filter(({ members }) => members.length > 0);
  if (groups.length === 0) return html`<p>None.</p>`;
  return html`<dl class="groups">
    ${groups.map(
      ({ title, members }) =>
        html`<dt>${title}</dt>
          <dd>
            ${joined(
              members.map(({ preset }) => html`<a href="#${preset.id}">${preset.title}</a>`),
              ", ",
            )}
          </dd>`,
    )}
  </dl>`;
}
