/**
 * ONNX files: reading and writing models and tensors, and running, inspecting and converting the models that consist of
 * this package's operators.
 *
 * ```ts
 * const model = readModel(bytes);
 * const { y } = runModel(model, { data, indices, updates });
 * ```
 *
 * @module
 */

export { convertModel, type Conversion, type ConvertOptions } from "../convert/convert-model.ts";
export type { ConvertTarget } from "../convert/target.ts";
export { FINDINGS, type Finding, type FindingId, type Severity } from "../inspect/findings.ts";
export {
  inspectModel,
  type InspectedNode,
  type InspectedValue,
  type Report,
} from "../inspect/inspect-model.ts";
export type { ByteSource } from "../model/byte-source.ts";
export { externalFiles } from "./external-files.ts";
export type { ReadExternal, ReadOptions } from "./external.ts";
export { readOutline } from "./outline.ts";
export {
  buildModel,
  constant,
  type Attribute,
  type AttributeInput,
  type Constant,
  type Graph,
  type Model,
  type ModelNode,
  type ModelNodeSpec,
  type ModelSpec,
  type ValueInfo,
} from "../model/model.ts";
export { extractNode } from "../model/extract-node.ts";
export { listNodes, NodeIndex } from "../model/node-index.ts";
export type { Place, PlacedNode } from "../model/places.ts";
export { readModel } from "./read-model.ts";
export {
  nodeCall,
  runModel,
  runNode,
  unsupportedOperators,
  type NodeCall,
  type Tensors,
} from "../model/run-model.ts";
export { readTensor, writeTensor } from "./tensor.ts";
export { writeModel } from "./write-model.ts";
export {
  captureCalls,
  type CapturedCall,
  type CaptureOptions,
  type Feeds,
} from "../verify/capture.ts";
export type { Reruns } from "../verify/rerun.ts";
export type { CreateSession, Session, SessionTensor } from "../verify/session.ts";
export { VERDICTS, type Verdict } from "../verify/verdicts.ts";
export {
  verifyModel,
  type FailedNode,
  type VerifiedNode,
  type VerifyOptions,
  type VerifyProgress,
  type VerifyReport,
} from "../verify/verify.ts";
