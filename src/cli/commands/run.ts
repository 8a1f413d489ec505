/** Implements `ndscatter run`, which runs an operator, a model or a model node on tensors from files. */

import * as fs from "node:fs";
import * as path from "node:path";
import { Option, type Command } from "commander";
import type { Tensor } from "../../entries/index.ts";
import { printFile, withPath, wrongData, wrongUsage } from "../failure.ts";
import {
  addCodec,
  bindFiles,
  bindInputFiles,
  givenOption,
  memoryOption,
  PACKAGES,
  parseChunks,
  repeatable,
  wholeOption,
  isUrl,
  partOf,
  placeOf,
} from "../input/arguments.ts";
import { checkOneInput, readTensorFiles, checkFormat } from "../input/read-files.ts";
import { containerOf } from "../../arrays/boxes/urls.ts";
import { checkNotRead, checkPlace, isSameFile, writeFiles } from "../input/write-files.ts";
import { printNote, printResult, type Io } from "../io.ts";
import { valuesOf, printType } from "../text/cells.ts";
import type { Comparison } from "../text/differences.ts";
import { JSON_HELP, printName } from "../text/layout.ts";
import type { ChunkedOptions } from "./chunked-run.ts";
import { addTaskArguments, findTask, type Task, type TaskOptions } from "./task.ts";

interface RunOptions extends TaskOptions, ChunkedOptions {
  /** The npm package of the runtime in which the model runs. */
  readonly with?: string;
}

const CHUNKED_HELP = `
With a Zarr input, --memory or --job, arrays are read and written chunk by chunk.
The arrays may then be larger than memory, and the result has the same bits.
Inputs are Zarr arrays or .npy files, also in archives, as in x.npz/rows. -o
names the new array, and --in-place changes data. 'a.zarr[10:20, ::2]' is a part
of an array. If the axes of data have names, --axis accepts a name. After an
interruption, run the same command again to continue. All indices are checked
before any output is written.`;

const HELP = `
Files end in .npy (NumPy) or .pb (ONNX TensorProto). Write NAME=FILE, or give the
files without names in the order of the inputs or outputs. One input or the model
may be - for standard input: the content then determines the format, and no other
files of the model are read. Without -o and --expect the results are printed. If
a model file has the name of an operator, write ./NAME. A model is an ONNX file,
or an OpenVINO .xml with its .bin in the same folder.

-o replaces an existing file. An input is replaced only if the result has the
same data type and shape; the model and expected results are never replaced.
Files are written only after all results are computed and checked. A file is
replaced completely or not at all. Links are followed, and other hard links of
the file keep the old contents.

--with runs a whole model, with any operators, in the ONNX Runtime that is
installed in the folder where the command runs. This package computes the
model's scatters, so their results are exact and the same in every run.

--expect compares bit for bit: 0 is not -0, and NaN only equals the same NaN. If
the result of a single node differs, the command names the known faults that
would produce the expected file; docs/other-systems.md lists the faults.
${CHUNKED_HELP}

Examples:
  ndscatter run examples/kv-cache.onnx examples/kv-cache.cache.npy examples/kv-cache.where.npy examples/kv-cache.key.npy
  ndscatter run ScatterElements --attr reduction=add examples/graph-sum.sums.npy examples/graph-sum.targets.npy examples/graph-sum.messages.npy
  ndscatter run ScatterND data.npy indices.npy updates.npy
  ndscatter run ScatterND --opset 18 --attr reduction=add d.npy i.npy u.npy -o out.npy
  ndscatter run ScatterNDUpdate --domain openvino --attr reduction=sum d.npy i.npy u.npy
  ndscatter run model.onnx data=d.npy indices=i.npy updates=u.npy -o y=out.npy
  ndscatter run model.onnx d.npy i.npy u.npy --expect y=expected.npy
  ndscatter run model.onnx --with onnxruntime-node x=x.npy -o y=y.npy
  ndscatter run net.xml data=d.npy updates=u.npy
  produce-updates | ndscatter run ScatterND d.npy i.npy -
  ndscatter run large.onnx --node /ScatterND cache.npy i.npy u.npy -o cache.npy
  ndscatter run ScatterND table.zarr ids.npy rows.npy -o new.zarr --memory 1G
  ndscatter run ScatterND table.zarr ids.npy rows.npy --in-place --job job/`;

const CHUNKED_OPTIONS: readonly Option[] = [
  memoryOption("run chunk by chunk within this amount of memory, such as 1G"),
  new Option("--job <folder>", "run chunk by chunk, and keep unfinished work in this folder"),
  new Option("--in-place", "change data (a Zarr array) instead of writing a new array"),
  new Option(
    "--codec <name>",
    "a codec of the new Zarr array, such as zstd or gzip:9; repeatable (default: the codecs of data)",
  ).argParser(addCodec),
  new Option(
    "--chunks <shape>",
    "the chunk shape of the new Zarr array, such as 1000,128 (default: the chunk shape of data)",
  ).argParser(parseChunks),
  new Option(
    "--shards <shape>",
    "the shard shape of the new Zarr array, a multiple of --chunks",
  ).argParser(parseChunks),
  wholeOption("--threads <count>", "the number of chunks that are processed at once", 1),
  new Option(
    "--redis [url]",
    "let queue workers (ndscatter job worker) run the job; the default URL is in NDSCATTER_REDIS",
  ),
  new Option("--queue <name>", "the name of the queue (default: ndscatter)"),
  new Option(
    "--plan",
    "print the job's tasks and the memory and disk space that they need, without running it",
  ),
  new Option("--slurm", "print the sbatch commands that run the job"),
  wholeOption(
    "--tasks-per-element <count>",
    "the number of tasks for each Slurm array element, which determines the number of elements (default: one per thread)",
    1,
  ),
];

export function addRunCommand(program: Command, io: Io): void {
  const command = program
    .command("run")
    .summary("run an operator, a model or one node of a model")
    .description("Run an operator, a model made of the operators, or one node of any model.");
  addTaskArguments(command)
    .addOption(
      new Option(
        "--with <package>",
        "run the model in your ONNX Runtime, with its scatters computed exactly by this package",
      ).choices(PACKAGES),
    )
    .optionsGroup("Chunk by chunk:");
  for (const one of CHUNKED_OPTIONS) command.addOption(one);
  command
    .optionsGroup("Results:")
    .addOption(repeatable("-o, --output <[name=]file>", "write a result to this file; repeatable"))
    .addOption(
      repeatable(
        "--expect <[name=]file>",
        "compare a result with this file; the status is 1 if they differ; repeatable",
      ),
    )
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (target: string, inputs: readonly string[], options: RunOptions) => {
      if (options.with !== undefined) {
        const { exactTask } = await import("./exact-task.ts");
        const task = exactTask(io, target, options.with, options, chunkedOption(options));
        return runTask(io, task, inputs, options);
      }
      if (!isChunked(io, inputs, options))
        return runTask(io, findTask(io, target, options, true), inputs, options);
      const { runChunked } = await import("./chunked-run.ts");
      return runChunked(io, target, inputs, options);
    });
}

const fileOf = (text: string): string => text.replace(/^\w+=/, "");

const chunkedOption = (options: RunOptions): string | undefined =>
  givenOption(
    options,
    CHUNKED_OPTIONS.map((one) => one.attributeName() as keyof RunOptions),
  );

/** Returns true if the options or inputs require a chunked run. */
function isChunked(io: Io, texts: readonly string[], options: RunOptions): boolean {
  if (chunkedOption(options) !== undefined) return true;
  const inputs = texts.map((text) => partOf(io, fileOf(text)));
  const places = inputs.map(({ place }) => place);
  const outputs = (options.output ?? []).map((text) => placeOf(io, fileOf(text)));
  // A folder, or a path with parts, must be a chunked array.
  return (
    [...places, ...outputs].some(isNamed) ||
    places.some(isFolder) ||
    inputs.some(({ ranges }) => ranges !== null)
  );
}

/** Returns true if the name can only refer to a chunked array. */
const isNamed = (file: string): boolean =>
  isUrl(file) ||
  path.extname(file).toLowerCase() === ".zarr" ||
  (containerOf(file) !== null && !fs.existsSync(file));

/** Returns false for an invalid path, because reading or writing the file will report the error. */
function isFolder(file: string): boolean {
  try {
    return fs.statSync(file).isDirectory();
  } catch {
    return false;
  }
}

async function runTask(
  io: Io,
  task: Task,
  texts: readonly string[],
  options: RunOptions,
): Promise<void> {
  const { title, outputs, file, notes } = task;
  const sources = bindInputFiles(texts, task);
  const targets = bindFiles(options.output ?? [], outputs, "output", title);
  const expectations = bindFiles(options.expect ?? [], outputs, "output", title);
  checkOneInput([file, ...sources.values(), ...expectations.values()]);
  const kept = [...expectations.values(), ...(file === undefined ? [] : [file])];
  checkTargets(io, [...targets.values()], kept);

  const tensors = readTensorFiles(io, sources);
  const expected = readTensorFiles(io, expectations);
  const results = await task.execute(tensors);
  checkInPlace(io, targets, results, sources, tensors);
  // All results are encoded before the first file is written.
  const written = [...targets].map(([name, path]) => {
    const result = resultOf(results, name);
    return { file: path, bytes: withPath(path, () => checkFormat(path).write(result, name)) };
  });
  await writeFiles(io, written);
  for (const name of expected.keys()) resultOf(results, name);
  // The code that explains differences is loaded only for --expect.
  const differences = expected.size === 0 ? null : await import("../text/differences.ts");
  const made = [...results].map(([name, tensor]): Output => {
    const output = { name, tensor, file: targets.get(name) };
    const wanted = expected.get(name);
    if (wanted === undefined || differences === null) return output;
    const against = expectations.get(name) ?? "";
    const call = task.isOneNode ? task.call(tensors) : null;
    const compared = differences.compareResult(name, tensor, wanted, against, call);
    return { ...output, expected: against, compared };
  });
  await printResult(
    io,
    options.json ? { outputs: made.map(outputFacts) } : made.map(outputText).join("\n"),
  );
  await printNote(io, ...notes);
  const sentences = [...expected.keys()].flatMap(
    (wanted) => made.find(({ name }) => name === wanted)?.compared?.sentence ?? [],
  );
  if (sentences.length > 0) throw wrongData(sentences.join("; "));
}

function resultOf(results: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const result = results.get(name);
  if (result === undefined)
    throw wrongData(
      `the call has no result ${printName(name)}; its results are ${[...results.keys()].map(printName).join(", ")}`,
    );
  return result;
}

/** Validates the output files before reading any input. The outputs must not overwrite files in `kept`. */
function checkTargets(io: Io, targets: readonly string[], kept: readonly string[]): void {
  for (const [position, target] of targets.entries()) {
    checkFormat(target);
    checkPlace(io, target);
    if (targets.slice(0, position).some((other) => isSameFile(io, target, other))) {
      throw wrongUsage(`two outputs have the same file ${target}; give a file for each output`);
    }
    checkNotRead(io, target, kept);
  }
}

/**
 * Checks that an output overwrites an input file only if their types are equal, as in an in-place update. An output
 * with a different type would destroy the input data.
 */
function checkInPlace(
  io: Io,
  targets: ReadonlyMap<string, string>,
  results: ReadonlyMap<string, Tensor>,
  sources: ReadonlyMap<string, string>,
  tensors: ReadonlyMap<string, Tensor>,
): void {
  for (const [output, target] of targets) {
    for (const [input, source] of sources) {
      const types = [tensors.get(input), resultOf(results, output)].map(
        (one) => one && printType(one),
      );
      if (types[0] === types[1] || !isSameFile(io, target, source)) continue;
      throw wrongUsage(
        `the output ${target} is ${types[1]}, so it cannot replace the input ${printName(input)}, ${types[0]}; give another output`,
      );
    }
  }
}

interface Output {
  readonly name: string;
  readonly tensor: Tensor;
  readonly file: string | undefined;
  readonly expected?: string;
  readonly compared?: Comparison;
}

/** Returns true if the result must be printed, because the user neither saves nor compares it. */
const isPrinted = ({ file, expected }: Output): boolean =>
  file === undefined && expected === undefined;

function outputText(output: Output): string {
  const { name, tensor, file, expected = "", compared } = output;
  const how = compared?.facts.equal === true ? "equals" : "differs from";
  return [
    `${printName(name)}: ${printType(tensor)}`,
    ...(file === undefined ? [] : [`  written to ${file}`]),
    ...(compared === undefined ? [] : [`  ${how} ${printFile(expected)}`]),
    ...(compared?.reasons ?? []).map((line) => `  ${line}`),
    ...(isPrinted(output) ? [String(tensor)] : []),
  ].join("\n");
}

function outputFacts(output: Output): object {
  const { name, tensor, file, expected, compared } = output;
  const { dtype, shape } = tensor;
  const values = isPrinted(output) ? valuesOf(tensor) : undefined;
  return { name, dtype, shape, file, expected, ...compared?.facts, values };
}
