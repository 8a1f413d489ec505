/**
 * Explains a wrong result by finding known faults of runtimes that produce exactly the wrong cells. Each hypothesis
 * changes the rule of the call, and the result is compared with the runtime's result.
 */

import { MEANT_OPTIONS, nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare, type PreparedCall } from "../../core/call/prepare.ts";
import { checkLike } from "../../core/call/out.ts";
import { isTensorError, oneOf, wrongOption, type ErrorContext } from "../../core/errors.ts";
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

/** The known facts about the runtime, in addition to its result. */
export interface DiagnoseOptions {
  /**
   * The id of the runtime that produced `actual`, from {@link dialects}. Known faults of this runtime are listed first.
   */
  readonly dialect?: DialectId | undefined;
  /**
   * True if other runs of the call have shown a race, because the result changes between runs, or is exact with one
   * thread. A race then explains every possible value, even an unlikely value. If false, the races of `dialect` are not
   * considered.
   */
  readonly isRace?: boolean | undefined;
}

/**
 * Explains the difference between the exact result of a node and `actual`, a result of any origin, such as another
 * runtime. An explanation is listed only if its fault produces the values that differ. Explanations that produce all
 * these values and change no correct cell come first. Faults with the same result for this call are all listed, because
 * the cells cannot distinguish them. If no single fault explains all cells, pairs of faults are tried; if no pair
 * explains all cells, the list may have partial explanations of at least half of the cells. `DIAGNOSES` lists all
 * faults.
 *
 * The list is empty if no known fault explains the cells, or if no cell differs; comparing the result of `run` with
 * `actual` in `firstDifference` distinguishes the two cases. All NaNs count as equal.
 *
 * A call that is an error because an index lies outside its axis is also diagnosed. The specification does not define
 * the cells that such an index affects, so every cell counts as differing if some interpretation of the index changes
 * it. A call whose only fault is its reduction is also diagnosed: the list has the reductions that produce `actual`,
 * with the cells that they change.
 *
 * The result of a gather may have a different shape from the node's output. A result with a different shape is
 * explained if another axis, operator or batch_dims produces this shape and every element; otherwise, the shape is an
 * error.
 *
 * The value of a cell with thousands of updates is not sufficient evidence of a race, because nearly any value is
 * possible. Therefore, if `isRace` is true, or `dialect` is known to race in such calls, a race explains every cell
 * whose value is possible.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputs tensors in the order of the version's inputs; `undefined` for an omitted optional input
 * @param actual the runtime's result, with the data type and shape of the node's output, or with a shape that another
 *   axis of a gather produces
 * @param options known facts about the runtime
 * @throws TensorError like `run`, except for an index outside its axis and a reduction that the version does not have;
 *   also `dtype` and `shape-mismatch` for `actual`
 *
 * @example
 * ```ts
 * const inputs = [tensor("float32", [3], [1, 2, 3]), tensor("int64", [1, 1], [-1]), tensor("float32", [1], [9])];
 * const found = diagnose({ op: "ScatterND", opset: 18 }, inputs, tensor("float32", [3], [1, 2, 3]));
 * found.some(({ sentence }) => sentence === "updates with a negative index were skipped"); // true
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

/** Returns explanations for a different shape; none if the shape is that of the call's result. */
const reshapedOf = (prepared: PreparedCall, given: Tensor): readonly Found[] =>
  given.dtype !== prepared.data.dtype || sameShape(given.shape, prepared.shape)
    ? []
    : searchShape(readCall(prepared).rule, given);

/**
 * Computes the result with another reduction; returns null if the data type of data does not support the reduction, or
 * an index lies outside its axis.
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
  fields: ErrorContext,
): { readonly dialect: DialectId | null; readonly isRace: boolean | null } {
  const { dialect, isRace } = optionsOf(
    options,
    ["dialect", "isRace"],
    fields,
    "options",
    MEANT_OPTIONS,
  );
  const found = DIALECT_IDS.find((id) => id === dialect) ?? null;
  if (dialect !== undefined && found === null) {
    throw wrongOption("dialect", oneOf(DIALECT_IDS), dialect, { ...fields, allowed: DIALECT_IDS });
  }
  if (isRace !== undefined && typeof isRace !== "boolean") {
    throw wrongOption("isRace", "true or false", isRace, fields);
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

/** Converts a call to a rule. If the call is an error, `exact` is the result without the bad indices. */
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
    computedIn: null,
    truncates: false,
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

/** Computes the result of a rule; returns null if an index lies outside its axis. */
export function exactOf(rule: Rule): Tensor | null {
  try {
    return resultOf(rule);
  } catch (error) {
    if (isTensorError(error, "index-out-of-range")) return null;
    throw error;
  }
}

/** Returns the cells that differ, and the cells that any interpretation of indices outside their axes changes. */
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
