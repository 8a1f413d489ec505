/** The page's imports from the model readers, which the bundler reduces to the code that the page needs. */

export { inferTypes, NodeIndex, readModel, readTensor, runNode } from "ndscatter/onnx";
export { readIR } from "ndscatter/openvino";
