/** Runs a call with the rules of every dialect. Each table row becomes a rule, and the rule computes a result. */

import { callOf, nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare } from "../../core/call/check.ts";
import { DTYPES, isNumericStorage, type Reduction } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { roundingError } from "./arithmetic.ts";
import { cellsOf, cellUpdatesOf, differ, differingCells, isSame, valuesOf } from "./cells.ts";
import { exactOf, readCall } from "./diagnose.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { DIALECTS, type DialectId, type DialectRecord } from "./dialect-table.ts";
import { DIALECT_IDS, idsOf, wordsOf, type Words } from "./dialects.ts";
import { isComparison, isWhole, type VariantName } from "./hypothesis.ts";
import { resultOf } from "./predict.ts";
import { openOrder } from "./races.ts";
import { isFloating, leavesOut, type Facts, type Rule } from "./rule.ts";
import { HYPOTHESES } from "./search.ts";
import { axisOf } from "./call-hypotheses.ts";

/** The result of a call under one dialect's rules. */
export interface DialectComparison {
  readonly dialect: DialectId;
  /** True if the dialect's outcome equals that of the operator version: an error, or the same result bit for bit. */
  readonly agrees: boolean;
  /**
   * The dialect's result; null if the dialect produces no result for the reason in `why`. Cells listed in `undecided`
   * contain the values for the exact update order.
   */
  readonly output: Tensor | null;
  /**
   * Why the result is missing or incomplete. With `error`, the call is an error. With `missing`, the dialect does not
   * support the operator, the reduction or the data type. With `undefined`, the result is undefined. With `order`, some
   * cells depend on the update order. The value is null for a complete result.
   */
  readonly why: "error" | "missing" | "undefined" | "order" | null;
  /** The ids of the differences, as returned by `diagnose`. */
  readonly ids: readonly DiagnosisId[];
  /** Row-major positions of output elements that definitely differ from the exact result. */
  readonly differing: readonly number[];
  /** Row-major positions of output elements whose values the dialect does not define. */
  readonly undecided: readonly number[];
}

/**
 * Runs a call under the rules of each dialect from `dialects()`. If the call is an error in its operator version,
 * results are compared with the result for valid indices only.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputs tensors in the order of the version's inputs
 * @throws TensorError like `run`, except for an index outside its axis
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

/** Returns true if a dialect supports the operator, the reduction and the data type of a call. */
function hasCall(record: DialectRecord, { call, data, updates }: Rule): boolean {
  const { indexForm } = call.version;
  if (record.hasText !== true && !isNumericStorage(data.data)) return false;
  if (record.dtypes?.includes(data.dtype) === false) return false;
  if (record.without?.includes(data.dtype) === true) return false;
  if (updates === undefined) {
    const forms = isNumericStorage(data.data) ? undefined : record.textGathers;
    return (forms ?? record.gatherForms).includes(indexForm);
  }
  const { reduction, includeSelf } = call.settings;
  if (!record.scatterForms.includes(indexForm) || !record.reductions.includes(reduction))
    return false;
  const isLacking = record.lacks?.some(
    ({ dtypes, reductions, forms = [indexForm], includeSelf: self = includeSelf }) =>
      dtypes.includes(data.dtype) &&
      reductions.includes(reduction) &&
      forms.includes(indexForm) &&
      self === includeSelf,
  );
  if (isLacking === true) return false;
  const { halves } = wordsOf(record, indexForm);
  return (
    reduction === "none" || /^(max|min)$/.test(reduction) || halves !== "none" || !isHalf(data)
  );
}

/** A dialect's rule and result, with the ids of visible changes. */
interface Made {
  readonly rule: Rule;
  readonly output: Tensor;
  readonly ids: readonly DiagnosisId[];
}

/** Applies a dialect's behavior to a rule: first to element positions, then to how elements are combined. */
function resultIn(record: DialectRecord, given: Given): Made | "error" | "undefined" {
  const { rule, facts, exact } = given;
  const { version, settings } = rule.call;
  const words = wordsOf(record, version.indexForm, rule.data.dtype);
  if (version.indexForm === "sequences") {
    const isRefused = facts.isError || (facts.hasNegative && words.negative === "error");
    return isRefused ? "error" : { rule, output: exact, ids: [] };
  }
  if (record.needsEqualAxes === true && isAcross(rule)) return "error";
  const placed = withPlaces(given, words, record);
  if (typeof placed === "string") return placed;
  const wholes = isWhole(rule) ? words.wholes : null;
  if (wholes === "error" || (wholes === "one-applied" && !isSingle(rule))) return "error";
  const made = withOwnWays(placed, facts, { ...words, wholes });
  if (rule.updates === undefined || settings.reduction === "none") return made;
  if (words.sums === "updates-first") return withUpdatesFirst(made, facts);
  if (isComparison(rule)) return withComparison(made, facts, words.compares);
  return isHalf(rule.data) ? withHalves(made, facts, words.halves) : made;
}

/** Returns true for a scatter without a reduction if the updates are a single slice with data's size. */
const isSingle = ({ data, updates, call }: Rule): boolean =>
  call.settings.reduction === "none" && updates?.size === data.size;

/**
 * Returns true for a gather with one index per element if data and indices differ in size on an axis other than the
 * gather axis.
 */
const isAcross = (rule: Rule): boolean => {
  const { call, data, indices, updates } = rule;
  if (updates !== undefined || call.version.indexForm !== "elements") return false;
  const axis = axisOf(rule);
  return data.shape.some((dim, d) => d !== axis && dim !== indices.shape[d]);
};

/** Applies behavior words that are fault ids with a single variant, if they are relevant to the call. */
function withOwnWays(made: Made, facts: Facts, { types, means, wholes, strings }: Words): Made {
  const { data, updates, call } = made.rule;
  const words = [
    wholes,
    updates === undefined && data.dtype === "string" ? strings : null,
    types,
    call.settings.reduction === "mean" ? means : null,
  ];
  let result = made;
  for (const word of words.flatMap(idsOf))
    result = followed(result, changed(result.rule, facts, word), [word]);
  return result;
}

/** Hypothesis variants for out-of-range indices, by word. */
const READINGS: Readonly<
  Record<
    Exclude<NonNullable<Words["scatters" | "gathers"]>, "error" | "undefined" | "unknown">,
    VariantName | undefined
  >
> = {
  "out-of-range-dropped": undefined,
  "out-of-range-clipped": "nearest-place",
  "out-of-range-filled": "zero",
  "flat-offset": "outside",
};

/**
 * Changes a rule to interpret indices like a dialect. If a dialect does not count negative indices from the end, these
 * indices are out of range.
 */
function withPlaces(
  { rule: given, facts, exact }: Given,
  { negative, scatters, gathers }: Words,
  record: DialectRecord,
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
  if (word === "out-of-range-filled" && record.leavesVector === true && own.data.shape.length === 1)
    return "undefined";
  const rule = changed(own, { ...facts, hasOutside: true }, word, READINGS[word]);
  if (word === "flat-offset" && leavesOut(rule))
    return record.leavesTensor === true ? "undefined" : "error";
  const output = resultOf(rule);
  // An invalid call has no correct result, so `exact` is computed only from its valid indices.
  const isSeen = facts.isError || differ(exact, output);
  const ids = [
    ...(facts.hasNegative ? idsOf(negative) : []),
    ...(facts.hasOutside ? idsOf(word) : []),
  ];
  return { rule, output, ids: isSeen ? ids : [] };
}

/** Sums updates, starting at 0, and then adds the sums to all elements of data, which converts every -0 to 0. */
function withUpdatesFirst(made: Made, facts: Facts): Made {
  const summed = followed(made, changed(made.rule, facts, "updates-first"), ["updates-first"]);
  return followed(summed, changed(summed.rule, facts, "signed-zero", "whole-output"), [
    "signed-zero",
  ]);
}

/** Compares operands like the dialect's max and min. */
function withComparison(made: Made, facts: Facts, word: Words["compares"]): Made {
  if (word === null || word === "unknown") return made;
  const [id = "nan-one-operand"] = idsOf(word);
  const name = word === "exact" ? "ieee" : word.endsWith("data") ? "data-stays" : "update-stays";
  // A version that returns one operand unchanged differs from the other rules for both NaN and zeros.
  const { stays } = made.rule.call.settings;
  const seen = stays === undefined ? id : "nan-one-operand";
  return followed(made, changed(made.rule, facts, id, name), [seen]);
}

/** Rounds float16 and bfloat16 sums like the dialect. */
const withHalves = (made: Made, facts: Facts, word: Words["halves"]): Made =>
  word === "wide-accumulation" || word === "wrong-rounding"
    ? followed(made, changed(made.rule, facts, word), [word])
    : made;

/**
 * Applies one variant of a hypothesis to a rule. If the hypothesis does not apply to the call, the rule does not
 * change.
 */
function changed(rule: Rule, facts: Facts, id: DiagnosisId, name?: VariantName): Rule {
  const variants = HYPOTHESES.filter((one) => one.id === id).flatMap((one) =>
    one.variants(rule, facts),
  );
  return variants.find((variant) => variant.name === name)?.rule ?? rule;
}

/** Computes the result of a changed rule. The ids are added only if the result shows the change. */
function followed(made: Made, rule: Rule, ids: readonly DiagnosisId[]): Made {
  const output = resultOf(rule);
  return { rule, output, ids: differ(made.output, output) ? [...made.ids, ...ids] : made.ids };
}

/** Cells whose values a dialect does not define, and the diagnosis for these cells. */
interface Open {
  readonly cells: ReadonlySet<number>;
  readonly id: DiagnosisId;
}

function openCells(record: DialectRecord, rule: Rule): Open {
  const { version, settings } = rule.call;
  const { reduction } = settings;
  const { compares } = wordsOf(record, version.indexForm);
  const word = openOrder(record, rule);
  if (rule.updates !== undefined) {
    if (isComparison(rule) && compares === "unknown") return openComparisons(rule);
    if (reduction === "none" && word !== null) return openRepeats(rule, rule.updates);
    if (!isComparison(rule) && word !== null) return openSums(rule, word === "lost-updates");
  }
  return { cells: new Set(), id: "any-order" };
}

/** Finds the undecided cells if any one of several updates may win, which are the cells with different updates. */
function openRepeats(rule: Rule, updates: Tensor): Open {
  const given = cellsOf(updates);
  const cells = cellsWhere(rule, 2, ([first, ...others]) =>
    others.some((element) => !isSame(given, given, element, first)),
  );
  return { cells, id: "any-order" };
}

/**
 * Finds the undecided cells if updates may be combined in any order. If updates may be lost, every cell with several
 * updates is undecided. Otherwise, a cell is undecided if its sum depends on the order.
 */
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

/** Finds the undecided cells for a max or min of NaN, or of 0 and -0, if the table does not specify the behavior. */
function openComparisons(rule: Rule): Open {
  const operands = operandsOf(rule);
  const cells = cellsWhere(rule, 1, (elements, cell) =>
    operands(cell, elements).some((value) => Number.isNaN(value) || Object.is(value, -0)),
  );
  return { cells, id: "nan-one-operand" };
}

/** Returns the cells that have a minimum number of updates and whose elements pass a test. */
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

/**
 * Returns a function that reads a cell's operands: the data value and the update values. Non-numeric values become NaN.
 */
function operandsOf({
  data,
  updates,
}: Rule): (cell: number, elements: readonly number[]) => readonly number[] {
  const base = valuesOf(data);
  const update = updates === undefined ? null : valuesOf(updates);
  return (cell, elements) => [base?.(cell), ...elements.map((p) => update?.(p))].map(Number);
}

/** Returns true if a sum or product has the same bits in every order, for example for small integers. */
function isExact(values: readonly number[], like: Tensor, reduction: Reduction): boolean {
  const combine = (a: number, b: number): number =>
    reduction === "mul" ? a * Math.max(1, Math.abs(b)) : a + Math.abs(b);
  return (
    !isFloating(like) ||
    (values.every(Number.isInteger) && values.reduce(combine, 1) <= 0.5 / roundingError(like.dtype))
  );
}
