/** Models written to their file formats and read again. */

import { readModel, writeModel, type Model } from "../../src/entries/onnx.ts";
import { readIR, writeIR } from "../../src/entries/openvino.ts";

/** The model after a round trip through its file format. */
export function asFile(model: Model): Model {
  if ("ai.onnx" in model.opsets) return readModel(writeModel(model));
  const { xml, bin } = writeIR(model);
  return readIR(xml, bin);
}
