/**
 * Scatter and gather for tensors, exact to the specifications of ONNX and OpenVINO.
 *
 * @example
 * ```ts
 * import { scatterND, tensor } from "ndscatter";
 *
 * const data = tensor("float32", [4, 2], [0, 0, 0, 0, 0, 0, 0, 0]);
 * const output = scatterND(data, [[1], [3], [1]], [[1, 2], [3, 4], [5, 6]], { reduction: "add" });
 * console.log(output); // rows 1 and 3 hold [6, 8] and [3, 4]
 * ```
 *
 * @module
 */

export {
  createEngine,
  type AsyncFunctions,
  type Engine,
  type EngineOptions,
} from "./create-engine.ts";
export {
  DTYPES,
  isDType,
  REDUCTIONS,
  type DType,
  type Reduction,
  type Scalar,
  type Storage,
} from "./tensor/dtype.ts";
export {
  ERROR_CODES,
  isTensorError,
  TensorError,
  type ErrorCode,
  type ErrorFields,
} from "./errors.ts";
export { compareDialects, type DialectComparison } from "./diagnose/compare-dialects.ts";
export { diagnose } from "./diagnose/diagnose.ts";
export { DIAGNOSES, type Diagnosis, type DiagnosisId } from "./diagnose/diagnosis.ts";
export {
  dialects,
  type Dialect,
  type DialectAspect,
  type DialectEvidence,
  type DialectFact,
  type DialectId,
} from "./diagnose/dialects.ts";
export { explain } from "./explain/explain.ts";
export type {
  BadIndex,
  CellStory,
  DerivedShape,
  DivisionStep,
  ExplainedInput,
  Explanation,
  GatherStory,
  IndexStory,
  Lazy,
  Read,
  ReadCell,
  ReadTarget,
  ScatterStory,
  StoryStep,
  Summary,
  Target,
  Update,
  UpdateStep,
} from "./explain/explanation.ts";
export {
  gather,
  gatherElements,
  gatherND,
  planGather,
  planGatherElements,
  planGatherND,
  planScatterElements,
  planScatterND,
  scatter,
  scatterElements,
  scatterND,
  tensorScatter,
  type TensorScatterOptions,
} from "./functions.ts";
export type { KeptPlan, RepeatedTarget } from "./call/kept-plan.ts";
export type { VersionChange } from "./operators/compare.ts";
export type {
  AttributeSchema,
  Domain,
  OperatorVersion,
  ParameterSchema,
  Role,
  Term,
  TensorType,
  TypeConstraint,
} from "./operators/operator.ts";
export { operators, resolve, type OperatorId } from "./operators/registry.ts";
export { compareVersions, roleOf, typesOf } from "./operators/rows.ts";
export { infer } from "./call/infer.ts";
export { run, type RunOptions } from "./call/run.ts";
export type { NodeSpec } from "./call/call.ts";
export type { Dim, PartialShape } from "./tensor/shape.ts";
export {
  equals,
  firstDifference,
  full,
  tensor,
  zeros,
  type RuntimeTensor,
  type Tensor,
} from "./tensor/tensor.ts";
export { printScalar } from "./tensor/print.ts";
export { printShape } from "./tensor/shape.ts";
export type { Nested, ScalarInput, Values } from "./tensor/values.ts";
