/** What the entries `ndscatter` and `ndscatter/js` have in common: all that runs on no engine, or on the one it is given. */

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
export { diagnose, type DiagnoseOptions } from "./diagnose/diagnose.ts";
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
export type { TensorScatterOptions } from "./functions.ts";
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
export { NEWEST_OPSETS } from "./operators/operator.ts";
export { operators, resolve, type OperatorId } from "./operators/registry.ts";
export { compareVersions, roleOf, typesOf } from "./operators/rows.ts";
export type { RunOptions } from "./call/run.ts";
export { infer } from "./call/infer.ts";
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
export { toRuntime, type RuntimeDType, type ToRuntime } from "./tensor/to-runtime.ts";
export { printScalar } from "./tensor/print.ts";
export { printShape } from "./tensor/shape.ts";
export type { Lists, Nested, ScalarInput, Values } from "./tensor/values.ts";
