/**
 * Explains a wrong result: which known faults of runtimes give exactly the cells that are wrong. Each hypothesis is a
 * change to the rule that the call follows; its result is compared with what the runtime gave.
 */

import { callOf, nodeFrom, type NodeSpec } from "../call/call.ts";
import { tensorsOf } from "../call/inputs.ts";
import { prepare, type PreparedCall } from "../call/prepare.ts";
import { checkLike } from "../call/out.ts";
import { isTensorError } from "../errors.ts";
import { asTensor, type Tensor } from "../tensor/tensor.ts";
import { cellsOf, differingCells } from "./cells.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { dialectsWith } from "./dialects.ts";
import { droppingOutside, factsOf, type Facts } from "./hypothesis.ts";
import { predict, resultOf, type Rule } from "./rule.ts";
import { search, type Case } from "./search.ts";
import { PLACES } from "./places.ts";

/**
 * Explains the difference between the exact result of a node and `actual`, a result from anywhere, such as another
 * runtime. An explanation is in the list only if its fault gives the values that differ; one that explains all of them,
 * and changes no cell that is right, comes first. Faults that give the same result on this call are all listed: the
 * cells cannot tell them apart. If no single fault explains all cells, pairs are tried; if no pair does either, there
 * may be partial explanations, of at least half of the cells. The list of faults is `DIAGNOSES`.
 *
 * The list is empty where nothing known explains the cells, and where none differs: `firstDifference` of `run` and
 * `actual` tells which. Every NaN counts as the same.
 *
 * A call that is an error because an index lies outside its axis is diagnosed too. The specification gives its affected
 * cells no value, so all of them count as differing: those that any reading of these indices changes.
 *
 * @param inputs tensors in the order of the version's inputs; `undefined` for an optional input that is left out
 * @param actual of the data type and shape of the node's output
 * @throws TensorError as `run`, but not for an index outside its axis; `dtype` and `shape-mismatch` also for `actual`
 */
export function diagnose(
  node: NodeSpec,
  inputs: readonly unknown[],
  actual: unknown,
): readonly Diagnosis[] {
  const call = callOf(nodeFrom(node));
  const prepared = prepare(call, tensorsOf(call, inputs));
  const given = asTensor(actual, call.fields, "actual");
  checkLike(given, prepared.data.dtype, prepared.shape, "actual", call.fields);
  if (given.size === 0) return [];
  return search(caseOf(prepared, given)).map((found) => ({
    ...found,
    dialects: dialectsWith(found.id),
  }));
}

function caseOf(prepared: PreparedCall, actual: Tensor): Case {
  const { rule, facts, exact } = readCall(prepared);
  const found = cellsOf(actual);
  const differing = differingCells(cellsOf(exact), found);
  if (!facts.isError) return { rule, facts, actual, found, differing };
  return { rule, facts, actual, found, differing: undecidedCells(rule, facts, differing) };
}

/** A call as a rule. Of a call that is an error, `exact` is the result without its bad indices. */
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

/** The result by a rule; null where an index lies outside its axis. */
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
