/** Tensors and models on disk. The format of a tensor is told by the ending of its file's name, `.npy` or `.pb`. */

import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { TensorError, type Tensor } from "../index.ts";
import { readNpy, writeNpy } from "../npy/index.ts";
import {
  readModel,
  readOutline,
  readTensor,
  writeTensor,
  type ByteSource,
  type Model,
  type ReadExternal,
} from "../onnx/index.ts";
import { readIR } from "../openvino/index.ts";
import { reasonOf, withPath, wrongData, wrongUsage } from "./failure.ts";
import { tellReading } from "./progress.ts";

interface Format {
  read(bytes: Uint8Array, file: string): Tensor;
  write(tensor: Tensor, name: string): Uint8Array;
}

const FORMATS: Readonly<Record<string, Format>> = {
  ".npy": { read: readNpy, write: (tensor) => writeNpy(tensor) },
  ".pb": {
    read: (bytes, file) => readTensor(bytes, { external: externalReader(path.dirname(file)) }),
    write: writeTensor,
  },
};

/** @throws Failure for a name with another ending. */
export function checkFormat(file: string): Format {
  const format = FORMATS[path.extname(file).toLowerCase()];
  if (format !== undefined) return format;
  throw wrongUsage(
    `${file} must end in ${Object.keys(FORMATS).join(" or ")}, which tells its format`,
  );
}

export function readTensorFile(file: string): Tensor {
  const { read } = checkFormat(file);
  return withPath(file, () => read(readRange(file), file));
}

/** The tensors of files, by the same names. */
export const readTensorFiles = (files: ReadonlyMap<string, string>): Map<string, Tensor> =>
  new Map([...files].map(([name, file]) => [name, readTensorFile(file)]));

/** A model: OpenVINO's where the name ends in `.xml`, else ONNX's. */
export const readModelFile = (file: string): Model =>
  withPath(file, () =>
    isIR(file)
      ? readIR(readRange(file), binBeside(file))
      : readModel(readRange(file), { external: externalReader(path.dirname(file)) }),
  );

/**
 * What `action` makes of a model that is looked at: constants stay in the files, which must be there until then, and of
 * any size. The weights of an IR may be missing.
 */
export const withModel = <T>(file: string, action: (model: Model) => T): T =>
  withPath(file, () => {
    if (!isIR(file)) {
      const external = externalReader(path.dirname(file));
      const read = (source: ByteSource): Model => readOutline(source, { external });
      return withFile(file, (source) => action(tellReading(file, source, read)));
    }
    const bin = binBeside(file);
    return action(readIR(readRange(file), bin.isThere ? bin : undefined));
  });

export const isIR = (file: string): boolean => path.extname(file).toLowerCase() === ".xml";

/** The files of a model: the `.bin` of an IR has the name of its `.xml`. */
export function modelFiles(file: string): readonly string[] {
  const { dir, name } = path.parse(file);
  return isIR(file) ? [file, path.join(dir, `${name}.bin`)] : [file];
}

/** The `.bin` of an IR, read in parts under the rules of external data. Where it is missing, reading it says so. */
function binBeside(file: string): ByteSource & { readonly isThere: boolean } {
  const { dir, name } = path.parse(file);
  const location = `${name}.bin`;
  const read = externalReader(dir === "" ? "." : dir);
  const stat = fs.statSync(path.join(dir, location), { throwIfNoEntry: false });
  return {
    isThere: stat !== undefined,
    size: stat?.size ?? Number.MAX_SAFE_INTEGER,
    read: (offset, length) => read(location, offset, length),
  };
}

/**
 * Reads external data inside `folder` alone. The library has refused absolute paths and `..` by then; what only the
 * disk can tell is refused here: links that lead out, folders, pipes and devices, and more bytes than there are.
 */
export const externalReader =
  (folder: string): ReadExternal =>
  (location, offset, length) => {
    try {
      const home = fs.realpathSync(folder);
      const file = fs.realpathSync(path.join(home, location));
      if (file.startsWith(home.endsWith(path.sep) ? home : home + path.sep)) {
        return readRange(file, offset, length);
      }
    } catch (cause) {
      const reason = reasonOf(cause);
      if (reason === null) throw cause;
      throw malformed(
        `the external data ${JSON.stringify(location)} cannot be read: ${reason}`,
        cause,
      );
    }
    throw malformed(
      `the external data ${JSON.stringify(location)} lie outside the folder of the model`,
    );
  };

const malformed = (sentence: string, cause?: unknown): TensorError =>
  new TensorError("malformed-file", sentence, {}, { cause });

/** No read or write of more than this at once: the system takes less than 2 GiB. */
const CHUNK = 2 ** 30;

/** `length` bytes from `offset` of a regular file, by default all of it. Nothing larger than the file is allocated. */
const readRange = (file: string, offset = 0, length?: number): Uint8Array =>
  withFile(file, ({ size, read }) => read(offset, length ?? size - offset));

function withFile<T>(file: string, action: (source: ByteSource) => T): T {
  // Opening a named pipe would wait for its writer.
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  try {
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) throw wrongData(`${file}: ${kindOf(stat)}`);
    const { size } = stat;
    return action({ size, read: (offset, length) => read(descriptor, file, size, offset, length) });
  } finally {
    fs.closeSync(descriptor);
  }
}

function read(
  descriptor: number,
  file: string,
  size: number,
  offset: number,
  length: number,
): Uint8Array {
  const end = offset + length;
  if (end > size) throw endsEarly(file, size, end);
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const most = Math.min(CHUNK, length - done);
    const count = fs.readSync(descriptor, bytes, done, most, offset + done);
    if (count === 0) throw endsEarly(file, offset + done, end);
    done += count;
  }
  return bytes;
}

const endsEarly = (file: string, size: number, end: number): TensorError =>
  malformed(`${file} ends at byte ${size}, but data reach to byte ${end}`);

const kindOf = (stat: fs.Stats): string =>
  stat.isDirectory() ? "it is a folder, not a file" : "it is not a regular file";

/** A tensor on its way to a file. */
export interface OutputFile {
  readonly file: string;
  readonly name: string;
  readonly tensor: Tensor;
}

/** Writes tensors, all or none; all of them are encoded first. */
export function writeTensorFiles(outputs: readonly OutputFile[]): void {
  writeFiles(
    outputs.map(({ file, name, tensor }) => ({
      file,
      bytes: withPath(file, () => checkFormat(file).write(tensor, name)),
    })),
  );
}

/**
 * Writes all files or, as far as the disk can promise it, none: each is written beside its place, and moved there when
 * all of them are on disk. A link is followed, so that it stays one.
 */
export function writeFiles(outputs: readonly { file: string; bytes: Uint8Array }[]): void {
  const moves: { file: string; from: string; to: string }[] = [];
  try {
    for (const { file, bytes } of outputs) {
      const { to, mode } = checkPlace(file);
      const from = `${to}.${randomUUID()}.tmp`;
      moves.push({ file, from, to });
      withPath(file, () => writeNew(from, bytes, mode));
    }
    for (const { file, from, to } of moves) withPath(file, () => fs.renameSync(from, to));
  } finally {
    for (const { from } of moves) fs.rmSync(from, { force: true });
  }
}

/**
 * Where an output really goes, and the permissions of the file that it replaces, if any.
 * @throws Failure where nothing can be written there, as far as looking tells.
 */
export function checkPlace(file: string): { to: string; mode: number | undefined } {
  return withPath(file, () => {
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) {
      fs.accessSync(path.dirname(file), fs.constants.W_OK);
      return { to: file, mode: undefined };
    }
    if (!stat.isFile()) throw wrongData(`${file}: ${kindOf(stat)}`);
    // Moving a file over it would not ask.
    fs.accessSync(file, fs.constants.W_OK);
    return { to: fs.realpathSync(file), mode: stat.mode };
  });
}

function writeNew(file: string, bytes: Uint8Array, mode: number | undefined): void {
  const descriptor = fs.openSync(file, "wx", mode);
  try {
    for (let done = 0; done < bytes.length;) {
      done += fs.writeSync(descriptor, bytes, done, Math.min(CHUNK, bytes.length - done));
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Whether two paths lead to one file, existing or not. */
export function isSameFile(a: string, b: string): boolean {
  if (path.resolve(a) === path.resolve(b)) return true;
  const [left, right] = [a, b].map((file) =>
    fs.statSync(file, { throwIfNoEntry: false, bigint: true }),
  );
  return (
    left !== undefined && right !== undefined && left.dev === right.dev && left.ino === right.ino
  );
}
