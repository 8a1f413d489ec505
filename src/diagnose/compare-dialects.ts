/** One call in all dialects: each row of the table becomes a rule, as a hypothesis does, and the rule a result. */

import { callOf, nodeFrom, type Call, type NodeSpec } from "../call/call.ts";
import { tensorsOf } from "../call/inputs.ts";
import { prepare } from "../call/prepare.ts";
import { DTYPES, isDType, isNumericStorage } from "../tensor/dtype.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { roundingError } from "./arithmetic.ts";
import { cellUpdatesOf, valuesOf } from "./cell-values.ts";
import { cellsOf, differingCells } from "./cells.ts";
import { exactOf, readCall } from "./diagnose.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { DIALECT_IDS, idOf, rowOf, type DialectId, type Row } from "./dialects.ts";
import { isFloating, placingOf, planOf, resultOf, type Rule } from "./rule.ts";
import { HYPOTHESES } from "./search.ts";

/** What a dialect makes of a call. */
export interface DialectComparison {
  readonly dialect: DialectId;
  /** Whether the dialect does what the version of the node says, error or result, bit for bit. */
  readonly agrees: boolean;
  /** The result; null where there is none. Its cells that are not `decided` have the values of the exact order. */
  readonly output: Tensor | null;
  /**
   * Why there is no result, or not a whole one: the call is an `error`; the dialect lacks the operator, the reduction or
   * the data type (`missing`); the result is `undefined`; or only some cells are, by their `order`.
   */
  readonly why: "error" | "missing" | "undefined" | "order" | null;
  /** What {@link diagnose} calls the differences. */
  readonly ids: readonly DiagnosisId[];
  /** The elements of the output that certainly differ from the exact result, in row-major order. */
  readonly differing: readonly number[];
  /** Those whose value the dialect does not decide. */
  readonly undecided: readonly number[];
}

/**
 * One call as each dialect of {@link dialects} does it, by what the table knows. Where the call is an error by its
 * version, results are compared with the result without the bad indices.
 * @throws TensorError as `run`, but not for an index outside its axis
 */
export function compareDialects(
  node: NodeSpec,
  inputs: readonly unknown[],
): readonly DialectComparison[] {
  const call = callOf(nodeFrom(node));
  const given = readCall(prepare(call, tensorsOf(call, inputs)));
  return DIALECT_IDS.map((id) => compare(id, given));
}

type Given = ReturnType<typeof readCall>;

/** The place of a call in the letters of what a dialect has: `nesq`. */
const formOf = ({ operator, version: { name } }: Call): number =>
  operator.ownRules ? 3 : name.includes("ND") ? 0 : /El|^Scatter$/.test(name) ? 1 : 2;

function compare(dialect: DialectId, given: Given): DialectComparison {
  const nothing = { dialect, agrees: false, output: null, ids: [], differing: [], undecided: [] };
  const form = formOf(given.rule.call);
  const row = rowOf(dialect, form);
  const { isError } = given.facts;
  const made = hasAll(row, form, given.rule) ? resultIn(row, given) : "missing";
  if (typeof made === "string")
    return { ...nothing, why: made, agrees: made === "error" && isError };
  const { output, ids } = made;
  const open = new Set(undecided(made.rule, row, ids));
  const differing = [...differingCells(cellsOf(given.exact), cellsOf(output))].filter(
    (cell) => !open.has(cell),
  );
  return {
    dialect,
    agrees: differing.length + open.size === 0 && !isError,
    output,
    why: open.size > 0 ? "order" : null,
    ids: [...ids],
    differing,
    undecided: [...open],
  };
}

const isHalf = ({ dtype }: Tensor): boolean => DTYPES[dtype].family === "half";

function hasAll({ words, has, rest }: Row, form: number, { call, data, updates }: Rule): boolean {
  const { reduction } = call.settings;
  const types = rest.filter(isDType);
  if (has.includes("#") && !isNumericStorage(data.data)) return false;
  if (types.length > 0 && !types.includes(data.dtype)) return false;
  return updates === undefined
    ? has.includes("NES"[form])
    : has.includes("nesq"[form]) &&
        rest.includes(reduction) &&
        (reduction === "none" || words.halves !== "none" || !isHalf(data));
}

const isComparison = (reduction: string): boolean => reduction === "max" || reduction === "min";

/** The rule of a dialect, its result, and what the changes that can be seen in it are called. */
interface Made {
  readonly rule: Rule;
  readonly output: Tensor;
  readonly ids: Set<DiagnosisId>;
}

/** The rule of a call is changed as the words of a dialect say, one by one. */
function resultIn(row: Row, { rule: given, facts, exact }: Given): Made | "error" | "undefined" {
  const ids = new Set<DiagnosisId>();
  const { updates, call, data } = given;
  const { negative, sums, compares, halves, ...words } = row.words;
  const { hasNegative, hasOutside, isError } = facts;
  if (call.operator.ownRules === true)
    return isError ? "error" : { rule: given, output: exact, ids };
  const version = {
    ...call.version,
    negativeIndices: negative === "wraps",
    outOfRange: "error" as const,
  };
  let rule: Rule = { ...given, placeOf: null, call: { ...call, version }, kept: {} };
  let output = exact;
  /** Takes a change from a hypothesis. */
  const change = (id: string, nth: number, shown: readonly string[] = [id]): void => {
    const all = HYPOTHESES.filter((one) => one.id === id).flatMap((one) =>
      one.variants(rule, { ...facts, hasOutside: true }),
    );
    rule = all.at(nth)?.rule ?? rule;
    const next = resultOf(rule);
    // Of an error the result without its bad indices, which is `exact`, is no more right than any other.
    if ((isError && output === exact) || differingCells(cellsOf(output), cellsOf(next)).length > 0)
      for (const word of shown) if (idOf(word)) ids.add(idOf(word) as DiagnosisId);
    output = next;
  };
  const inside = exactOf(rule);
  if (inside !== null) output = inside;
  else {
    const word = updates === undefined ? words.gathers : words.scatters;
    if (word === "error") return word;
    if (word.startsWith("un")) return "undefined";
    change(word, 0, [hasNegative ? negative : "", hasOutside ? word : ""]);
    const isWhole = planOf(rule).offsets.length === placingOf(rule).base.length;
    if (word === "flat-offset" && !isWhole) return row.has.includes("?") ? "undefined" : "error";
  }
  const { reduction } = call.settings;
  if (updates === undefined || reduction === "none") return { rule, output, ids };
  if (sums === "updates-first") {
    change(sums, 0);
    // They are added to 0 first, and then to all of data, so that no -0 is left.
    change("signed-zero", -1);
  } else if (isComparison(reduction)) {
    const id = idOf(compares);
    if (id) change(id, (id === "signed-zero" ? 0 : 3) + (compares.endsWith("update") ? 1 : 0));
  } else if (isHalf(data)) change(halves, 0);
  return { rule, output, ids };
}

/** More updates than this are shared among threads: 500,000 raced on two, 10,000 never did. */
const MOST_IN_ORDER = 10_000;

/** The cells whose value a dialect does not decide. */
function undecided(rule: Rule, { words, has }: Row, ids: Set<DiagnosisId>): number[] {
  const { updates, data, call } = rule;
  const { reduction } = call.settings;
  if (updates === undefined || call.operator.ownRules === true) return [];
  const word = words[reduction === "none" ? "repeats" : "sums"];
  const isAny =
    /any|unk|ing|lost/.test(word) && (!has.includes(">") || updates.size > MOST_IN_ORDER);
  const isUnknown = isComparison(reduction) && words.compares === "unknown";
  if (!isAny && !isUnknown) return [];
  const at = cellUpdatesOf(rule);
  const given = cellsOf(updates);
  const [base, update] = [valuesOf(data), valuesOf(updates)];
  const isOpen = (cell: number): boolean => {
    const count = at.count(cell);
    if (count < (isUnknown ? 1 : 2)) return false;
    const elements = Array.from({ length: count }, (_, nth) => at.element(cell, nth));
    if (reduction === "none") return elements.some((p) => !given.isSameAs(given, p, elements[0]));
    const values = [base?.(cell), ...elements.map((p) => update?.(p))].map(Number);
    return isComparison(reduction)
      ? isUnknown && values.some((one) => one !== one || Object.is(one, -0))
      : word === "lost-updates" || !isExact(values, data, reduction);
  };
  const open = Array.from({ length: data.size }, (_, cell) => cell).filter(isOpen);
  if (open.length > 0)
    ids.add(
      isUnknown
        ? "nan-one-operand"
        : (idOf(word) ?? (reduction === "none" ? "any-order" : "rounding")),
    );
  return open;
}

/** Whether the steps of a sum or product give the same bits in every order: whole numbers that are small enough. */
function isExact(values: readonly number[], like: Tensor, reduction: string): boolean {
  const combine = (a: number, b: number): number =>
    reduction === "mul" ? a * Math.max(1, Math.abs(b)) : a + Math.abs(b);
  return (
    !isFloating(like) ||
    (values.every(Number.isInteger) && values.reduce(combine, 1) <= 0.5 / roundingError(like.dtype))
  );
}
