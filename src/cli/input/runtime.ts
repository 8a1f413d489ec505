/**
 * Loads the user's ONNX Runtime from the folder in which the command runs. ONNX Runtime is not a dependency of this
 * package.
 */

import { createRequire } from "node:module";
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { Option, type Command } from "commander";
import { printCount } from "../../core/foreign.ts";
import { isTensorError } from "../../entries/index.ts";
import {
  externalFiles,
  readModel,
  writeModel,
  type Attribute,
  type Constant,
  type CreateSession,
  type Graph,
  type Model,
  type ReadExternal,
  type Session,
  type SessionSettings,
} from "../../entries/onnx.ts";
import { errorAt, printFile, STDIN, withPath, wrongUsage } from "../failure.ts";
import { type Io, ProgressLine } from "../io.ts";
import { PACKAGES, parseWhole, repeatable, wholeOption } from "./arguments.ts";
import { addFeedOptions, expectedOf, feedsOf, type FeedOptions } from "./feeds.ts";
import { externalReader, folderOf, fromNoFolder, readBytes, withFile } from "./read-files.ts";
import { CLI } from "../../core/limits.ts";
import { withBodies } from "../../models/model/uses.ts";
import { lightModel, withWeightsOf } from "../../models/onnx/light-model.ts";

/** The part of the runtime's interface that this package uses. */
interface Runtime {
  readonly name: string;
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<Session>;
  };
}

/** Options for commands that run a model in the user's runtime. */
export interface RuntimeOptions extends FeedOptions {
  /** Thread counts to test in the runtime. */
  readonly threads?: readonly number[];
  readonly iteration?: number;
  readonly call?: number;
  readonly runtime?: string;
  readonly provider?: string;
}

export const addRuntimeOptions = (command: Command): Command =>
  command
    .optionsGroup("The runtime:")
    .addOption(
      new Option(
        "--runtime <package>",
        "the runtime to use, if several runtimes are installed",
      ).choices(PACKAGES),
    )
    .option("--provider <name>", "the runtime's execution provider, such as webgpu")
    .option(
      "--threads <counts>",
      "the runtime's thread counts; 1,4 runs once with 1 thread and once with 4",
      (text: string) => text.split(",").map((one) => parseWhole(one, "--threads", 1)),
    )
    .addOption(
      wholeOption(
        "--iteration <number>",
        "the loop iteration to run, counted from 0 (default: 0)",
        0,
      ),
    )
    .addOption(
      wholeOption(
        "--call <number>",
        "run only this call of the function that contains the node, counted from 0 (default: 0)",
        0,
      ),
    );

/** Adds the argument and the options of commands that check the nodes of a model. */
export const addCheckOptions = (command: Command): Command =>
  addFeedOptions(
    addRuntimeOptions(
      command
        .argument("<model>", "an ONNX model")
        .option("--node <name>", "check only this node, by any name that explain accepts"),
    ),
  )
    .optionsGroup("Output:")
    .addOption(
      repeatable(
        "--expected <name=file>",
        "the output that you expect, such as PyTorch's; repeatable",
      ),
    );

type Sessions = Awaited<ReturnType<typeof makeSessions>>;

/**
 * `starting` is called before each session runs, because a run may take long and cannot be interrupted. Throws a
 * `Failure` if no runtime is installed.
 */
async function makeSessions(
  io: Io,
  file: string,
  { threads = [], runtime: name, provider }: RuntimeOptions,
  starting: () => void,
  isBrief: boolean,
) {
  const runtime = await loadRuntime(io, name);
  const folder = folderOf(io, file);
  const { external } = externalOf(io, file);
  const maker =
    (count?: number, on = provider): CreateSession =>
    (bytes, settings) => {
      starting();
      const [model, options] = withWeights(runtime, bytes, folder, external, isBrief);
      return runtime.InferenceSession.create(model, {
        // The runtime need not log messages, because the command reports them.
        logSeverityLevel: 4,
        ...(on !== undefined && { executionProviders: [on] }),
        ...(count !== undefined && { intraOpNumThreads: count }),
        ...settingsFor(runtime, settings),
        ...options,
      });
    };
  const [first, ...more] = threads;
  const others = more.map((count) => [printCount(count, "thread"), maker(count)] as const);
  return {
    runtime: runtime.name,
    /** Options of the functions of `ndscatter/onnx`. */
    own: { createSession: maker(first), external },
    /** Session factories for additional thread counts, by title. */
    others: Object.fromEntries(others),
    // The package onnxruntime-web sets one thread count for all sessions.
    oneThread: runtime.name === "onnxruntime-node" ? maker(1) : null,
    onCpu: maker(first, "cpu"),
  };
}

/**
 * Returns the settings to pass to a session. Settings with a thread count are not passed to onnxruntime-web, which has
 * one thread count for all sessions.
 */
function settingsFor({ name }: Runtime, settings: SessionSettings = {}): SessionSettings {
  if (name === "onnxruntime-node" || !("intraOpNumThreads" in settings)) return { ...settings };
  return {};
}

/**
 * Returns a model, and the options that tell a runtime the location of the model's external data. onnxruntime-node maps
 * the files into memory and loads only the parts in use: a node of a model with 2.7 GB of weights takes 80 MB, and
 * buffers of the files would take four times the size of the files. The model for onnxruntime-web gets the weights,
 * because that package opens no files.
 */
function withWeights(
  { name }: Runtime,
  bytes: Uint8Array,
  folder: string,
  external: ReadExternal,
  isBrief: boolean,
): readonly [model: Uint8Array, options: object] {
  const model = readModel(bytes, { external });
  const files = externalFiles(model);
  if (files.length === 0) return [bytes, {}];
  if (name !== "onnxruntime-node") return [writeModel(withOwnData(model)), {}];
  // Reading 0 bytes detects links that lead outside the folder, which the runtime might follow. A model from standard
  // input has no folder, and the runtime would search the current folder instead.
  for (const location of files) external(location, 0, 0);
  // Prepacking copies the weights of matrix multiplications, which doubled memory use for a model with 1 GB of weights.
  const session = {
    model_external_initializers_file_folder_path: folder,
    ...(isBrief && { disable_prepacking: "1" }),
  };
  return [bytes, { extra: { session } }];
}

/** Returns a model whose tensors, also in functions and bodies, contain their external data. */
const withOwnData = ({ functions, ...model }: Model): Model => ({
  ...model,
  graph: ownGraph(model.graph),
  ...(functions && { functions: functions.map((one) => ({ ...one, graph: ownGraph(one.graph) })) }),
});

const ownGraph = (graph: Graph): Graph => ({
  ...graph,
  constants: graph.constants.map(ownConstant),
  nodes: graph.nodes.map((node) => {
    const attributes = Object.entries(node.attributes).map(([name, one]) => [name, ownData(one)]);
    return withBodies({ ...node, attributes: Object.fromEntries(attributes) }, ownGraph);
  }),
});

function ownData(attribute: Attribute): Attribute {
  const { type, value } = attribute;
  if (type === "tensor") return { ...attribute, value: ownConstant(value) };
  return type === "tensors" ? { ...attribute, value: value.map(ownConstant) } : attribute;
}

/**
 * Removes the reference to the constant's source, so that the writer stores the values. Constants with unknown data
 * types do not change.
 */
const ownConstant = (one: Constant): Constant =>
  one.dtype === null
    ? one
    : { name: one.name, dtype: one.dtype, shape: one.shape, read: () => one.read() };

/**
 * Reads an ONNX model for the runtime, as bytes and as data. Throws a `Failure` for an OpenVINO file name. In a large
 * model, the weights remain in the file as external data.
 */
export function readRunnable(io: Io, file: string): { bytes: Uint8Array; model: Model } {
  if (/\.xml$/i.test(file)) {
    const advice = `convert it with ndscatter convert ${file} --opset 18 -o model.onnx`;
    throw wrongUsage(
      `${file} is an OpenVINO IR by its name, and ONNX Runtime runs only ONNX models; ${advice}`,
    );
  }
  const bytes = (file === STDIN ? null : readLight(io, file)) ?? readBytes(io, file);
  return { bytes, model: withPath(file, () => readModel(bytes, externalOf(io, file))) };
}

/**
 * Returns a large ONNX model whose weights remain in its file. Returns null for a small model, and for a link to a file
 * in another folder, because external data must be in the model's folder.
 */
function readLight(io: Io, file: string): Uint8Array | null {
  const place = path.resolve(io.cwd, file);
  const name = path.basename(place);
  if ((fs.statSync(place, { throwIfNoEntry: false })?.size ?? 0) < CLI.light) return null;
  const isInFolder = path.dirname(fs.realpathSync(place)) === fs.realpathSync(path.dirname(place));
  // A name with a backslash, a zero byte or a drive letter is not valid for external data.
  if (!isInFolder || /[\\\0]|^[A-Za-z]:/.test(name)) return null;
  return withPath(file, () => withFile(io, file, (source) => lightModel(name, source)));
}

/**
 * Returns the bytes of a model that was made from `readLight`, with the weights that are in the file.
 * @param model the file's own model in another form
 */
export function withOwnWeights(io: Io, file: string, model: Uint8Array): Iterable<Uint8Array> {
  if (file === STDIN) return [model];
  const name = path.basename(file);
  const { size } = fs.statSync(path.resolve(io.cwd, file));
  const read = (offset: number, length: number): Uint8Array =>
    externalReader(folderOf(io, file))(name, offset, length);
  return withWeightsOf(model, name, { size, read });
}

/** Reads a model and what --feed, --random and --expected give. `check` gets the model before these files are read. */
export async function readWithInputs(
  io: Io,
  file: string,
  options: RuntimeOptions,
  check?: (model: Model) => void,
) {
  const { bytes, model } = readRunnable(io, file);
  check?.(model);
  // Before the inputs, so that nobody prepares inputs for a runtime that is not installed.
  await loadRuntime(io, options.runtime);
  const feeds = feedsOf(io, file, model, options);
  return { bytes, model, feeds, expected: expectedOf(io, file, model, options.expected) };
}

/** Returns reader options for a model with external data. */
const externalOf = (io: Io, file: string): { readonly external: ReadExternal } => ({
  external: file === STDIN ? fromNoFolder : externalReader(folderOf(io, file)),
});

/**
 * Loads the runtime of the folder where the command runs.
 * @param chosen the package named by the user, if any
 * @throws Failure if the runtime is not installed or cannot be loaded
 */
async function loadRuntime({ cwd }: Io, chosen?: string): Promise<Runtime> {
  const here = createRequire(path.join(cwd, "model.js"));
  const installed = PACKAGES.flatMap((name): [string, string][] => {
    try {
      return [[name, here.resolve(name)]];
    } catch {
      return [];
    }
  });
  const found = installed.find(([name]) => chosen === undefined || name === chosen);
  if (found !== undefined) return importRuntime(...found);
  const others = installed.map(([name]) => name).join(" and ");
  const [wanted, is] = [chosen ?? PACKAGES[0], others === "" ? "" : `${others} is installed; `];
  const what = chosen === undefined ? "no ONNX Runtime" : `no ${chosen}`;
  throw wrongUsage(`${what} is installed here; ${is}install one (npm install ${wanted})`);
}

async function importRuntime(name: string, file: string): Promise<Runtime> {
  let loaded: Partial<Runtime> & { readonly default?: Runtime };
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw wrongUsage(
      `the ${name} that is installed here cannot be loaded: ${reason}; install it again`,
      cause,
    );
  }
  const { InferenceSession = loaded.default?.InferenceSession } = loaded;
  if (InferenceSession !== undefined) return { name, InferenceSession };
  throw wrongUsage(`the ${name} that is installed here has no InferenceSession; install it again`);
}

/** Settings of `inRuntime`. */
interface Run {
  /** The first text on the line of progress. */
  readonly doing: string;
  /** True if sessions run rarely, so preparing external weights for speed is not worthwhile. */
  readonly isBrief?: boolean;
  /** Advice about the way to give inputs, for the error about a missing input. */
  readonly advice?: string;
}

/** Shows progress, and sets the text that is shown before the next session runs. */
type Show = (text: string, doing?: string) => void;

/**
 * Runs a model in the user's runtime with a line of progress, and names its file in errors. A missing input or an
 * unknown node name is a usage error.
 */
export async function inRuntime<T>(
  io: Io,
  file: string,
  options: RuntimeOptions,
  { doing: first, isBrief = false, advice = "give inputs with --feed NAME=FILE" }: Run,
  action: (sessions: Sessions, show: Show) => Promise<T>,
): Promise<T> {
  const line = new ProgressLine(io.stderr, undefined, true);
  const name = printFile(file);
  let doing = first;
  const show: Show = (text, now) => {
    if (now !== undefined) doing = `${now}, in ONNX Runtime`;
    line.show(() => `${name}: ${text}`);
  };
  const starting = (): void => line.showNow(`${name}: ${doing}`);
  const sessions = await makeSessions(io, file, options, starting, isBrief);
  try {
    return await action(sessions, show);
  } catch (error) {
    // This error code without an axis means that an input is missing. Errors about a wrong size name the axis, and a
    // wrong rank has its own code.
    if (isTensorError(error, "shape-mismatch") && error.input && error.axis === undefined) {
      throw wrongUsage(`${name}: ${error.message}; ${advice}`, error);
    }
    if (isTensorError(error, "unsupported-model"))
      throw wrongUsage(`${name}: ${error.message}`, error);
    throw errorAt(file, error);
  } finally {
    line.clear();
  }
}
