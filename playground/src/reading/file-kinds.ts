/** Recognizes file kinds by extension. */

export const MODEL = /\.(?:onnx|xml)$/i;
export const TENSOR = /\.(?:npy|pb)$/i;
export const BIN = /\.bin$/i;

/** Checks whether the files may form a test case: one model and some tensors. */
export const isCase = (names: readonly string[]): boolean =>
  names.filter((name) => MODEL.test(name)).length === 1 && names.some((name) => TENSOR.test(name));

/** Checks whether all files are tensors and at least two are given. */
export const areTensors = (names: readonly string[]): boolean =>
  names.length > 1 && names.every((name) => TENSOR.test(name));
