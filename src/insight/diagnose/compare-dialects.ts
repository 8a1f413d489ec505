/** Runs a call with the rules of every dialect. Each table row becomes a rule, and the rule computes a result. */

import { callOf, nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare } from "../../core/call/check.ts";
import { rowOf, type Reduction } from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { cellsOf, differ, differingCells, isSame, roundingError, valuesOf } from "./cells.ts";
import type { DiagnosisId } from "./diagnosis.ts";
import { DIALECTS, type DialectId, type DialectRecord } from "./dialect-table.ts";
import { DIALECT_IDS, idsOf, wordsOf, type Words } from "./dialects.ts";
import {
  isComparison,
  isReduced,
  isScatter,
  isWhole,
  type Variant,
  type VariantName,
} from "./hypothesis.ts";
import { exactOf, readCall, resultOf, type ReadCall } from "./predict.ts";
import { openOrder } from "./races.ts";
import { cellUpdatesOf, isFloating, leavesOut, type Facts, type Rule } from "./rule.ts";
import { variantsOf } from "./search.ts";
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

function compare(dialect: DialectId, given: ReadCall): DialectComparison {
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

/** Returns true if a dialect supports the operator, the reduction and the data type of a call. */
function hasCall(record: DialectRecord, rule: Rule): boolean {
  const { call, data } = rule;
  const { dtype } = data;
  const { indexForm } = call.version;
  const isText = dtype === "string";
  if (isText && record.hasText !== true) return false;
  if (record.dtypes?.includes(dtype) === false || record.without?.includes(dtype) === true)
    return false;
  if (!isScatter(rule))
    return ((isText ? record.textGathers : undefined) ?? record.gatherForms).includes(indexForm);
  const { reduction, includeSelf } = call.settings;
  const isLacking = record.lacks?.some(
    ({ dtypes, reductions, forms = [indexForm], includeSelf: self = includeSelf }) =>
      dtypes.includes(dtype) &&
      reductions.includes(reduction) &&
      forms.includes(indexForm) &&
      self === includeSelf,
  );
  const isHalfSum = isReduced(rule) && !isComparison(rule) && rowOf(dtype).family === "half";
  return (
    record.scatterForms.includes(indexForm) &&
    record.reductions.includes(reduction) &&
    isLacking !== true &&
    !(isHalfSum && wordsOf(record, indexForm).halves === "none")
  );
}

/** A dialect's rule and result, with the ids of visible changes. */
interface Made {
  readonly rule: Rule;
  readonly output: Tensor;
  readonly ids: readonly DiagnosisId[];
}

/** Applies a dialect's behavior to a rule: first to element positions, then to how elements are combined. */
function resultIn(record: DialectRecord, given: ReadCall): Made | "error" | "undefined" {
  const { rule, facts, exact } = given;
  const { data, indices, updates, call } = rule;
  const { indexForm } = call.version;
  const words = wordsOf(record, indexForm, data.dtype);
  const { negative, wholes } = words;
  if (indexForm === "sequences") {
    const isRefused = facts.isError || (facts.hasNegative && negative === "error");
    return isRefused ? "error" : { rule, output: exact, ids: [] };
  }
  if (record.needsEqualAxes === true && updates === undefined && indexForm === "elements") {
    const axis = axisOf(rule);
    if (data.shape.some((dim, d) => d !== axis && dim !== indices.shape[d])) return "error";
  }
  const placed = withPlaces(given, words, record);
  if (typeof placed === "string") return placed;
  if (isWhole(rule)) {
    const isOne = call.settings.reduction === "none" && updates?.size === data.size;
    if (wholes === "error" || (wholes === "one-applied" && !isOne)) return "error";
  }
  return waysOf(rule, words).reduce((made, way) => followed(made, facts, way), placed);
}

/** A hypothesis, the name of its variant, and an id for a visible change: by default, the id of the hypothesis. */
type Way = readonly [id: DiagnosisId, name?: VariantName, seen?: DiagnosisId];

/** Returns the hypotheses that describe how a dialect combines elements. */
function waysOf(rule: Rule, words: Words): readonly Way[] {
  const { dtype } = rule.data;
  const { sums, compares, halves } = words;
  const strings = dtype === "string" ? words.strings : null;
  const ways = [words.wholes, strings, words.types, words.means]
    .flatMap(idsOf)
    .map((id): Way => [id]);
  if (!isReduced(rule)) return ways;
  // The updates are summed, starting at 0, and the sums are added to all elements of data, which converts every -0 to
  // 0.
  if (sums === "updates-first")
    return [...ways, ["updates-first"], ["signed-zero", "whole-output"]];
  if (!isComparison(rule)) {
    const rounded = rowOf(dtype).family === "half" ? idsOf(halves) : [];
    return [...ways, ...rounded.map((id): Way => [id])];
  }
  if (compares === null || compares === "unknown") return ways;
  const [id = "nan-one-operand"] = idsOf(compares);
  const name =
    compares === "exact" ? "ieee" : compares.endsWith("data") ? "data-stays" : "update-stays";
  // A version that returns one operand unchanged differs from the other rules for both NaN and zeros.
  const seen = rule.call.settings.stays === undefined ? id : "nan-one-operand";
  return [...ways, [id, name, seen]];
}

/**
 * Changes a rule to interpret indices like a dialect. If a dialect does not count negative indices from the end, these
 * indices are out of range.
 */
function withPlaces(
  { rule: given, facts, exact }: ReadCall,
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
  const rule = changed(own, { ...facts, hasOutside: true }, word);
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

/** Applies the first or the named variant of a hypothesis. Returns the same rule if the variant does not apply. */
function changed(rule: Rule, facts: Facts, id: DiagnosisId, name?: VariantName): Rule {
  const isWanted = (one: Variant): boolean => one.id === id && (name ?? one.name) === one.name;
  return variantsOf(rule, facts).find(isWanted)?.rule ?? rule;
}

/** Changes a rule and its result. The id is added only if the result shows the change. */
function followed(made: Made, facts: Facts, [id, name, seen = id]: Way): Made {
  const rule = changed(made.rule, facts, id, name);
  if (rule === made.rule) return made;
  const output = resultOf(rule);
  return { rule, output, ids: differ(made.output, output) ? [...made.ids, seen] : made.ids };
}

/**
 * Finds the undecided cells. Without a reduction, these are cells with different updates. A sum is undecided if its
 * value depends on the order, or if updates may be lost. A comparison is undecided for NaN and -0 if the table does not
 * specify the behavior. The id is the diagnosis for these cells.
 */
function openCells(
  record: DialectRecord,
  rule: Rule,
): { readonly cells: ReadonlySet<number>; readonly id: DiagnosisId } {
  const { data, updates, call } = rule;
  const { reduction } = call.settings;
  const compares = isComparison(rule);
  const word = compares
    ? wordsOf(record, call.version.indexForm).compares
    : openOrder(record, rule);
  const cells = new Set<number>();
  if (updates === undefined || (compares ? word !== "unknown" : word === null))
    return { cells, id: "any-order" };
  const given = cellsOf(updates);
  const [base, update] = [valuesOf(data), valuesOf(updates)];
  const isOpen = (cell: number, elements: readonly number[]): boolean => {
    if (!compares && elements.length < 2) return false;
    if (reduction === "none")
      return elements.some((element) => !isSame(given, given, element, elements[0]));
    // Values that are not numbers become NaN.
    const operands = [base?.(cell), ...elements.map((p) => update?.(p))].map(Number);
    return compares
      ? operands.some((value) => Number.isNaN(value) || Object.is(value, -0))
      : word === "lost-updates" || !isExact(operands, data, reduction);
  };
  const at = cellUpdatesOf(rule);
  for (let cell = 0; cell < data.size; cell++) {
    const elements = Array.from({ length: at.count(cell) }, (_, nth) => at.element(cell, nth));
    if (elements.length > 0 && isOpen(cell, elements)) cells.add(cell);
  }
  const id = word === "lost-updates" ? word : reduction === "none" ? "any-order" : "rounding";
  return { cells, id: compares ? "nan-one-operand" : id };
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
