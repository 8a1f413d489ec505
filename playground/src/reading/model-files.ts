/** The page's imports from the model readers; the bundler leaves out all others. */

export { readModel, readTensor, runNode } from "ndscatter/onnx";
export { readIR } from "ndscatter/openvino";
