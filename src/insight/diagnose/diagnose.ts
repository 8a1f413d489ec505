/**
 * Explains a wrong result: finds the known faults of runtimes that give exactly the wrong cells. Each hypothesis is a
 * change to the rule of the call; its result is compared with the runtime's result.
 */

import { nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare, type PreparedCall } from "../../core/call/prepare.ts";
import { checkLike } from "../../core/call/out.ts";
import { isTensorError, printValue, TensorError, type ErrorFields } from "../../core/errors.ts";
import type { Reduction } from "../../core/tensor/dtype.ts";
import { sameShape } from "../../core/tensor/shape.ts";
import { optionsOf } from "../../core/tensor/options.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { cellsOf, differingCells } from "./cells.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { DIALECT_IDS, dialectsWith, type DialectId } from "./dialects.ts";
import { droppingOutside, factsOf, type Facts } from "./hypothesis.ts";
import { predict, resultOf, type Rule } from "./rule.ts";
import { searchShape } from "./other-shape.ts";
import { search, type Case, type Found } from "./search.ts";
import { PLACES } from "./places.ts";
import { callWithout, reductionsThatGive, withReduction } from "./unknown-reduction.ts";

/** What is known about the runtime besides its result. */
export interface DiagnoseOptions {
  /**
   * The id of the runtime that gave `actual`, a row of {@link dialects}. Faults that this runtime is known to have come
   * first.
   */
  readonly dialect?: DialectId | undefined;
  /**
   * True if other runs of the call have shown a race: the result changes from run to run, or is exact with one thread.
   * A race then explains every possible value, however unlikely. If false, the races of `dialect` are not considered.
   */
  readonly isRace?: boolean | undefined;
}

/**
 * Explains the difference between the exact result of a node and `actual`, a result of any origin, such as another
 * runtime. An explanation is listed only if its fault gives the values that differ; explanations of all these values
 * that change no right cell come first. Faults with the same result on this call are all listed, because the cells
 * cannot distinguish them. If no single fault explains all cells, pairs are tried; if no pair does either, the list may
 * hold partial explanations of at least half of the cells. The list of faults is `DIAGNOSES`.
 *
 * The list is empty if no known fault explains the cells, or if no cell differs; `firstDifference` of `run` and
 * `actual` distinguishes the two. Every NaN counts as the same.
 *
 * A call that is an error because an index lies outside its axis is diagnosed too. The specification gives no value to
 * the cells that such an index affects, so every cell that some reading of the index changes counts as differing. A
 * call whose only fault is its reduction is diagnosed as well: the list holds the reductions that give `actual`, with
 * the cells that they change.
 *
 * The result of a gather may have another shape than the node gives. Such a result is explained if another axis,
 * operator or batch_dims gives this shape and every element; otherwise the shape is an error.
 *
 * The value of a cell with thousands of updates cannot show by itself that there was a race, because nearly any value
 * is possible. If `isRace` is true, or `dialect` is known to race in such calls, a race therefore explains every cell
 * whose value is possible.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputs tensors in the order of the version's inputs; `undefined` for an optional input that is left out
 * @param actual of the data type and shape of the node's output, or of a shape that another axis of a gather gives
 * @param options what else is known about the runtime
 * @throws TensorError as `run`, except for an index outside its axis and for a reduction that the version lacks; also
 *   `dtype` and `shape-mismatch` for `actual`
 *
 * @example
 * ```ts
 * const inputs = [tensor("float32", [3], [1, 2, 3]), tensor("int64", [1, 1], [-1]), tensor("float32", [1], [9])];
 * const found = diagnose({ op: "ScatterND", opset: 18 }, inputs, tensor("float32", [3], [1, 2, 3]));
 * found.some(({ sentence }) => sentence === "updates with a negative index were left out"); // true
 * ```
 */
export function diagnose(
  node: NodeSpec,
  inputs: readonly unknown[],
  actual: unknown,
  options: DiagnoseOptions = {},
): readonly Diagnosis[] {
  const { call, word } = callWithout(nodeFrom(node));
  const own = diagnoseOptions(options, call.fields);
  const prepared = prepare(call, tensorsOf(call, inputs));
  const given = asTensor(actual, call.fields, "actual");
  const reshaped = word === null ? reshapedOf(prepared, given) : [];
  if (reshaped.length > 0) return reshaped.map(named);
  checkLike(given, prepared.data.dtype, prepared.shape, "actual", call.fields);
  if (given.size === 0) return [];
  const found =
    word === null
      ? search({ ...caseOf(prepared, given), ...own })
      : reductionsThatGive(given, prepared.data, word, (reduction) =>
          resultWith(reduction, prepared),
        );
  return found.map(named);
}

const named = (one: Found): Diagnosis => ({ ...one, dialects: dialectsWith(one.id) });

/** The explanations of another shape; none if the shape is that of the call. */
const reshapedOf = (prepared: PreparedCall, given: Tensor): readonly Found[] =>
  given.dtype !== prepared.data.dtype || sameShape(given.shape, prepared.shape)
    ? []
    : searchShape(readCall(prepared).rule, given);

/**
 * The result with another reduction; null if the data type of data lacks the reduction, or an index lies outside its axis.
 */
function resultWith(reduction: Reduction, { call, tensors }: PreparedCall): Tensor | null {
  try {
    const { facts, exact } = readCall(prepare(withReduction(call, reduction), tensors));
    return facts.isError ? null : exact;
  } catch (error) {
    if (isTensorError(error)) return null;
    throw error;
  }
}

/** @throws TensorError `attribute` for an unknown option or dialect */
export function diagnoseOptions(
  options: unknown,
  fields: ErrorFields,
): { readonly dialect: DialectId | null; readonly isRace: boolean | null } {
  const { dialect, isRace } = optionsOf(options, ["dialect", "isRace"], fields);
  const found = DIALECT_IDS.find((id) => id === dialect) ?? null;
  if (dialect !== undefined && found === null) {
    const sentence = `dialect must be one of ${DIALECT_IDS.join(", ")}, got ${printValue(dialect)}`;
    throw new TensorError("attribute", sentence, fields);
  }
  if (isRace !== undefined && typeof isRace !== "boolean") {
    const sentence = `isRace must be true or false, got ${printValue(isRace)}`;
    throw new TensorError("attribute", sentence, fields);
  }
  return { dialect: found, isRace: isRace ?? null };
}

function caseOf(prepared: PreparedCall, actual: Tensor): Omit<Case, "dialect" | "isRace"> {
  const { rule, facts, exact } = readCall(prepared);
  const found = cellsOf(actual);
  const differing = differingCells(cellsOf(exact), found);
  if (!facts.isError) return { rule, facts, actual, found, differing };
  return { rule, facts, actual, found, differing: undecidedCells(rule, facts, differing) };
}

/** A call as a rule. If the call is an error, `exact` is the result without its bad indices. */
export function readCall({ call, data, updates, planInputs, shape }: PreparedCall): {
  readonly rule: Rule;
  readonly facts: Facts;
  readonly exact: Tensor;
} {
  const { indices } = planInputs;
  const own: Rule = {
    ...{ call, data, indices, updates, shape },
    placeOf: null,
    refusal: "none",
    fill: "zero",
    stays: "last",
    updatesFirst: false,
    arithmetic: null,
    rewrite: null,
    placings: new WeakMap(),
    kept: {},
  };
  const exact = exactOf(own);
  const isError = exact === null;
  const rule = isError ? { ...own, placeOf: droppingOutside(own), kept: {} } : own;
  return { rule, facts: factsOf(rule, isError), exact: exact ?? resultOf(rule) };
}

/** The result of a rule; null if an index lies outside its axis. */
export function exactOf(rule: Rule): Tensor | null {
  try {
    return resultOf(rule);
  } catch (error) {
    if (isTensorError(error, "index-out-of-range")) return null;
    throw error;
  }
}

/** The cells that differ, and those that any reading of indices outside their axes changes. */
function undecidedCells(rule: Rule, facts: Case["facts"], differing: Uint32Array): Uint32Array {
  const base = cellsOf(resultOf(rule));
  const marks = new Uint8Array(base.count);
  for (const cell of differing) marks[cell] = 1;
  for (const hypothesis of PLACES) {
    for (const variant of hypothesis.variants(rule, facts)) {
      const predicted = predict(variant.rule);
      if (predicted === null) continue;
      for (const cell of differingCells(base, cellsOf(predicted))) marks[cell] = 1;
    }
  }
  return Uint32Array.from(marks.keys()).filter((cell) => marks[cell] === 1);
}
