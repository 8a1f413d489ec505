/** Recognizes file kinds by extension. */

/** A model that the page can run. */
export const ONNX = /\.onnx$/i;
export const MODEL = /\.(?:onnx|xml)$/i;
export const NPZ = /\.npz$/i;
export const TENSOR = /\.(?:np[yz]|pb)$/i;
export const BIN = /\.bin$/i;

/** Returns a file's name without its folders. */
export const lastOf = (name: string): string => name.replace(/^.*[/\\]/s, "");

/** The maximum file size. A larger file contains more than the page can show in any format. */
export const MOST_BYTES = 64 * 2 ** 20;

/** Checks whether the files may form a test case: one model, with tensors or with the model's data. */
export const isCase = (names: readonly string[]): boolean =>
  names.length > 1 && names.filter((name) => MODEL.test(name)).length === 1;

/** Checks whether all files are tensors and at least two are given. */
export const areTensors = (names: readonly string[]): boolean =>
  names.length > 1 && names.every((name) => TENSOR.test(name));
