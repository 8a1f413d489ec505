/** Compares three outputs side by side: the user's output, the exact output, and another system's output. */

import { printElement } from "../values/scalar-text.ts";
import type { DialectId, Explanation } from "ndscatter";
import { isResultOf, type Cause, type Comparison } from "./actual.ts";
import { counted, DIALECT_NAMES } from "./dialect-names.ts";
import type { DialectRow, Rules } from "./dialect-view.ts";
import { titleOf } from "../document/title-of.ts";
import { coordinatesOf } from "../values/shape.ts";
import { valueTexts } from "../values/tensor-text.ts";
import type { State } from "../values/state.ts";

export type Mark = "same" | "differs" | "open";

export interface Column {
  readonly name: string;
  /** A note under the column's name, such as `differs in 2 cells`. */
  readonly note: string;
  /** The texts of the cells; null if the column has no output, as explained in `note`. */
  readonly texts: readonly (string | null)[] | null;
  mark(cell: number): Mark;
}

export interface SideBySide {
  readonly title: string;
  readonly shape: readonly number[];
  readonly verdict: string;
  /** The reason why the cells differ; empty if unknown. */
  readonly reason: string;
  /** Sentences about some of these cells, as evidence for the reason. */
  readonly evidence: readonly string[];
  readonly columns: readonly Column[];
  /** The cells in which the user's output differs. */
  readonly differing: readonly number[];
}

export interface Given {
  readonly state: State;
  readonly explanation: Explanation | null;
  readonly comparison: Comparison;
  readonly rules: Rules;
  readonly beside: DialectId | null;
}

export function sideBySide(given: Given): SideBySide {
  const { state, comparison, rules, beside } = given;
  const { output, base, differing, causes, sentences } = comparison;
  const cause = causes.find(({ isWhole }) => isWhole);
  const row = rowsOf(rules).find(({ id }) => id === beside);
  const own = [...differing].toSorted((a, b) => a - b);
  // The document of ONNX may allow several results, of which the exact one is the one that ndscatter always gives.
  const open = rowsOf(rules).find(({ id, undecided }) => id === "onnx" && undecided.size > 0);
  return {
    title: titleOf(state),
    shape: output.shape,
    verdict: sentences[0],
    reason:
      cause === undefined
        ? own.length === 0
          ? ""
          : "No known fault explains all of these cells."
        : sentenceOf(cause),
    evidence: [
      ...(open === undefined ? [] : [open.sentence]),
      ...own.slice(0, MOST_EVIDENCE).map((cell) => evidenceOf(cell, given)),
    ],
    differing: own,
    columns: [
      {
        name: "Yours",
        note: differing.size === 0 ? "equal, bit for bit" : `differs in ${cellsOf(differing.size)}`,
        texts: comparison.texts,
        mark: (cell) => (differing.has(cell) ? "differs" : "same"),
      },
      {
        name: "Exact",
        note: open === undefined ? "by the specification" : "one result that ONNX allows",
        texts: base,
        mark: () => "same",
      },
      ...(row === undefined ? [] : [columnOf(row)]),
    ],
  };
}

const cellsOf = (count: number): string => counted(count, "cell");

/** The maximum number of cells to describe in sentences. */
const MOST_EVIDENCE = 3;

/** The maximum number of updates to list per cell. */
const MOST_UPDATES = 4;

/** Describes a differing cell: the user's value, the exact value, and the updates that the cell receives. */
function evidenceOf(cell: number, { comparison, explanation }: Given): string {
  const { output, texts, base } = comparison;
  const at = coordinatesOf(cell, output.shape);
  const exact = base?.[cell] ?? null;
  const where = `output[${at.join(", ")}]`;
  const values =
    exact === null
      ? `${where} is ${texts[cell]} in yours; the cell has no exact value.`
      : `${where} is ${texts[cell]} in yours; the exact value is ${exact}.`;
  const story = explanation?.story;
  if (story?.kind !== "scatter") return values;
  const print = (value: Parameters<typeof printElement>[1]): string =>
    printElement(output.dtype, value);
  const { count } = story.cell(at);
  if (count === 0) return `${values} No update reaches this cell.`;
  const updates: string[] = [];
  let before = "";
  for (const step of story.cell(at).steps()) {
    if (step.kind !== "update") continue;
    if (updates.length === 0) before = print(step.before);
    if (updates.length === MOST_UPDATES) break;
    updates.push(print(step.update));
  }
  const more = count > MOST_UPDATES ? ` and ${counted(count - MOST_UPDATES, "more update")}` : "";
  return `${values} Data holds ${before}; the cell receives ${updates.join(", then ")}${more}.`;
}

function columnOf({
  name,
  output,
  why,
  agrees,
  differing,
  undecided,
  sentence,
}: DialectRow): Column {
  const certain = [...differing].filter((cell) => !undecided.has(cell)).length;
  const notes = [
    ...(certain > 0 ? [`differs in ${cellsOf(certain)}`] : []),
    ...(undecided.size > 0 ? [`${cellsOf(undecided.size)} may differ`] : []),
  ];
  return {
    name,
    note:
      output === null
        ? why === "error"
          ? "refuses the call"
          : sentence.replace(`${name} `, "")
        : agrees || notes.length === 0
          ? "equal, bit for bit"
          : notes.join(", "),
    texts: output === null ? null : valueTexts(output),
    mark: (cell) => (undecided.has(cell) ? "open" : differing.has(cell) ? "differs" : "same"),
  };
}

export const rowsOf = (rules: Rules): readonly DialectRow[] =>
  "error" in rules ? [] : rules.choices.flatMap(({ rows }) => rows);

/**
 * Returns the system to show first: a system with the user's result, otherwise any system that differs, otherwise any
 * system.
 */
export function firstBeside(rules: Rules, comparison: Comparison): DialectId | null {
  const rows = rowsOf(rules).filter(({ output }) => output !== null);
  const isMine = ({ id, output, undecided }: DialectRow): boolean =>
    output !== null && isResultOf({ output, undecided }, [id], comparison);
  // An actual system's result comes first, because it says more than a result that ONNX leaves undefined.
  const others = rows.filter(({ id }) => id !== "onnx");
  const mine = others.filter(isMine);
  const found =
    mine.find(({ undecided }) => undecided.size === 0) ??
    mine[0] ??
    others.find(({ agrees }) => !agrees) ??
    others[0];
  return found?.id ?? null;
}

export const isDialect = (text: string): text is DialectId => Object.hasOwn(DIALECT_NAMES, text);

/** Says a cause, and how many cells it explains. */
export const sentenceOf = ({ sentence, share }: Cause): string =>
  `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}. This ${share}.`;
