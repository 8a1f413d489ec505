/**
 * OpenVINO's IR files (an `.xml` and a `.bin`) of versions 10 and 11: reading and writing models, and running,
 * inspecting and converting those that consist of this package's operators.
 *
 * ```ts
 * const model = readIR(xml, bin);
 * const { y } = runModel(model, { data, indices, updates });
 * ```
 *
 * @module
 */

export {
  convertModel,
  type Conversion,
  type ConvertOptions,
} from "../models/convert/convert-model.ts";
export type { ConvertTarget } from "../models/convert/target.ts";
export {
  FINDINGS,
  type Finding,
  type FindingId,
  type Severity,
} from "../models/inspect/findings.ts";
export {
  inspectModel,
  type InspectedNode,
  type InspectedValue,
  type Report,
} from "../models/inspect/inspect-model.ts";
export type { ByteSource } from "../models/model/byte-source.ts";
export type {
  Attribute,
  Constant,
  Graph,
  Model,
  ModelNode,
  ValueInfo,
} from "../models/model/model.ts";
export { runModel, type Tensors } from "../models/model/run-model.ts";
export { readIR } from "../models/openvino/read-ir.ts";
export { writeIR, type IR } from "../models/openvino/write-ir.ts";
