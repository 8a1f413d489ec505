/**
 * Explains a wrong result by finding known runtime faults that produce exactly the wrong values. Each hypothesis
 * changes the rule of the call, and the predicted result is compared with the runtime's result.
 */

import { MEANT_OPTIONS, nodeFrom, type NodeSpec } from "../../core/call/call.ts";
import { tensorsOf } from "../../core/call/inputs.ts";
import { prepare, type PreparedCall } from "../../core/call/check.ts";
import { checkLike } from "../../core/call/inputs.ts";
import { oneOf, type ErrorContext } from "../../core/errors.ts";
import { wrongOption, optionsOf } from "../../core/foreign.ts";
import { reductionOf } from "../../core/operators/settings.ts";
import { REDUCTIONS } from "../../core/tensor/dtype.ts";
import { printShape, sameShape } from "../../core/tensor/shape.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { otherAxes, otherBatchDims, otherOperators } from "./call-hypotheses.ts";
import { cellsOf, differ, differingCells } from "./cells.ts";
import type { Diagnosis, DiagnosisId } from "./diagnosis.ts";
import { DIALECT_IDS, dialectsWith, type DialectId } from "./dialects.ts";
import type { Change } from "./hypothesis.ts";
import { PLACES } from "./index-hypotheses.ts";
import { callWithout, predict, readCall, resultOf } from "./predict.ts";
import { bitsOf } from "./races.ts";
import { attempted, type Facts, type Rule } from "./rule.ts";
import { LEAST_BITS, search, type Found } from "./search.ts";

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
  const told = diagnoseOptions(options, call.fields);
  const prepared = prepare(call, tensorsOf(call, inputs));
  const { dtype } = prepared.data;
  const given = asTensor(actual, call.fields, "actual");
  const isReshaped = given.dtype === dtype && !sameShape(given.shape, prepared.shape);
  const reshaped = word === null && isReshaped ? searchShape(readCall(prepared).rule, given) : [];
  if (reshaped.length > 0) return reshaped.map(named);
  checkLike(given, dtype, prepared.shape, "actual", call.fields);
  if (given.size === 0) return [];
  if (word !== null) return reductionsThatGive(prepared, given, word).map(named);
  const { rule, facts, exact } = readCall(prepared);
  const found = cellsOf(given);
  const own = differingCells(cellsOf(exact), found);
  const differing = facts.isError ? undecidedCells(rule, facts, own) : own;
  return search({ rule, facts, actual: given, found, differing, ...told }).map(named);
}

const named = (one: Found): Diagnosis => ({ ...one, dialects: dialectsWith(one.id) });

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

/** Returns the differing cells, and the cells that any interpretation of out-of-range indices changes. */
function undecidedCells(rule: Rule, facts: Facts, differing: Uint32Array): Uint32Array {
  const base = cellsOf(resultOf(rule));
  const marks = new Uint8Array(base.count);
  for (const cell of differing) marks[cell] = 1;
  for (const variant of PLACES.flatMap((one) => one.variants(rule, facts))) {
    const predicted = predict(variant.rule);
    if (predicted === null) continue;
    for (const cell of differingCells(base, cellsOf(predicted))) marks[cell] = 1;
  }
  return Uint32Array.from(marks.keys()).filter((cell) => marks[cell] === 1);
}

/** Only these changes of a gather can produce another shape, so the shape is also evidence. */
const SHAPED: readonly (readonly [id: DiagnosisId, changes: (rule: Rule) => readonly Change[]])[] =
  [
    ["other-axis", otherAxes],
    ["other-batch-dims", otherBatchDims],
    ["other-operator", otherOperators],
  ];

/** Finds changes for which a gather produces both the shape and all elements of `actual`. */
function searchShape(rule: Rule, actual: Tensor): readonly Found[] {
  const { shape, size } = actual;
  if (rule.updates !== undefined || size * bitsOf(actual) < LEAST_BITS) return [];
  return SHAPED.flatMap(([id, changesOf]): Found[] => {
    const change = changesOf(rule).find(([, parts]) => {
      const predicted = predict({ ...rule, ...parts, shape, placeOf: null, kept: {} });
      return predicted !== null && !differ(predicted, actual);
    });
    if (change === undefined) return [];
    const sentence = `${change[0]}, which produces the shape ${printShape(shape)}`;
    return [{ id, sentence, cells: { explained: size, differing: size } }];
  });
}

/**
 * Returns the reductions that produce `actual`. Cells in which `actual` differs from data count as differing. `word` is
 * the reduction that the version does not support.
 */
function reductionsThatGive(
  { call, data, tensors }: PreparedCall,
  actual: Tensor,
  word: string,
): readonly Found[] {
  const differing = differingCells(cellsOf(data), cellsOf(actual)).length;
  if (differing === 0) return [];
  const given = JSON.stringify(word);
  return REDUCTIONS.flatMap((reduction): Found[] => {
    const settings = { ...call.settings, reduction };
    const read = attempted(() => readCall(prepare({ ...call, settings }, tensors)));
    if (read === null || read.facts.isError || differ(read.exact, actual)) return [];
    const sentence =
      reduction === "none"
        ? `the reduction ${given} was ignored: the reduction was none`
        : reductionOf(word) === reduction
          ? `${given} was applied as other versions of the operator define it: the reduction was ${reduction}`
          : `the reduction was ${reduction}, not ${given}`;
    return [{ id: "other-reduction", sentence, cells: { explained: differing, differing } }];
  });
}
