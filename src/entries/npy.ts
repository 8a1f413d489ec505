/** Reads and writes NumPy's NPY files: tensors from bytes and tensors to bytes. */

export { readNpy } from "../arrays/npy/reader.ts";
export { writeNpy } from "../arrays/npy/writer.ts";
