/**
 * The entry `ndscatter/js`: the functions of `ndscatter`, with its errors, in JavaScript alone. Without WebAssembly a
 * bundle is half as large and works under every page policy; large calls take longer. Results are equal bit for bit.
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

import { splitArguments } from "../core/call/call.ts";
import { keepPlan, type KeptPlan } from "../core/call/kept-plan.ts";
import { runOn, runPlain, type run as runByDefault } from "../core/call/run.ts";
import { vjpOn, type vjp as vjpByDefault } from "../core/call/vjp.ts";
import { createJs } from "../core/engines/js.ts";
import type { Executor } from "../core/engines/executor.ts";
import type * as functions from "../core/functions.ts";
import type * as planFunctions from "../core/plan-functions.ts";
import { gatherElements as gatherElementsOperator } from "../core/operators/gather-elements.ts";
import { gatherND as gatherNDOperator } from "../core/operators/gather-nd.ts";
import { gather as gatherOperator } from "../core/operators/gather.ts";
import type { Operator } from "../core/operators/operator.ts";
import { scatterElements as scatterElementsOperator } from "../core/operators/scatter-elements.ts";
import { scatterND as scatterNDOperator } from "../core/operators/scatter-nd.ts";
import { scatter as scatterOperator } from "../core/operators/scatter.ts";
import { tensorScatter as tensorScatterOperator } from "../core/operators/tensor-scatter.ts";
import type { RuntimeTensor, Tensor } from "../core/tensor/tensor.ts";
import type { Nested } from "../core/tensor/values.ts";

export * from "../surface.ts";

let executor: Executor | undefined;
const jsExecutor = (): Executor => (executor ??= createJs());

const functionOf =
  (operator: Operator) =>
  (...args: readonly unknown[]): Tensor<never, never> =>
    runPlain(jsExecutor(), operator, ...splitArguments(operator, args)) as Tensor<never, never>;

const planFunctionOf =
  (operator: Operator) =>
  (
    dataShape: readonly number[],
    indices: Tensor | RuntimeTensor | Nested<number | bigint>,
    options?: object,
  ): KeptPlan =>
    keepPlan(jsExecutor(), operator, dataShape, indices, options);

/** Runs a node by the rules of exactly its version: `run` of `ndscatter`. */
export const run: typeof runByDefault = (node, inputs, options = {}) =>
  runOn(jsExecutor, node, inputs, options);

/** The gradients of a call's inputs: `vjp` of `ndscatter`. */
export const vjp: typeof vjpByDefault = (node, inputs, outputGradient, options = {}) =>
  vjpOn(jsExecutor, node, inputs, outputGradient, options);

// Bundlers leave out the functions that are not used.
/** `scatterND` of `ndscatter`. */
export const scatterND: typeof functions.scatterND = /* @__PURE__ */ functionOf(scatterNDOperator);
/** `scatterElements` of `ndscatter`. */
export const scatterElements: typeof functions.scatterElements =
  /* @__PURE__ */ functionOf(scatterElementsOperator);
/** `gatherND` of `ndscatter`. */
export const gatherND: typeof functions.gatherND = /* @__PURE__ */ functionOf(gatherNDOperator);
/** `gatherElements` of `ndscatter`. */
export const gatherElements: typeof functions.gatherElements =
  /* @__PURE__ */ functionOf(gatherElementsOperator);
/** `gather` of `ndscatter`. */
export const gather: typeof functions.gather = /* @__PURE__ */ functionOf(gatherOperator);
/** `scatter` of `ndscatter`. */
export const scatter: typeof functions.scatter = /* @__PURE__ */ functionOf(scatterOperator);
/** `tensorScatter` of `ndscatter`. */
export const tensorScatter: typeof functions.tensorScatter =
  /* @__PURE__ */ functionOf(tensorScatterOperator);
/** `planScatterND` of `ndscatter`. */
export const planScatterND: typeof planFunctions.planScatterND =
  /* @__PURE__ */ planFunctionOf(scatterNDOperator);
/** `planScatterElements` of `ndscatter`. */
export const planScatterElements: typeof planFunctions.planScatterElements =
  /* @__PURE__ */ planFunctionOf(scatterElementsOperator);
/** `planGatherND` of `ndscatter`. */
export const planGatherND: typeof planFunctions.planGatherND =
  /* @__PURE__ */ planFunctionOf(gatherNDOperator);
/** `planGatherElements` of `ndscatter`. */
export const planGatherElements: typeof planFunctions.planGatherElements =
  /* @__PURE__ */ planFunctionOf(gatherElementsOperator);
/** `planGather` of `ndscatter`. */
export const planGather: typeof planFunctions.planGather =
  /* @__PURE__ */ planFunctionOf(gatherOperator);
