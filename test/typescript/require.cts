/** A CommonJS module that loads the package by `require`. */

import ndscatter = require("ndscatter");
import onnx = require("ndscatter/onnx");

const data: ndscatter.Tensor<"float32", [4]> = ndscatter.tensor("float32", [4], [0, 0, 0, 0]);
const bytes: Uint8Array = onnx.writeTensor(ndscatter.scatterND(data, [[1]], [1]));

export = bytes;
