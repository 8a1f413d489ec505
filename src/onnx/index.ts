/**
 * ONNX files: models, tensors, and running the models that are made of this package's operators.
 *
 * ```ts
 * const model = readModel(bytes);
 * const { y } = runModel(model, { data, indices, updates });
 * ```
 *
 * @module
 */

export { convertModel, type Conversion } from "../convert/convert-model.ts";
export type { ConvertTarget } from "../convert/target.ts";
export type { ReadExternal, ReadOptions } from "./external.ts";
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
export { readModel } from "./read-model.ts";
export { runModel, runNode, unsupportedOperators, type Tensors } from "../model/run-model.ts";
export { readTensor, writeTensor } from "./tensor.ts";
export { writeModel } from "./write-model.ts";
