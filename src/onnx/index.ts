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
