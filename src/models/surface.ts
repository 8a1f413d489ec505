/** The exports that `ndscatter/onnx` and `ndscatter/openvino` share. */

export { convertModel, type Conversion, type ConvertOptions } from "./convert/convert-model.ts";
export type { ConvertTarget } from "./convert/target.ts";
export { FINDINGS, type Finding, type FindingId, type Severity } from "./inspect/findings.ts";
export {
  inspectModel,
  type InspectedNode,
  type InspectedValue,
  type Report,
} from "./inspect/inspect-model.ts";
export type { ByteSource } from "./model/byte-source.ts";
export type { Attribute, Constant, Graph, Model, ModelNode, ValueInfo } from "./model/model.ts";
export { modelNotes } from "./model/model-notes.ts";
export { runModel, type Tensors } from "./model/run-model.ts";
