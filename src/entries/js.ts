/**
 * The entry `ndscatter/js`: the functions of `ndscatter`, with the same errors, but only in JavaScript. A bundle
 * without WebAssembly is about half as large and works under every page policy, but large calls take longer. Results
 * are identical bit for bit.
 *
 * @example
 * ```ts
 * import { gather, tensor } from "ndscatter/js";
 *
 * const table = tensor("float32", [3, 2], [0, 1, 2, 3, 4, 5]);
 * console.log(gather(table, [2, 0])); // rows 2 and 0
 * ```
 *
 * @module
 */

import { callOfKnown, splitArguments } from "../core/call/call.ts";
import { keepPlan, type KeptPlan } from "../core/call/kept-plan.ts";
import { runOn, runPlain } from "../core/call/run.ts";
import { type run as runByDefault, type vjp as vjpByDefault } from "../core/functions.ts";
import { vjpOn } from "../core/call/vjp.ts";
import { Executor } from "../core/engines/executor.ts";
import type * as functions from "../core/functions.ts";
import type * as planFunctions from "../core/plan-functions.ts";
import * as elements from "../core/operators/elements.ts";
import * as sequences from "../core/operators/sequences.ts";
import * as slices from "../core/operators/slices.ts";
import * as tuples from "../core/operators/tuples.ts";
import type { Operator } from "../core/operators/operator.ts";
import type { RuntimeTensor, Tensor } from "../core/tensor/tensor.ts";
import type { IndexLists } from "../core/tensor/arguments.ts";

export * from "../surface.ts";

let executor: Executor | undefined;
const jsExecutor = (): Executor => (executor ??= new Executor());

const functionOf =
  (operator: Operator) =>
  (...args: readonly unknown[]): Tensor<never, never> =>
    runPlain(jsExecutor(), operator, ...splitArguments(operator, args)) as Tensor<never, never>;

const planFunctionOf =
  (operator: Operator) =>
  (
    dataShape: readonly number[],
    indices: Tensor | RuntimeTensor | IndexLists,
    options?: object,
  ): KeptPlan =>
    keepPlan(jsExecutor(), operator, dataShape, indices, options);

/** Runs a node like `run` of `ndscatter`, following exactly the rules of its operator version. */
export const run: typeof runByDefault = (node, inputs, options = {}) =>
  runOn(jsExecutor, callOfKnown(node), inputs, options);

/** Computes the gradients of a call's inputs, like `vjp` of `ndscatter`. */
export const vjp: typeof vjpByDefault = (node, inputs, outputGradient, options = {}) =>
  vjpOn(jsExecutor, node, inputs, outputGradient, options);

// The calls are marked pure, so that bundlers omit functions that are not used.
/** Works like `scatterND` of `ndscatter`, in JavaScript only. */
export const scatterND: typeof functions.scatterND = /* @__PURE__ */ functionOf(tuples.scatterND);
/** Works like `scatterElements` of `ndscatter`, in JavaScript only. */
export const scatterElements: typeof functions.scatterElements = /* @__PURE__ */ functionOf(
  elements.scatterElements,
);
/** Works like `gatherND` of `ndscatter`, in JavaScript only. */
export const gatherND: typeof functions.gatherND = /* @__PURE__ */ functionOf(tuples.gatherND);
/** Works like `gatherElements` of `ndscatter`, in JavaScript only. */
export const gatherElements: typeof functions.gatherElements = /* @__PURE__ */ functionOf(
  elements.gatherElements,
);
/** Works like `gather` of `ndscatter`, in JavaScript only. */
export const gather: typeof functions.gather = /* @__PURE__ */ functionOf(slices.gather);
/** Works like `scatter` of `ndscatter`, in JavaScript only. */
export const scatter: typeof functions.scatter = /* @__PURE__ */ functionOf(elements.scatter);
/** Works like `tensorScatter` of `ndscatter`, in JavaScript only. */
export const tensorScatter: typeof functions.tensorScatter = /* @__PURE__ */ functionOf(
  sequences.tensorScatter,
);
/** Works like `planScatterND` of `ndscatter`, in JavaScript only. */
export const planScatterND: typeof planFunctions.planScatterND = /* @__PURE__ */ planFunctionOf(
  tuples.scatterND,
);
/** Works like `planScatterElements` of `ndscatter`, in JavaScript only. */
export const planScatterElements: typeof planFunctions.planScatterElements =
  /* @__PURE__ */ planFunctionOf(elements.scatterElements);
/** Works like `planGatherND` of `ndscatter`, in JavaScript only. */
export const planGatherND: typeof planFunctions.planGatherND = /* @__PURE__ */ planFunctionOf(
  tuples.gatherND,
);
/** Works like `planGatherElements` of `ndscatter`, in JavaScript only. */
export const planGatherElements: typeof planFunctions.planGatherElements =
  /* @__PURE__ */ planFunctionOf(elements.gatherElements);
/** Works like `planGather` of `ndscatter`, in JavaScript only. */
export const planGather: typeof planFunctions.planGather = /* @__PURE__ */ planFunctionOf(
  slices.gather,
);
