/** NumPy's NPY files: reads tensors from bytes and writes them as bytes. */

export { readNpy } from "../arrays/npy/reader.ts";
export { writeNpy } from "../arrays/npy/writer.ts";
