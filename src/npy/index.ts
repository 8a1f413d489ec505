/** NumPy's NPY files: reads tensors from bytes and writes them as bytes. */

export { readNpy } from "./reader.ts";
export { writeNpy } from "./writer.ts";
