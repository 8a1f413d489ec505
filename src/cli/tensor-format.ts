/** The formats of tensor files. The ending of a file's name says which one it has. */

import * as path from "node:path";
import type { Tensor } from "../index.ts";
import { readNpy, writeNpy } from "../npy/index.ts";
import { readTensor, writeTensor, type ReadExternal } from "../onnx/index.ts";
import { wrongUsage } from "./failure.ts";

interface Format {
  read(bytes: Uint8Array, external: ReadExternal): Tensor;
  write(tensor: Tensor, name: string): Uint8Array;
}

const FORMATS: Readonly<Record<string, Format>> = {
  ".npy": { read: (bytes) => readNpy(bytes), write: (tensor) => writeNpy(tensor) },
  ".pb": { read: (bytes, external) => readTensor(bytes, { external }), write: writeTensor },
};

/** The format of a tensor without a name: NPY begins with bytes that no TensorProto begins with. */
export const formatOf = (bytes: Uint8Array): Format =>
  FORMATS[NPY_MAGIC.every((byte, at) => bytes[at] === byte) ? ".npy" : ".pb"];

/** `\x93NUMPY` */
const NPY_MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** @throws Failure for a name with another ending. */
export function checkFormat(file: string): Format {
  const format = FORMATS[path.extname(file).toLowerCase()];
  if (format !== undefined) return format;
  throw wrongUsage(
    `${file} must end in ${Object.keys(FORMATS).join(" or ")}, which tells its format`,
  );
}
