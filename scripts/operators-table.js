/**
 * Writes the table of docs/operators.md from the registry. Run by hand: `npm run build && node
 * scripts/operators-table.js`; `test/documents/tour.test.ts` fails until the table is up to date.
 */

import fs from "node:fs";
import { operators } from "ndscatter";

const DOCUMENT = new URL("../docs/operators.md", import.meta.url);
const BEGIN = "<!-- operators -->\n";
const END = "<!-- /operators -->";

/** Returns a row for each operator: its versions, and the inputs and attributes of each version. */
export function table(all = operators()) {
  const families = new Map();
  for (const version of all) {
    const key = `${version.domain} ${version.name}`;
    families.set(key, [...(families.get(key) ?? []), version]);
  }
  const rows = [...families.values()].map((versions) => [
    versions[0].name,
    versions[0].domain,
    versions.map(({ sinceVersion }) => sinceVersion).join(", "),
    [...new Set(versions.flatMap(describe))].join("; "),
  ]);
  const head = ["operator", "domain", "versions", "what they take"];
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** Returns the additions of a version to the version before it; everything for the first version. */
function describe(version, position, versions) {
  const before = versions[position - 1];
  const known = before?.attributes ?? [];
  const attributes = version.attributes
    .filter(
      ({ name, values }) =>
        !known.some((one) => one.name === name && one.values?.length === values?.length),
    )
    .map(({ name, values }) => `\`${name}\`${values === undefined ? "" : ` ${values.join(" ")}`}`);
  const typesOf = (one) => one?.typeConstraints.find(({ name }) => name === "T").types ?? [];
  const newTypes = typesOf(version).filter(
    (dtype) => before !== undefined && !typesOf(before).includes(dtype),
  );
  const negative =
    before !== undefined && version.negativeIndices && !before.negativeIndices
      ? ["negative indices"]
      : [];
  const indices = describeIndices(version);
  const newIndices = before === undefined || indices === describeIndices(before) ? [] : [indices];
  const isNewlyOld = version.deprecated !== undefined && before?.deprecated === undefined;
  const deprecated = isNewlyOld ? [`deprecated: use ${version.deprecated}`] : [];
  const news = [...attributes, ...newTypes, ...newIndices, ...negative, ...deprecated];
  if (before !== undefined)
    return news.length === 0 ? [] : [`${version.sinceVersion}: ${news.join(", ")}`];
  const axis = version.inputs.some(({ name }) => name === "axis") ? ["axis as an input"] : [];
  const facts = [`${typesOf(version).length} data types`, indices, ...axis, ...news];
  return [facts.join(", ")];
}

function describeIndices({ inputs, typeConstraints }) {
  const index = inputs.find(({ name, role = name }) => role === "indices").type;
  const types = typeConstraints.find(({ name }) => name === index)?.types ?? [index];
  return types.length > 2 ? "indices of any integer type" : `${types.join(" or ")} indices`;
}

/** Returns the text of the document with a new table. */
export function renewed() {
  const text = fs.readFileSync(DOCUMENT, "utf8");
  const from = text.indexOf(BEGIN) + BEGIN.length;
  return text.slice(0, from) + table() + text.slice(text.indexOf(END));
}

if (process.argv[1] === new URL(import.meta.url).pathname) fs.writeFileSync(DOCUMENT, renewed());
