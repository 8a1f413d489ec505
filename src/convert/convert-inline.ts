/** Data types of `Cast`, which conversions between the formats write. */

import type { DType } from "../tensor/dtype.ts";
import { refusal } from "./meaning.ts";
import { opsetOfDType } from "./target.ts";

/** @throws TensorError `unsupported-model` where an opset of ONNX has no version of `op` with the data type */
export function checkTakes(op: string, dtype: DType, target: number): void {
  const since = opsetOfDType(dtype);
  if (target >= since) return;
  throw refusal(`${op} of opset ${target} does not take ${dtype}; opset ${since} can say it`);
}
