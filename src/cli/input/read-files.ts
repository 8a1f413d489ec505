/**
 * Reads tensors and models from disk, and lists the models in folders. One file may come from standard input.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { Failure, reasonOf, STDIN, withPath, wrongData, wrongUsage } from "../failure.ts";
import { type Io, showProgress } from "../io.ts";
import { quote } from "../text/layout.ts";
import { FILES } from "../../core/limits.ts";
import { OPEN } from "../../core/resources.ts";
import type { Tensor } from "../../entries/index.ts";
import type { ByteSource, Model, ReadExternal } from "../../entries/onnx.ts";
import { readNpy } from "../../arrays/npy/reader.ts";
import { writeNpy } from "../../arrays/npy/writer.ts";
import { TensorError } from "../../core/errors.ts";
import { externalFiles } from "../../models/onnx/external.ts";
import { readOutline } from "../../models/onnx/outline.ts";
import { readModel } from "../../models/onnx/read-model.ts";
import { readTensor, writeTensor } from "../../models/onnx/tensor.ts";
import { readIR } from "../../models/openvino/read-ir.ts";

/** Throws a `Failure` if the file name has no known extension, or the file does not contain a tensor. */
export function readTensorFile(io: Io, file: string): Tensor {
  if (file === STDIN) {
    return withPath(file, () => {
      const bytes = readInput(io);
      return formatOf(bytes).read(bytes, fromNoFolder);
    });
  }
  const { read } = checkFormat(file);
  return withPath(file, () => read(readRange(io, file), externalReader(folderOf(io, file))));
}

export const readTensorFiles = (io: Io, files: ReadonlyMap<string, string>): Map<string, Tensor> =>
  new Map([...files].map(([name, file]) => [name, readTensorFile(io, file)]));

export const readBytes = (io: Io, file: string): Uint8Array =>
  withPath(file, () => (file === STDIN ? readInput(io) : readRange(io, file)));

/**
 * Reads a model: The format is OpenVINO's if the name ends in `.xml` or standard input is XML, and ONNX's otherwise.
 */
export const readModelFile = (io: Io, file: string): Model =>
  withPath(file, () => {
    if (file === STDIN) return inputModel(io, NO_BIN);
    return isIR(file)
      ? readIR(readRange(io, file), binBeside(io, file))
      : readModel(readRange(io, file), { external: externalReader(folderOf(io, file)) });
  });

/**
 * Calls `action` with a model of any size, and returns the result. The model's constants are read from its files on
 * demand, so `action` must not keep a reference to the model. The `.bin` file of an OpenVINO model may be missing.
 */
export const withModel = <T>(io: Io, file: string, action: (model: Model) => T): T =>
  withPath(file, () => {
    if (file === STDIN) return action(inputModel(io));
    if (!isIR(file)) {
      const external = externalReader(folderOf(io, file));
      const read = (source: ByteSource): Model => readOutline(source, { external });
      return withFile(io, file, (source) => action(showProgress(file, source, read, io.stderr)));
    }
    const bin = binBeside(io, file);
    return action(readIR(readRange(io, file), bin.exists ? bin : undefined));
  });

function readInput({ stdin }: Io): Uint8Array {
  if (stdin.isTTY) {
    throw wrongUsage("standard input is a terminal; pipe a file into the command, or name one");
  }
  const bytes = stdin.read();
  if (bytes.length === 0)
    throw wrongData("standard input is empty; pipe a file into the command, or name one");
  return bytes;
}

/** Throws a `Failure` if several files refer to standard input. */
export function checkOneInput(files: readonly (string | undefined)[]): void {
  const count = files.filter((file) => file === STDIN).length;
  if (count < 2) return;
  throw wrongUsage(
    `standard input is one file, but - is given for ${count} files; name the others`,
  );
}

/**
 * Returns the model in standard input. An IR begins with an element or an XML declaration, and an ONNX model never
 * does.
 */
function inputModel(io: Io, bin?: ByteSource): Model {
  const bytes = readInput(io);
  const isXml = /^\s*<(?:[?]xml\b|!--|net\b)/.test(new TextDecoder().decode(bytes.subarray(0, 64)));
  return isXml ? readIR(bytes, bin) : readModel(bytes, { external: fromNoFolder });
}

/** Throws an error for external data, because a model from standard input has no folder. */
export const fromNoFolder = (location = ".bin file"): never => {
  const sentence = `a model in standard input has no ${location}; give the name of the model file`;
  throw new TensorError("unsupported-model", sentence, { file: location });
};

const NO_BIN: ByteSource = { size: Number.MAX_SAFE_INTEGER, read: () => fromNoFolder() };

export const isIR = (file: string): boolean => path.extname(file).toLowerCase() === ".xml";

/** Maximum number of bytes before the first XML element of an OpenVINO model. */
const XML_HEAD = 4096;

/** Returns true if a file is an IR, not another document. The result is also true for a file that cannot be read. */
function isIRFile(io: Io, file: string): boolean {
  try {
    const head = withFile(io, file, ({ size, read }) => read(0, Math.min(size, XML_HEAD)));
    return /<net[\s>]/.test(new TextDecoder().decode(head));
  } catch {
    return true;
  }
}

/**
 * Returns the file names of a model. An OpenVINO model has an `.xml` file and a `.bin` file with the same base name.
 */
export function modelFiles(file: string): readonly string[] {
  const { dir, name } = path.parse(file);
  return isIR(file) ? [file, path.join(dir, `${name}.bin`)] : [file];
}

/** Returns all files of a model, including external data files. */
export const filesOf = (file: string, model: Model): readonly string[] => [
  ...modelFiles(file),
  ...withPath(file, () => externalFiles(model)).map((one) => path.join(path.dirname(file), one)),
];

export const folderOf = ({ cwd }: Io, file: string): string =>
  path.dirname(path.resolve(cwd, file));

/** Returns the `.bin` of an IR, read by ranges under the rules of external data. Reading a missing file throws. */
function binBeside(io: Io, file: string): ByteSource & { readonly exists: boolean } {
  const folder = folderOf(io, file);
  const location = `${path.parse(file).name}.bin`;
  const read = externalReader(folder);
  const stat = fs.statSync(path.join(folder, location), { throwIfNoEntry: false });
  return {
    exists: stat !== undefined,
    size: stat?.size ?? Number.MAX_SAFE_INTEGER,
    read: (offset, length) => read(location, offset, length),
  };
}

/**
 * Reads external data only within `folder`. The library has already refused absolute paths and `..`. The reader refuses
 * links that lead out of the folder, folders, pipes, devices, and a range beyond the end of the file. The whole file is
 * read if no range is given.
 */
export const externalReader =
  (folder: string) =>
  (location: string, offset?: number, length?: number): Uint8Array => {
    try {
      const home = fs.realpathSync(folder);
      const file = fs.realpathSync(path.join(home, location));
      // The comparison includes the path separator, because a sibling folder's name may begin with this folder's name.
      if (file.startsWith(path.join(home, path.sep))) {
        return readRange({ cwd: home }, file, offset, length);
      }
    } catch (cause) {
      const reason = reasonOf(cause);
      if (reason === null) throw cause;
      throw malformed(
        `the external data ${quote(location)} cannot be read: ${reason}; put it in the folder of the model`,
        cause,
      );
    }
    throw malformed(
      `the external data ${quote(location)} must be in the model's folder, got a path outside it; copy the file there`,
    );
  };

const malformed = (sentence: string, cause?: unknown): TensorError =>
  new TensorError("malformed-file", sentence, {}, { cause });

type Folder = Pick<Io, "cwd">;

/**
 * `length` bytes from `offset` of a regular file, by default the whole file. The buffer never exceeds the size of the
 * file.
 */
const readRange = (io: Folder, file: string, offset = 0, length?: number): Uint8Array =>
  withFile(io, file, ({ size, read }) => read(offset, length ?? size - offset));

export function withFile<T>({ cwd }: Folder, file: string, action: (source: ByteSource) => T): T {
  // O_NONBLOCK is set, because opening a named pipe would otherwise wait until another process writes to the pipe.
  const flags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
  const descriptor = fs.openSync(path.resolve(cwd, file), flags);
  OPEN.files++;
  try {
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) throw notRegular(file, stat);
    const { size } = stat;
    return action({ size, read: (offset, length) => read(descriptor, file, size, offset, length) });
  } finally {
    fs.closeSync(descriptor);
    OPEN.files--;
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
    const most = Math.min(FILES.atOnce, length - done);
    const count = fs.readSync(descriptor, bytes, done, most, offset + done);
    // Another process must have truncated the file after its size was read.
    if (count === 0) throw endsEarly(file, offset + done, end);
    done += count;
  }
  return bytes;
}

const endsEarly = (file: string, size: number, end: number): TensorError =>
  malformed(
    `${file} ends at byte ${size}, but its data end at byte ${end}; the file is truncated; copy it again`,
    { file, got: size, expected: end },
  );

/** Returns an error if the path is a folder, a pipe or a device instead of a regular file. */
export const notRegular = (file: string, stat: fs.Stats): Error =>
  wrongData(
    `${file} must be a file, got ${stat.isDirectory() ? "a folder" : "a pipe or a device"}; name a file`,
  );

/** A readable model file, or an unreadable folder. */
export interface FoundFile {
  readonly file: string;
  readonly failure?: Failure;
}

/** Sorts numbers in file names by value, so that `block10` follows `block9`. */
const { compare } = new Intl.Collator("en", { numeric: true });

export const isFolder = ({ cwd }: Io, file: string): boolean =>
  file !== STDIN &&
  (fs.statSync(path.resolve(cwd, file), { throwIfNoEntry: false })?.isDirectory() ?? false);

/**
 * Yields the files specified in `given`, in order. Folders are read lazily, and `looking` is called for each folder.
 */
export function* findModels(
  io: Io,
  given: string,
  looking: (folder: string) => void,
): Iterable<FoundFile> {
  if (!isFolder(io, given)) {
    yield { file: given };
    return;
  }
  let count = 0;
  for (const found of modelsIn(io, given, looking)) {
    count++;
    yield found;
  }
  if (count > 0) return;
  const failure = wrongData(`${given} must contain an .onnx file, or an .xml file of OpenVINO`);
  yield { file: given, failure };
}

function* modelsIn(io: Io, folder: string, looking: (folder: string) => void): Iterable<FoundFile> {
  looking(folder);
  let entries: fs.Dirent[];
  try {
    entries = withPath(folder, () =>
      fs.readdirSync(path.resolve(io.cwd, folder), { withFileTypes: true }),
    );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    yield { file: folder, failure: error };
    return;
  }
  for (const entry of entries.toSorted((a, b) => compare(a.name, b.name))) {
    const { name } = entry;
    const place = path.join(folder, name);
    // Symbolic links to folders are not followed, because they may create cycles.
    if (entry.isDirectory()) {
      if (!isPassedOver(name)) yield* modelsIn(io, place, looking);
    } else if (isModelName(name) && !isFolder(io, place)) {
      if (!isIR(name) || isIRFile(io, place)) yield { file: place };
    }
  }
}

/** Returns true for folders that usually contain no user models. */
const isPassedOver = (name: string): boolean => name.startsWith(".") || name === "node_modules";

const isModelName = (name: string): boolean => isIR(name) || /\.onnx$/i.test(name);

interface Format {
  read(bytes: Uint8Array, external: ReadExternal): Tensor;
  write(tensor: Tensor, name: string): Uint8Array;
}

const FORMATS: Readonly<Record<string, Format>> = {
  ".npy": { read: (bytes) => readNpy(bytes), write: (tensor) => writeNpy(tensor) },
  ".pb": { read: (bytes, external) => readTensor(bytes, { external }), write: writeTensor },
};

/** Detects the format of a tensor without a file name. The first bytes of an NPY file never begin a TensorProto. */
const formatOf = (bytes: Uint8Array): Format =>
  FORMATS[NPY_MAGIC.every((byte, at) => bytes[at] === byte) ? ".npy" : ".pb"];

/** The text `\x93NUMPY`. */
const NPY_MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** Throws a `Failure` for any other file extension. */
export function checkFormat(file: string): Format {
  const format = FORMATS[path.extname(file).toLowerCase()];
  if (format !== undefined) return format;
  const advice = /\.(?:npz|zip)$/i.test(file)
    ? "; name an array in the archive, as in x.npz/rows"
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
