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
export type { Attribute, Constant, Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";
export { runModel, type Tensors } from "../model/run-model.ts";
export { readIR } from "./read-ir.ts";
export { writeIR, type IR } from "./write-ir.ts";
