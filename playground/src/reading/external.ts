/**
 * Finds the external data of an ONNX model among the files that were opened with it. Only names are compared: dropped
 * files have no folders, and the library has already refused paths that leave the model's folder.
 */

import { TensorError } from "ndscatter";
import type { ReadExternal } from "ndscatter/onnx";
import { lastOf, MODEL } from "./file-kinds.ts";

/** Returns the only file with the name of an external file. Throws `unsupported-model` for none or several. */
export function fileOf<F extends { readonly name: string }>(
  location: string,
  files: readonly F[],
): F {
  const name = lastOf(location);
  const [found, other] = files.filter((one) => lastOf(one.name) === name && !MODEL.test(name));
  if (found !== undefined && other === undefined) return found;
  const why =
    found === undefined
      ? "which was not opened; drop the model together with this file"
      : "but several opened files have this name; drop only one of them";
  throw unclear(location, `the model has its data in the file ${JSON.stringify(name)}, ${why}`);
}

/** Returns a reader of external data. Two external files with the same name in different folders are refused. */
export function readerOf(
  files: readonly { readonly name: string; readonly bytes: Uint8Array }[],
): ReadExternal {
  const paths = new Map<string, string>();
  return (location, offset, length) => {
    const { name, bytes } = fileOf(location, files);
    const path = paths.get(name) ?? location;
    paths.set(name, path);
    if (path === location) return bytes.subarray(offset, offset + length);
    throw unclear(location, `the page cannot tell the files ${path} and ${location} apart`);
  };
}

const unclear = (file: string, sentence: string): TensorError =>
  new TensorError("unsupported-model", sentence, { file });
