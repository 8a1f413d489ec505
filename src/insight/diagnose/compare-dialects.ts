/**
 * Runs a call in all dialects: each row of the table becomes a rule, as a hypothesis does, and the rule gives a result.
 */

import { callOf, nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare } from "../../core/call/prepare.ts";
import { DTYPES, isNumericStorage, type Reduction } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { roundingError } from "./arithmetic.ts";
import { cellUpdatesOf, valuesOf } from "./cell-values.ts";
import { cellsOf, differingCells } from "./cells.ts";
import { exactOf, readCall } from "./diagnose.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { DIALECTS, type DialectId, type DialectRecord } from "./dialect-table.ts";
import { wordsOf, type GathersWord, type ScattersWord, type Words } from "./dialect-words.ts";
import { DIALECT_IDS, idsOf } from "./dialects.ts";
import type { Facts, VariantName } from "./hypothesis.ts";
import { openOrder } from "./race.ts";
import { isFloating, placingOf, planOf, resultOf, type Rule } from "./rule.ts";
import { HYPOTHESES } from "./search.ts";

/** The result of a call in a dialect. */
export interface DialectComparison {
  readonly dialect: DialectId;
  /** True if the dialect matches the version of the node, error or result, bit for bit. */
  readonly agrees: boolean;
  /**
   * The result; null if the dialect gives none, see `why`. Its `undecided` cells have the values of the exact order.
   */
  readonly output: Tensor | null;
  /**
   * The reason for a missing or incomplete result: the call is an `error`; the dialect lacks the operator, the
   * reduction or the data type (`missing`); the result is `undefined`; or only some cells are undefined, because of
   * their `order`. Null for a complete result.
   */
  readonly why: "error" | "missing" | "undefined" | "order" | null;
  /** The ids that {@link diagnose} gives to the differences. */
  readonly ids: readonly DiagnosisId[];
  /** The elements of the output that certainly differ from the exact result, in row-major order. */
  readonly differing: readonly number[];
  /** The elements of the output whose value the dialect does not decide. */
  readonly undecided: readonly number[];
}

/**
 * Runs a call by the rules of each dialect of {@link dialects}, as recorded in the table. If the call is an error by
 * its version, results are compared with the result without the bad indices.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputs tensors in the order of the version's inputs
 * @throws TensorError as `run`, but not for an index outside its axis
 *
 * @example
 * ```ts
 * const inputs = [tensor("float32", [3], [1, 2, 3]), tensor("int64", [1, 1], [-1]), tensor("float32", [1], [9])];
 * const compared = compareDialects({ op: "ScatterND", opset: 18 }, inputs);
 * compared.find(({ dialect }) => dialect === "numpy")?.agrees; // true
 * ```
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

function compare(dialect: DialectId, given: Given): DialectComparison {
  const nothing = { dialect, agrees: false, output: null, ids: [], differing: [], undecided: [] };
  const record = DIALECTS[dialect];
  const { isError } = given.facts;
  const made = hasCall(record, given.rule) ? resultIn(record, given) : "missing";
  if (typeof made === "string")
    return { ...nothing, why: made, agrees: made === "error" && isError };
  const { output, ids } = made;
  const open = openCells(record, made.rule);
  const differing = [...differingCells(cellsOf(given.exact), cellsOf(output))].filter(
    (cell) => !open.cells.has(cell),
  );
  const hasOpen = open.cells.size > 0;
  return {
    dialect,
    agrees: differing.length === 0 && !hasOpen && !isError,
    output,
    why: hasOpen ? "order" : null,
    ids: [...new Set(hasOpen ? [...ids, open.id] : ids)],
    differing,
    undecided: [...open.cells],
  };
}

const isHalf = ({ dtype }: Tensor): boolean => DTYPES[dtype].family === "half";

const isComparison = (reduction: Reduction): boolean => reduction === "max" || reduction === "min";

/** True if a dialect has the operator, the reduction and the data type of a call. */
function hasCall(record: DialectRecord, { call, data, updates }: Rule): boolean {
  const { indexForm } = call.version;
  if (!record.hasText && !isNumericStorage(data.data)) return false;
  if (record.dtypes?.includes(data.dtype) === false) return false;
  if (updates === undefined) return record.gatherForms.includes(indexForm);
  const { reduction } = call.settings;
  if (!record.scatterForms.includes(indexForm) || !record.reductions.includes(reduction))
    return false;
  const { halves } = wordsOf(record.facts, indexForm);
  return reduction === "none" || halves !== "none" || !isHalf(data);
}

/** The rule of a dialect, its result, and the ids of the changes that are visible in the result. */
interface Made {
  readonly rule: Rule;
  readonly output: Tensor;
  readonly ids: readonly DiagnosisId[];
}

/** Changes the rule of a call by the words of a dialect: first the places of elements, then their combination. */
function resultIn(record: DialectRecord, given: Given): Made | "error" | "undefined" {
  const { rule, facts, exact } = given;
  const { version, settings } = rule.call;
  if (version.indexForm === "sequences")
    return facts.isError ? "error" : { rule, output: exact, ids: [] };
  const words = wordsOf(record.facts, version.indexForm);
  const placed = withPlaces(given, words, record.leavesTensor === true);
  if (typeof placed === "string" || rule.updates === undefined || settings.reduction === "none")
    return placed;
  if (words.sums === "updates-first") return withUpdatesFirst(placed, facts);
  if (isComparison(settings.reduction)) return withComparison(placed, facts, words.compares);
  return isHalf(rule.data) ? withHalves(placed, facts, words.halves) : placed;
}

/** The variants of hypotheses that read indices out of range, by word. */
const READINGS: Readonly<
  Record<Exclude<ScattersWord | GathersWord, "error" | "undefined">, VariantName | undefined>
> = {
  "out-of-range-dropped": undefined,
  "out-of-range-clipped": "nearest-place",
  "out-of-range-filled": "zero",
  "flat-offset": "outside",
};

/**
 * Reads indices as a dialect does. In a dialect that does not count negative indices from the end, they are out of
 * range.
 */
function withPlaces(
  { rule: given, facts, exact }: Given,
  { negative, scatters, gathers }: Words,
  leavesTensor: boolean,
): Made | "error" | "undefined" {
  const version = {
    ...given.call.version,
    negativeIndices: negative === "wraps",
    outOfRange: "error" as const,
  };
  const own: Rule = { ...given, placeOf: null, call: { ...given.call, version }, kept: {} };
  const inside = exactOf(own);
  if (inside !== null) return { rule: own, output: inside, ids: [] };
  const word = given.updates === undefined ? gathers : scatters;
  if (word === "error") return "error";
  if (word === null || word === "unknown" || word === "undefined") return "undefined";
  const rule = changed(own, { ...facts, hasOutside: true }, word, READINGS[word]);
  if (word === "flat-offset" && leavesOut(rule)) return leavesTensor ? "undefined" : "error";
  const output = resultOf(rule);
  // A call that is an error has no right result: `exact` comes from its other indices alone.
  const isSeen = facts.isError || differ(exact, output);
  const ids = [
    ...(facts.hasNegative ? idsOf(negative) : []),
    ...(facts.hasOutside ? idsOf(word) : []),
  ];
  return { rule, output, ids: isSeen ? ids : [] };
}

/** True if a rule leaves out some index, without a place even outside its axis. */
const leavesOut = (rule: Rule): boolean =>
  planOf(rule).offsets.length < placingOf(rule).base.length;

/** Combines updates with each other from 0 on, and then adds the sums to all of data, so that no -0 is left. */
function withUpdatesFirst(made: Made, facts: Facts): Made {
  const summed = followed(made, changed(made.rule, facts, "updates-first"), ["updates-first"]);
  return followed(summed, changed(summed.rule, facts, "signed-zero", "whole-output"), [
    "signed-zero",
  ]);
}

/** Compares operands as a dialect's max and min do. */
function withComparison(made: Made, facts: Facts, word: Words["compares"]): Made {
  if (word === null || typeof word === "string") return made;
  const rule = changed(made.rule, facts, word.word, `${word.stays}-stays`);
  return followed(made, rule, [word.word]);
}

/** Rounds sums of float16 and bfloat16 when a dialect does. */
const withHalves = (made: Made, facts: Facts, word: Words["halves"]): Made =>
  word === "wide-accumulation" ? followed(made, changed(made.rule, facts, word), [word]) : made;

/** A rule changed by one variant of a hypothesis; the same rule if the hypothesis does not apply to the call. */
function changed(rule: Rule, facts: Facts, id: DiagnosisId, name?: VariantName): Rule {
  const variants = HYPOTHESES.filter((one) => one.id === id).flatMap((one) =>
    one.variants(rule, facts),
  );
  return variants.find((variant) => variant.name === name)?.rule ?? rule;
}

/** The result of a changed rule; the ids count only if the change is visible. */
function followed(made: Made, rule: Rule, ids: readonly DiagnosisId[]): Made {
  const output = resultOf(rule);
  return { rule, output, ids: differ(made.output, output) ? [...made.ids, ...ids] : made.ids };
}

const differ = (a: Tensor, b: Tensor): boolean => differingCells(cellsOf(a), cellsOf(b)).length > 0;

/** The cells whose value a dialect does not decide, and the diagnosis for it. */
interface Open {
  readonly cells: ReadonlySet<number>;
  readonly id: DiagnosisId;
}

function openCells(record: DialectRecord, rule: Rule): Open {
  const { version, settings } = rule.call;
  const { reduction } = settings;
  const { compares } = wordsOf(record.facts, version.indexForm);
  const word = openOrder(record, rule);
  if (rule.updates !== undefined) {
    if (isComparison(reduction) && compares === "unknown") return openComparisons(rule);
    if (reduction === "none" && word !== null) return openRepeats(rule, rule.updates);
    if (!isComparison(reduction) && word !== null) return openSums(rule, word === "lost-updates");
  }
  return { cells: new Set(), id: "any-order" };
}

/** Any of several updates stays: cells whose updates are not the same. */
function openRepeats(rule: Rule, updates: Tensor): Open {
  const given = cellsOf(updates);
  const cells = cellsWhere(rule, 2, ([first, ...others]) =>
    others.some((element) => !given.isSameAs(given, element, first)),
  );
  return { cells, id: "any-order" };
}

/** Sums in any order: cells whose sum depends on the order, or all that have several updates if some may be lost. */
function openSums(rule: Rule, losesUpdates: boolean): Open {
  const { data, call } = rule;
  const operands = operandsOf(rule);
  const cells = cellsWhere(
    rule,
    2,
    (elements, cell) =>
      losesUpdates || !isExact(operands(cell, elements), data, call.settings.reduction),
  );
  return { cells, id: losesUpdates ? "lost-updates" : "rounding" };
}

/** A max or min of NaN, or of 0 and -0, that the table does not know. */
function openComparisons(rule: Rule): Open {
  const operands = operandsOf(rule);
  const cells = cellsWhere(rule, 1, (elements, cell) =>
    operands(cell, elements).some((value) => Number.isNaN(value) || Object.is(value, -0)),
  );
  return { cells, id: "nan-one-operand" };
}

/** Cells with at least so many updates that pass a test on the elements of those updates. */
function cellsWhere(
  rule: Rule,
  least: number,
  isOpen: (elements: readonly number[], cell: number) => boolean,
): ReadonlySet<number> {
  const at = cellUpdatesOf(rule);
  const cells = new Set<number>();
  for (let cell = 0; cell < rule.data.size; cell++) {
    const count = at.count(cell);
    if (count < least) continue;
    const elements = Array.from({ length: count }, (_, nth) => at.element(cell, nth));
    if (isOpen(elements, cell)) cells.add(cell);
  }
  return cells;
}

/** The operands in a cell: the value of data and the values of updates; NaN for values that are not numbers. */
function operandsOf({
  data,
  updates,
}: Rule): (cell: number, elements: readonly number[]) => readonly number[] {
  const base = valuesOf(data);
  const update = updates === undefined ? null : valuesOf(updates);
  return (cell, elements) => [base?.(cell), ...elements.map((p) => update?.(p))].map(Number);
}

/** True if the steps of a sum or product give the same bits in every order: small enough whole numbers do. */
function isExact(values: readonly number[], like: Tensor, reduction: Reduction): boolean {
  const combine = (a: number, b: number): number =>
    reduction === "mul" ? a * Math.max(1, Math.abs(b)) : a + Math.abs(b);
  return (
    !isFloating(like) ||
    (values.every(Number.isInteger) && values.reduce(combine, 1) <= 0.5 / roundingError(like.dtype))
  );
}
