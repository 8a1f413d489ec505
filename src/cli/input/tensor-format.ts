/** Defines the formats of tensor files and chunked arrays. The file extension determines the format. */

import * as path from "node:path";
import type { Tensor } from "../../entries/index.ts";
import { readNpy, writeNpy } from "../../entries/npy.ts";
import { readTensor, writeTensor, type ReadExternal } from "../../entries/onnx.ts";
import { wrongUsage } from "../failure.ts";
import { quote } from "../text/layout.ts";

interface Format {
  read(bytes: Uint8Array, external: ReadExternal): Tensor;
  write(tensor: Tensor, name: string): Uint8Array;
}

const FORMATS: Readonly<Record<string, Format>> = {
  ".npy": { read: (bytes) => readNpy(bytes), write: (tensor) => writeNpy(tensor) },
  ".pb": { read: (bytes, external) => readTensor(bytes, { external }), write: writeTensor },
};

/** Detects the format of a tensor without a file name. The first bytes of an NPY file never begin a TensorProto. */
export const formatOf = (bytes: Uint8Array): Format =>
  FORMATS[NPY_MAGIC.every((byte, at) => bytes[at] === byte) ? ".npy" : ".pb"];

/** The text `\x93NUMPY`. */
const NPY_MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** Throws a `Failure` for any other file extension. */
export function checkFormat(file: string): Format {
  const format = FORMATS[path.extname(file).toLowerCase()];
  if (format !== undefined) return format;
  const advice = /\.(?:npz|zip)$/i.test(file)
    ? "; archives are not supported, so unpack it and name a file in it"
    : file.includes(".zarr")
      ? "; a Zarr array needs --memory, such as --memory 1G"
      : "";
  throw wrongUsage(
    `${file} must end in ${Object.keys(FORMATS).join(" or ")}, which determines its format${advice}`,
  );
}

/** Formats for arrays that are written chunk by chunk: an NPY file, or a Zarr folder, whose name needs no extension. */
const ARRAY_FORMATS: Readonly<Record<string, "npy" | "zarr">> = {
  ".npy": "npy",
  ".zarr": "zarr",
  "": "zarr",
};

/** Throws a `Failure` for any other file extension. */
export function checkArrayFormat(name: string): "npy" | "zarr" {
  const ending = path.extname(name);
  const format = ARRAY_FORMATS[ending.toLowerCase()];
  if (format !== undefined) return format;
  throw wrongUsage(
    `${name} must end in .npy or .zarr, or be a Zarr folder without an ending, got ${quote(ending)}`,
  );
}
