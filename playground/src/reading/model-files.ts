/** The page's imports from the model readers. The bundler drops everything else. */

export { readModel, readTensor, runNode } from "ndscatter/onnx";
export { readIR } from "ndscatter/openvino";
