/** NumPy's NPY files: bytes to tensors and back. */

export { readNpy } from "./reader.ts";
export { writeNpy } from "./writer.ts";
