/**
 * ONNX files: reads and writes models and tensors, and runs, inspects and converts models that consist of this
 * package's operators.
 *
 * ```ts
 * const model = readModel(bytes);
 * const { y } = runModel(model, { data, indices, updates });
 * ```
 *
 * @module
 */

export * from "../models/surface.ts";
export { externalFiles, type ReadExternal, type ReadOptions } from "../models/onnx/external.ts";
export { readOutline } from "../models/onnx/outline.ts";
export {
  buildModel,
  type AttributeInput,
  type ModelNodeSpec,
  type ModelSpec,
} from "../models/model/build-model.ts";
export { constant } from "../models/model/model.ts";
export {
  createExactSession,
  type ExactSession,
  type ExactSessionOptions,
  type SessionValue,
} from "../models/exact/exact-session.ts";
export type { CreateGpu, ExactGpu, ExactGpuTensor } from "../models/exact/gpu.ts";
export type { RuntimeSession } from "../models/exact/runtime.ts";
export { comparedValues, indexedSizes } from "../models/inspect/input-uses.ts";
export { extractNode } from "../models/model/extract-node.ts";
export { fixModel, type FixOptions } from "../models/fix/fix.ts";
export type { ModelRuns } from "../models/fix/measure.ts";
export type {
  Cure,
  FaultyNodeReport,
  FixProgress,
  FixReport,
  KnownFaultId,
} from "../models/fix/report.ts";
export { listNodes, NodeIndex } from "../models/model/node-index.ts";
export type { Place, PlacedNode } from "../models/model/places.ts";
export { readModel } from "../models/onnx/read-model.ts";
export {
  nodeCall,
  runNode,
  unsupportedOperators,
  type NodeCall,
} from "../models/model/run-model.ts";
export { neededFor, splitModel, type SplitOptions } from "../models/split/split-model.ts";
export { inferTypes, type InferredType } from "../models/split/types.ts";
export { readTensor, writeTensor } from "../models/onnx/tensor.ts";
export { writeModel } from "../models/onnx/write-model.ts";
export {
  captureCalls,
  type CapturedCall,
  type CaptureOptions,
  type Feeds,
} from "../models/verify/capture.ts";
export type { Reruns } from "../models/verify/rerun.ts";
export type {
  CreateSession,
  Session,
  SessionSettings,
  SessionTensor,
} from "../models/verify/session.ts";
export { VERDICTS, type Verdict } from "../models/verify/verdicts.ts";
export {
  verifyModel,
  type FailedNode,
  type VerifyOptions,
  type VerifyProgress,
  type VerifyReport,
} from "../models/verify/verify.ts";
export type { ExpectedChange, ExpectedOutput, ExpectedReport } from "../models/verify/expected.ts";
export type { InputChange } from "../insight/diagnose/other-calls.ts";
export type { Loads } from "../models/verify/whole.ts";
export type { VerifiedNode } from "../models/verify/node-state.ts";
