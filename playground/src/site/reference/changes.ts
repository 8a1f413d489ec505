/** Describes the changes of a version in readable lines. `compareVersions` finds the changes. */

import type { OperatorVersion } from "ndscatter";
import { compareVersions, type VersionChange } from "ndscatter/operators";
import { code, html, joined, type Html } from "../html.ts";

export interface Line {
  readonly mark: "+" | "−" | "~";
  readonly text: Html;
  /** Paths of the changes in this line. */
  readonly paths: readonly string[];
}

/** Matches the version number, which changes with every version and is already in the title. */
const TITLE = /^(sinceVersion|opset)$/;

export function linesOf(from: OperatorVersion, to: OperatorVersion): Line[] {
  const changes = compareVersions(from, to).filter(({ path }) => !TITLE.test(path));
  const lists = new Map<string, VersionChange[]>();
  for (const change of changes) {
    const key = listOf(change, changes);
    lists.set(key, [...(lists.get(key) ?? []), change]);
  }
  return [...lists.values()].map((group) => ({
    mark: group[0].kind === "added" ? "+" : group[0].kind === "removed" ? "−" : "~",
    text: textOf(group, to),
    paths: group.map(({ path }) => path),
  }));
}

/**
 * Returns the key of a change's line. Changes of the same list of words or data types share a line. If an attribute's
 * words changed, its description shares their line, because it repeats the words.
 */
function listOf({ path, kind }: VersionChange, all: readonly VersionChange[]): string {
  const list = /^(.*\.(types|values))\./.exec(path)?.[1];
  if (list !== undefined) return `${kind} ${list}`;
  if (!path.endsWith(".description")) return path;
  const values = path.replace(/description$/, "values");
  const others = all.filter((one) => one.path.startsWith(`${values}.`));
  return kind === "changed" && others.length > 0 ? `${others[0].kind} ${values}` : path;
}

/** Returns the sentences of a summary. */
const sentences = (text: string): string[] => text.split(/(?<=\.) (?=[A-Z])/);

function textOf(group: readonly VersionChange[], to: OperatorVersion): Html {
  const [{ kind, path, value, from, to: now }] = group;
  const steps = path.split(".");
  const does = kind === "added" ? "takes" : "no longer takes";
  if (/\.(types|values)\./.test(path)) {
    const words = group.filter((one) => one.kind === kind).map((one) => code(String(one.value)));
    return html`${code(steps[1])} ${does} ${joined(words, ", ")}`;
  }
  if (path === "negativeIndices") {
    return now === true
      ? html`a negative index counts from the end of its axis`
      : html`a negative index is out of range`;
  }
  if (path === "fusesBatches") {
    return kind === "added"
      ? html`the batch axes of the output are merged into one`
      : html`the batch axes of the output are not merged anymore`;
  }
  if (path === "summary") return summaryText(String(from), String(now));
  const added = to.attributes.find(({ name }) => path === `attributes.${name}`);
  if (kind === "added" && added !== undefined) {
    return html`the attribute ${code(added.name)}: ${added.description}`;
  }
  if (kind !== "changed")
    return html`${code(path)}${typeof value === "object" ? "" : html`: ${String(value)}`}`;
  return html`${code(steps.filter((step) => step !== "description").join(" "))}:
    <del>${String(from)}</del> <ins>${String(now)}</ins>`;
}

/** Shows the added and the removed sentences of a summary. */
function summaryText(from: string, to: string): Html {
  const [before, after] = [sentences(from), sentences(to)];
  const gone = before.filter((one) => !after.includes(one));
  const come = after.filter((one) => !before.includes(one));
  return html`summary:
  ${gone.map((one) => html`<del>${one}</del> `)}${come.map((one) => html`<ins>${one}</ins> `)}`;
}
