/** What the page takes of the readers of models; the bundler leaves out what is not named here. */

export { readModel, readTensor, runNode } from "ndscatter/onnx";
export { readIR } from "ndscatter/openvino";
