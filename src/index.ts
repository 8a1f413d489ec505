export { TensorError, isTensorError, ERROR_CODES, type ErrorCode, type ErrorFields } from "./errors.ts";
export { Tensor, tensor, zeros, full, equals } from "./tensor.ts";
export { operators, resolve } from "./operators/registry.ts";
export { run, infer } from "./run.ts";
