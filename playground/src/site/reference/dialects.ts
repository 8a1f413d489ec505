/** The behaviour of other systems for an operator's calls: the facts of `dialects()`, with their sources. */

import { dialects, type Dialect, type DialectAspect, type DialectFact } from "ndscatter";
import type { Example } from "./calls.ts";
import type { Family } from "./families.ts";
import { tablesIn } from "../documents/markdown.ts";

export interface Row {
  readonly dialect: Dialect;
  /** The cells in the order of the aspects; null if the dialect lacks the aspect. */
  readonly cells: readonly (Cell | null)[];
}

export interface Cell {
  readonly does: string;
  readonly how: DialectFact["how"];
  /** The address of the source; null if unknown. */
  readonly address: string | null;
}

const OF_GATHERS: readonly DialectAspect[] = ["negative", "gathers", "types"];
const OF_SCATTERS: readonly DialectAspect[] = ["negative", "scatters", "repeats", "types"];
const OF_REDUCTIONS: readonly DialectAspect[] = ["sums", "compares", "halves"];

/** Returns the aspects that matter to an operator. */
export function aspectsOf({ isScatter, newest }: Family): readonly DialectAspect[] {
  if (!isScatter) return OF_GATHERS;
  const reduces = newest.attributes.some(({ name }) => name === "reduction");
  return reduces ? [...OF_SCATTERS, ...OF_REDUCTIONS] : OF_SCATTERS;
}

/** Returns the dialects that have an operator, judged by its examples. */
export function dialectsWith(examples: readonly Example[]): Dialect[] {
  const has = new Set(
    examples.flatMap(({ elsewhere }) =>
      elsewhere.filter(({ why }) => why !== "missing").map(({ dialect }) => dialect),
    ),
  );
  return dialects().filter(({ id }) => has.has(id));
}

export function rowsOf(family: Family, examples: readonly Example[], document: string): Row[] {
  const addresses = addressesIn(document);
  const form = family.newest.indexForm;
  return dialectsWith(examples).map((dialect) => ({
    dialect,
    cells: aspectsOf(family).map((aspect) => {
      const facts = dialect.facts.filter((fact) => fact.aspect === aspect);
      const fact =
        facts.find(({ of }) => of !== null && of === form) ?? facts.find(({ of }) => of === null);
      if (fact === undefined) return null;
      const { does, how, of } = fact;
      const key = `${dialect.id} ${of === null ? aspect : `${aspect}, ${of}`}`;
      return { does, how, address: addresses.get(key) ?? null };
    }),
  }));
}

/** Returns the addresses of individual facts, which only the table in `docs/other-systems.md` contains. */
function addressesIn(document: string): ReadonlyMap<string, string> {
  const rows = rowsUnder("dialect", document);
  return new Map(
    rows.flatMap(([dialect, aspect, , , , address]) => {
      const found = /^<(.*)>$/.exec(address ?? "");
      return found === null
        ? []
        : [[`${dialect.replaceAll("`", "")} ${aspect}`, found[1]] as const];
    }),
  );
}

/** Returns the rows of the tables whose first column has this title. */
const rowsUnder = (title: string, document: string): (readonly string[])[] =>
  tablesIn(document).flatMap(({ head, rows }) => (head[0] === title ? rows : []));

/** Returns definitions of an aspect's words, in Markdown: rows of a table in `docs/other-systems.md`. */
export function wordsFor(
  aspects: readonly DialectAspect[],
  document: string,
): readonly (readonly string[])[] {
  return rowsUnder("aspect", document).filter(([names]) =>
    names.split(", ").some((name) => aspects.some((one) => one === name)),
  );
}
