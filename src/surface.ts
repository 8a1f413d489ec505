/**
 * Exports shared by the entry points `ndscatter` and `ndscatter/js`: code that needs no engine, or that uses a given
 * engine.
 */

export {
  DTYPES,
  isDType,
  REDUCTIONS,
  type DType,
  type Reduction,
  type Scalar,
  type Storage,
} from "./core/tensor/dtype.ts";
export {
  ERROR_CODES,
  isTensorError,
  TensorError,
  type ErrorCode,
  type ErrorFields,
  type ErrorOf,
  type Fact,
  type FieldsOf,
} from "./core/errors.ts";
export { compareDialects, type DialectComparison } from "./insight/diagnose/compare-dialects.ts";
export { diagnose, type DiagnoseOptions } from "./insight/diagnose/diagnose.ts";
export { DIAGNOSES, type Diagnosis, type DiagnosisId } from "./insight/diagnose/diagnosis.ts";
export {
  dialects,
  type Dialect,
  type DialectAspect,
  type DialectEvidence,
  type DialectFact,
  type DialectId,
} from "./insight/diagnose/dialects.ts";
export { explain } from "./insight/explain/explain.ts";
export {
  explainGradient,
  type GradientCell,
  type GradientExplanation,
  type GradientTerm,
} from "./insight/explain/explain-gradient.ts";
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
} from "./insight/explain/explanation.ts";
export type { TensorScatterOptions } from "./core/functions.ts";
export type { KeptPlan, RepeatedTarget } from "./core/call/kept-plan.ts";
export type {
  AttributeSchema,
  Domain,
  OperatorVersion,
  ParameterSchema,
  Role,
  TensorType,
  TypeConstraint,
} from "./core/operators/operator.ts";
export type { Term } from "./core/operators/shapes.ts";
export { operators, type OperatorId } from "./core/operators/registry.ts";
export type { RunOptions } from "./core/call/run.ts";
export type { GradientOptions } from "./core/call/gradient-options.ts";
export type { FunctionName } from "./core/operators/registry.ts";
export type { FunctionSpec, VjpOptions } from "./core/call/vjp.ts";
export type { Ties } from "./core/kernels/backwards.ts";
export { infer } from "./core/call/check.ts";
export type { NodeSpec } from "./core/call/call.ts";
export type { Dim, PartialShape } from "./core/tensor/shape.ts";
export { equals, firstDifference } from "./core/tensor/compare.ts";
export {
  full,
  tensor,
  zeros,
  type RuntimeTensor,
  type Tensor,
  toRuntime,
  type RuntimeDType,
  type ToRuntime,
} from "./core/tensor/tensor.ts";
export type {
  IndexLists,
  Lists,
  Nested,
  ScalarInput,
  UpdateLists,
  Values,
} from "./core/tensor/arguments.ts";
