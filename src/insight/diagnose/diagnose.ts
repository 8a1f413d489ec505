/**
 * Explains a wrong result by finding known runtime faults that produce exactly the wrong values. Each hypothesis
 * changes the rule of the call, and the predicted result is compared with the runtime's result.
 */

import { MEANT_OPTIONS, nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare, type PreparedCall } from "../../core/call/check.ts";
import { checkLike } from "../../core/call/inputs.ts";
import { isTensorError, oneOf, type ErrorContext } from "../../core/errors.ts";
import { wrongOption, optionsOf } from "../../core/foreign.ts";
import type { Reduction } from "../../core/tensor/dtype.ts";
import { sameShape } from "../../core/tensor/shape.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { cellsOf, differingCells } from "./cells.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { DIALECT_IDS, dialectsWith, type DialectId } from "./dialects.ts";
import { PLACES } from "./index-hypotheses.ts";
import { predict, resultOf } from "./predict.ts";
import { droppingOutside, factsOf, type Facts, type Rule } from "./rule.ts";
import { searchShape } from "./other-shape.ts";
import { search, type Case, type Found } from "./search.ts";
import { callWithout, reductionsThatGive, withReduction } from "./unknown-reduction.ts";

/** Known facts about the runtime that produced a result. */
export interface DiagnoseOptions {
  /**
   * The id of the runtime that produced `actual`, from `dialects()`. Known faults of this runtime are listed first.
   */
  readonly dialect?: DialectId | undefined;
  /**
   * True if other runs of the call have shown a race, because results changed between runs or were exact with one
   * thread. In this case, a race explains every possible value, even an unlikely value. If false, known races of
   * `dialect` are ignored.
   */
  readonly isRace?: boolean | undefined;
}

/**
 * Explains the difference between a node's exact result and `actual`, a result from any source, such as another
 * runtime. An explanation is listed only if its fault produces the differing values. Explanations that produce all
 * differing values and change no correct cell come first. Faults with identical results for this call are all listed,
 * because the values cannot distinguish them. If no single fault explains all cells, pairs of faults are tried. If no
 * pair explains all cells, the list may contain partial explanations for at least half of the cells. The constant
 * `DIAGNOSES` lists all faults.
 *
 * The list is empty if no known fault explains the cells, or if no cell differs. To distinguish these two cases,
 * compare the results with `firstDifference`. All NaN values are considered equal.
 *
 * A call with an out-of-range index is also diagnosed. The specification does not define the cells that such an index
 * affects. A cell therefore counts as differing if any interpretation of the index changes the cell. A call whose only
 * fault is its reduction is also diagnosed. In this case, the list contains the reductions that produce `actual`, with
 * the cells that they change.
 *
 * A gather's result may have a different shape from the node's output. The function explains this result if another
 * axis, operator or batch_dims produces the shape and every element. Otherwise, the shape is an error.
 *
 * In a cell with thousands of updates, a value alone is not sufficient evidence of a race, because nearly any value is
 * possible. Therefore, if `isRace` is true, or `dialect` is known to race in such calls, a race explains every cell
 * whose value is possible.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputs tensors in the order of the version's inputs; `undefined` for an omitted optional input
 * @param actual the runtime's result, with the data type and shape of the node's output, or with a shape that another
 * axis of a gather produces
 * @param options known facts about the runtime
 * @throws TensorError like `run`, except for an index outside its axis and a reduction that the version does not have;
 * also `dtype` and `shape-mismatch` for `actual`
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

/** Returns explanations for a different shape, or an empty list if the shape is correct. */
const reshapedOf = (prepared: PreparedCall, given: Tensor): readonly Found[] =>
  given.dtype !== prepared.data.dtype || sameShape(given.shape, prepared.shape)
    ? []
    : searchShape(readCall(prepared).rule, given);

/**
 * Computes the result with another reduction. Returns null if the data type does not support the reduction, or if an
 * index is out of range.
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

/** Throws an `attribute` error for an unknown option or dialect. */
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

/** Converts a call to the equivalent rule. For an invalid call, `exact` is the result for valid indices only. */
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

/** Computes the result of a rule. Returns null if an index is out of range. */
export function exactOf(rule: Rule): Tensor | null {
  try {
    return resultOf(rule);
  } catch (error) {
    if (isTensorError(error, "index-out-of-range")) return null;
    throw error;
  }
}

/** Returns the differing cells, and the cells that any interpretation of out-of-range indices changes. */
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
