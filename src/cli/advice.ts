/**
 * Writes the advice at the end of a failure's message, because only the command line has the names of files, options
 * and commands.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import type { ErrorCode, TensorError } from "../entries/index.ts";
import { nearestName } from "../core/foreign.ts";
import type { Failure } from "./failure.ts";
import { printName } from "./text/layout.ts";
import { isTensorError } from "../core/errors.ts";
import { isDType } from "../core/tensor/dtype.ts";

interface Case {
  readonly command: string;
  /** The base folder for relative paths. */
  readonly cwd: string;
  /** The failing file, as the user typed it; null if no file is involved. */
  readonly file: string | null;
  readonly error: TensorError;
}

/** Matches messages that already contain advice, after a semicolon or as a question. */
const SAYS_ITSELF = /; |did you mean|: npm install/;

/** Commands whose options also work with `explain`. */
const EXPLAINED = new Set(["run", "compare"]);

/** Advice for calls that intentionally contain out-of-range indices. */
const BOUNDS = 'in code, the option bounds accepts such indices: "clip", "drop" or "fill"';

const explain = ({ command, error }: Case, what: string): string | null =>
  EXPLAINED.has(command) && error.op !== undefined
    ? `run ndscatter explain with the same inputs to see ${what}`
    : null;

/**
 * Maps each error code to its advice. The value is null if the message already says what to do, or if the command never
 * causes the error. Functions return null if the message needs no advice.
 */
export const ADVICE: Readonly<Record<ErrorCode, ((one: Case) => string | null) | null>> = {
  "shape-mismatch": (one) => explain(one, "the required shapes"),
  rank: (one) => explain(one, "the required ranks"),
  axis: (one) => explain(one, "the axes"),
  "index-out-of-range": (one) => {
    // The `explain` command has already printed every out-of-range index.
    if (one.command === "explain") return null;
    const shown = explain(one, "every bad index");
    return shown === null
      ? "check the indices against the size of that axis"
      : `${shown}; ${BOUNDS}`;
  },
  // No command option forbids repeated targets.
  "duplicate-index": null,
  dtype: ({ error }) => castAdvice(error),
  attribute: ({ error: { op } }) =>
    op === undefined ? null : `ndscatter ops ${printName(op)} lists its attributes`,
  reduction: ({ error: { op } }) =>
    op === undefined ? null : `ndscatter ops ${printName(op)} lists the reductions of its versions`,
  // Commands never pass `out` to a call, and job messages already contain advice.
  overlap: null,
  // Commands never dispose their tensors.
  disposed: null,
  "unknown-operator": () => "ndscatter ops lists operators and versions",
  "unsupported-model": unsupportedAdvice,
  "unsupported-file": () =>
    "save the data in a supported format; docs/files.md and docs/arrays/zarr.md list the formats",
  "unsupported-codec": () =>
    "save the array with another codec; docs/arrays/zarr.md lists the codecs",
  "unsupported-dtype": () => "save the values as numbers; docs/arrays/zarr.md lists the data types",
  "malformed-file": (one) => absentAdvice(one) ?? fileAdvice(one),
  "too-large": ({ command }) =>
    command === "run"
      ? "--memory 1G runs an operator chunk by chunk"
      : "use a smaller array, or a machine with more memory",
  engine: () => "run the command again; --debug prints the stack trace",
  runtime: ({ command }) =>
    command === "verify" || command === "fix"
      ? "run ndscatter inspect, which finds faults without a runtime"
      : "run ndscatter verify with the same inputs, which looks for the node that fails",
};

/** Appends advice to a failure's message, unless the message already contains advice. */
export function withAdvice(failure: Failure, command: string, cwd: string): string {
  const { message, cause, file } = failure;
  if (SAYS_ITSELF.test(message)) return message;
  const advice = isTensorError(cause)
    ? (ADVICE[cause.code]?.({ command, cwd, file, error: cause }) ?? null)
    : systemAdvice(cause);
  return advice === null ? message : `${message}; ${advice}`;
}

const NUMPY = /^(bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128))$/;

/** Preferred data types for advice, if a message allows several types. For floats, the type keeps fractions. */
const USUAL = ["int64", "float32"] as const;
const USUAL_OF_FLOATS = ["float32"] as const;

/** Advises converting a tensor to an accepted data type, preferably a common one. */
function castAdvice({ input, at, got, expected, allowed }: TensorError): string | null {
  const types: readonly unknown[] = allowed ?? [expected];
  // Converting applies neither to a single element nor to an unknown data type.
  if (!types.every(isDType) || at !== undefined || !isDType(got)) return null;
  // The messages about `actual` and `outputGradient` already name files.
  if (input === "actual" || input === "outputGradient") return null;
  const usual = got.includes("float") ? USUAL_OF_FLOATS : USUAL;
  const dtype = usual.find((one) => types.includes(one)) ?? types[0];
  return NUMPY.test(dtype)
    ? `convert its data type, in NumPy with ${input ?? "array"}.astype("${dtype}")`
    : `give a ${dtype} tensor`;
}

function unsupportedAdvice({ command }: Case): string {
  if (command === "convert")
    return "choose another opset with --opset, or convert a single node with --node";
  if (command === "run") {
    return "use --node to run a single node, or --with onnxruntime-node to run the whole model";
  }
  return "use --node to choose a single node of the model";
}

const FILE_ADVICE: Readonly<Record<string, string>> = {
  npy: "save the array again with np.save",
  onnx: "export the model again; onnx.checker.check_model may report more faults",
  xml: "save the model again with openvino.save_model",
  zarr: "write the array again with the program that created it",
};

function fileAdvice({ command, file, error }: Case): string {
  if (command === "job") return "remove the job with ndscatter job remove, and start the job again";
  const [, ending = ""] =
    /\.(npy|onnx|pb|xml|zarr)(?=[:\s/[]|$)/i.exec(file ?? error.file ?? "") ?? [];
  const advice =
    FILE_ADVICE[ending.toLowerCase()] ?? "write the file again with the program that created it";
  const isShort = ending.toLowerCase() === "npy" && error.key === "size";
  return isShort ? `the file is truncated; copy it again, or ${advice}` : advice;
}

const SYSTEM_ADVICE: Readonly<Record<string, string>> = {
  EACCES: "check the file's permissions",
  EPERM: "check the file's permissions",
  ENOSPC: "free some space on the disk",
  ENOTDIR: "check the folders in the path",
  EMFILE: "allow more open files (ulimit -n)",
};

/** Returns advice about a system error, such as a missing file. Returns null for other values. */
function systemAdvice(cause: unknown): string | null {
  if (cause instanceof RangeError)
    return "use a smaller array, or run the command with --memory 1G";
  if (!(cause instanceof Error) || !("code" in cause)) return null;
  if (cause.code !== "ENOENT") return SYSTEM_ADVICE[String(cause.code)] ?? null;
  // Commands call `access` only for output folders.
  if ("syscall" in cause && cause.syscall === "access") return "create the folder first";
  return "path" in cause ? missingAdvice(String(cause.path)) : null;
}

/**
 * Returns advice about a missing Zarr array. The library cannot distinguish a missing array from a folder without an
 * array.
 */
function absentAdvice({ error: { key, expected, file }, cwd }: Case): string | null {
  const isAbsent = key === undefined && (expected === "array" || expected === "group");
  if (!isAbsent || file === undefined || file.includes("://")) return null;
  const place = path.resolve(cwd, file);
  if (fs.existsSync(place)) return "name a folder that contains one of these files";
  return missingAdvice(place);
}

const MOST_LISTED = 5;

/** Suggests the most similar file name, or lists a few files of the same format. */
function missingAdvice(place: string): string {
  const { dir, name, ext } = path.parse(place);
  const names = namesIn(dir);
  if (names === null) return "check the folders in the path";
  if (names.includes(name + ext))
    return "the file is a link whose target is missing; repair the link";
  const alike = names.filter((one) => path.extname(one) === ext);
  const stem = nearestName(
    name,
    alike.map((one) => path.parse(one).name),
  );
  const near = stem === null ? names.find((one) => path.parse(one).name === name) : stem + ext;
  if (near !== undefined) return `did you mean ${printName(near)}?`;
  if (alike.length === 0 || alike.length > MOST_LISTED || ext === "") {
    return "check the name and the folder";
  }
  return `the ${ext} files in its folder are ${alike.map(printName).join(", ")}`;
}

/** Returns a sorted list of file names, or null if the folder is unreadable. */
function namesIn(folder: string): readonly string[] | null {
  try {
    return fs.readdirSync(folder).toSorted();
  } catch {
    return null;
  }
}
