/** Compares two records: lists differences by kind, each with a command that shows the case. */

/** The parts of a case that are compared, with the name of a difference in each. */
const KINDS = {
  values: "values",
  code: "error code",
  fields: "fields",
  sentence: "sentence",
  status: "status",
  printed: "printed text",
};

/** Examples of each difference that are printed. */
const SHOWN = 5;

/** The cases of a record by id. */
const parseRecord = (text) =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .map((one) => [one.id, one]),
  );

/**
 * @param {string} a the text of a record
 * @param {string} b the text of another one
 * @returns {{ kind: string, id: string, before: unknown, after: unknown }[]}
 */
export function differences(a, b) {
  const [before, after] = [parseRecord(a), parseRecord(b)];
  const missing = [...before.values()].filter(({ id }) => !after.has(id));
  const added = [...after.values()].filter(({ id }) => !before.has(id));
  const changed = [...before.values()].flatMap((one) => {
    const other = after.get(one.id);
    if (other === undefined) return [];
    return Object.entries(KINDS)
      .filter(([key]) => JSON.stringify(one[key]) !== JSON.stringify(other[key]))
      .map(([key, kind]) => ({ kind, id: one.id, before: one[key], after: other[key] }));
  });
  return [
    ...changed,
    ...missing.map((one) => ({ kind: "missing", id: one.id, before: one.line, after: undefined })),
    ...added.map((one) => ({ kind: "new", id: one.id, before: undefined, after: one.line })),
  ];
}

const print = (value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing"));

/** Text in which numbers are alike, so that one changed sentence is one difference. */
const template = (value) => print(value).replaceAll(/-?\d+(?:\.\d+)?/g, "#");

/** Hashes say nothing, so the results of engines for one call are one difference. */
const byCall = ({ id }) => id.replace(/\/(?:js|wasm|threads)\//, "/");

const byPart = ({ id }) => id.slice(0, id.lastIndexOf("/"));

const bySentence = ({ before, after }) => JSON.stringify([template(before), template(after)]);

/** The differences of a kind that are printed as one. */
const keyOf = { values: byCall, "printed text": byCall, missing: byPart, new: byPart };

/** Lists of differences with the same key, the longest first. */
function grouped(found, key) {
  const groups = new Map();
  for (const one of found) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return [...groups.values()].toSorted((a, b) => b.length - a.length);
}

/**
 * The differences as text, each kind of change once with its number of cases.
 * @param {number} most examples of each kind
 */
export function printDifferences(found, most = SHOWN) {
  const text = [];
  for (const kind of [...Object.values(KINDS), "missing", "new"]) {
    const ofKind = found.filter((one) => one.kind === kind);
    if (ofKind.length === 0) continue;
    text.push(`${kind}: ${ofKind.length} cases`);
    const groups = grouped(ofKind, keyOf[kind] ?? bySentence);
    for (const group of groups.slice(0, most)) {
      const [{ id, before, after }] = group;
      const isSeen = before !== undefined || after !== undefined;
      text.push(`  ${group.length} like this: node scripts/record.js --only ${id} --show`);
      if (isSeen) text.push(`    before: ${print(before)}`, `    after:  ${print(after)}`);
    }
    const left = groups.length - most;
    if (left > 0) text.push(`  and ${left} more; --all prints them`);
  }
  return text.length === 0 ? "nothing differs\n" : `${text.join("\n")}\n`;
}
