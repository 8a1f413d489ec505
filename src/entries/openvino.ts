/**
 * OpenVINO IR files (`.xml` and `.bin`) of versions 10 and 11: reads and writes models, and runs, inspects and converts
 * models that consist of this package's operators.
 *
 * ```ts
 * const model = readIR(xml, bin);
 * const { y } = runModel(model, { data, indices, updates });
 * ```
 *
 * @module
 */

export * from "../models/surface.ts";
export { readIR } from "../models/openvino/read-ir.ts";
export { writeIR, type IR } from "../models/openvino/write-ir.ts";
