/** One call in all dialects: each row of the table becomes a rule, as a hypothesis does, and the rule a result. */

import { callOf, nodeFrom, type Call, type NodeSpec } from "../call/call.ts";
import { tensorsOf } from "../call/inputs.ts";
import { prepare } from "../call/prepare.ts";
import { DTYPES, isDType } from "../tensor/dtype.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { roundingError } from "./arithmetic.ts";
import { cellUpdatesOf, valuesOf } from "./cell-values.ts";
import { cellsOf, differingCells } from "./cells.ts";
import { exactOf, readCall } from "./diagnose.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { COMPARISONS, DIALECT_IDS, idOf, rowOf, type DialectId, type Row } from "./dialects.ts";
import type { Facts } from "./hypothesis.ts";
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
 * @throws TensorError as `run`, but not for an index outside its axis, except for TensorScatter
 */
export function compareDialects(
  node: NodeSpec,
  inputs: readonly unknown[],
): readonly DialectComparison[] {
  const call = callOf(nodeFrom(node));
  const given = readCall(prepare(call, tensorsOf(call, inputs)));
  return DIALECT_IDS.map((id) => compare(id, given));
}

/** The place of a call in the letters of what a dialect has: `nesq`. */
const formOf = ({ operator, version: { name } }: Call): number =>
  operator.ownRules ? 3 : name.includes("ND") ? 0 : /El|^Scatter$/.test(name) ? 1 : 2;

function compare(
  dialect: DialectId,
  { rule, facts, exact }: ReturnType<typeof readCall>,
): DialectComparison {
  const nothing = { dialect, agrees: false, output: null, ids: [], differing: [], undecided: [] };
  const form = formOf(rule.call);
  const row = rowOf(dialect, form);
  if (!hasAll(row, form, rule)) return { ...nothing, why: "missing" };
  const steps = stepsOf(row, rule, facts);
  if (typeof steps === "string")
    return { ...nothing, why: steps, agrees: steps === "error" && facts.isError };
  const ids = new Set<DiagnosisId | null>();
  let output = exact;
  for (const step of steps) {
    // Of an error the result without its bad indices is no more right than any other.
    const isPart = facts.isError && step === steps[0];
    if (isPart || differingCells(cellsOf(output), cellsOf(step.output)).length > 0)
      for (const id of step.ids) ids.add(id);
    output = step.output;
  }
  const open = undecided(steps[steps.length - 1].rule, row);
  const { reduction } = rule.call.settings;
  if (open.length > 0)
    ids.add(
      isComparison(reduction)
        ? "nan-one-operand"
        : idOf(row, reduction === "none" ? "repeats" : "sums"),
    );
  const left = new Set(open);
  const differing = [...differingCells(cellsOf(exact), cellsOf(output))].filter(
    (cell) => !left.has(cell),
  );
  return {
    dialect,
    agrees: differing.length === 0 && open.length === 0 && !facts.isError,
    output,
    why: open.length === 0 ? null : "order",
    ids: [...ids].filter((id) => id !== null),
    differing,
    undecided: open,
  };
}

function hasAll({ words, has, rest }: Row, form: number, { call, data, updates }: Rule): boolean {
  const { reduction } = call.settings;
  const { dtype } = data;
  const isScatter = updates !== undefined;
  const types = rest.filter(isDType);
  return (
    has.includes((isScatter ? "nesq" : "NES")[form]) &&
    (!isScatter || rest.includes(reduction)) &&
    !(reduction !== "none" && words.halves === "none" && DTYPES[dtype].family === "half") &&
    !(has.includes("#") && dtype === "string") &&
    (types.length === 0 || types.includes(dtype))
  );
}

const isComparison = (reduction: string): boolean => reduction === "max" || reduction === "min";

/** A change to the rule, and what a result that shows it is called. */
interface Step {
  readonly rule: Rule;
  readonly output: Tensor;
  readonly ids: readonly (DiagnosisId | null)[];
}

/** The rule of a dialect, change by change; or how the call ends. */
function stepsOf(row: Row, given: Rule, facts: Facts): readonly Step[] | "error" | "undefined" {
  const { updates, call, data } = given;
  if (call.operator.ownRules === true) return [{ rule: given, output: resultOf(given), ids: [] }];
  const { negative, sums, compares, halves, ...words } = row.words;
  const { hasNegative, hasOutside } = facts;
  if (hasNegative && negative === "unknown") return "undefined";
  const version = {
    ...call.version,
    negativeIndices: negative === "wraps",
    outOfRange: "error" as const,
  };
  let rule: Rule = { ...given, placeOf: null, call: { ...call, version } };
  const steps: Step[] = [];
  /** Takes a change from a hypothesis. */
  const change = (id: string, nth: number, ids: Step["ids"] = [id as DiagnosisId]): void => {
    const all = HYPOTHESES.filter((one) => one.id === id).flatMap((one) =>
      one.variants(rule, { ...facts, hasOutside: true }),
    );
    rule = all.at(nth)?.rule ?? rule;
    steps.push({ rule, output: resultOf(rule), ids });
  };
  const output = exactOf(rule);
  if (output !== null) steps.push({ rule, output, ids: [] });
  else {
    const aspect = updates === undefined ? "gathers" : "scatters";
    const word = words[aspect];
    if (word === "error") return word;
    if (word === "unknown") return "undefined";
    change(word, 0, [
      hasNegative ? idOf(row, "negative") : null,
      hasOutside ? idOf(row, aspect) : null,
    ]);
    const isWhole = planOf(rule).offsets.length === placingOf(rule).base.length;
    if (word === "flat-offset" && !isWhole) return row.has.includes("?") ? "undefined" : "error";
  }
  const { reduction } = call.settings;
  if (updates === undefined || reduction === "none") return steps;
  if (sums === "updates-first") {
    change(sums, 0);
    // They are added to 0 first, and then to all of data, so that no -0 is left.
    change("signed-zero", -1);
  } else if (isComparison(reduction)) {
    if (compares in COMPARISONS) change(...COMPARISONS[compares]);
  } else if (halves === "wide-accumulation" && DTYPES[data.dtype].family === "half") {
    change(halves, 0);
  }
  return steps;
}

/** More updates than this are shared among threads: 500,000 raced on two, 10,000 never did. */
const MOST_IN_ORDER = 10_000;

/** The cells whose value a dialect does not decide. */
function undecided(rule: Rule, { words, has }: Row): number[] {
  const { updates, data, call } = rule;
  const { reduction } = call.settings;
  if (updates === undefined || call.operator.ownRules === true) return [];
  const word = words[reduction === "none" ? "repeats" : "sums"];
  const isAny = /any|ing|lost/.test(word) && (!has.includes(">") || updates.size > MOST_IN_ORDER);
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
  return Array.from({ length: data.size }, (_, cell) => cell).filter(isOpen);
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
