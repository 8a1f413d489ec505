/** Models through the files of their formats. */

import { readModel, writeModel, type Model } from "../../src/entries/onnx.ts";
import { readIR, writeIR } from "../../src/entries/openvino.ts";

/** The model after it was written and read. */
export function asFile(model: Model): Model {
  if ("ai.onnx" in model.opsets) return readModel(writeModel(model));
  const { xml, bin } = writeIR(model);
  return readIR(xml, bin);
}
