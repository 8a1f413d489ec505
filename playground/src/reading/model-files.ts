/** The page's imports from the model readers. The bundler removes all other code of the readers. */

export { readModel, readTensor, runNode } from "ndscatter/onnx";
export { readIR } from "ndscatter/openvino";
