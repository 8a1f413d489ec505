/**
 * Loads the user's ONNX Runtime from the folder in which the command runs. ONNX Runtime is not a dependency of this
 * package.
 */

import { printCount } from "../../core/foreign.ts";
import { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { Option, type Command } from "commander";
import { isTensorError } from "../../entries/index.ts";
import {
  externalFiles,
  readModel,
  writeModel,
  type CaptureOptions,
  type CreateSession,
  type ReadExternal,
  type Session,
  type SessionSettings,
} from "../../entries/onnx.ts";
import { errorAt, printFile, STDIN, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { parseWhole, wholeOption } from "./numbers.ts";
import type { FeedOptions } from "./feeds.ts";
import { externalReader, folderOf, fromNoFolder, readBytes, readLight } from "./read-files.ts";
import { withOwnData } from "./own-data.ts";

export const PACKAGES = ["onnxruntime-node", "onnxruntime-web"];

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
  /** The runtime's package name. */
  readonly runtime?: string;
  /** The execution provider. */
  readonly provider?: string;
}

/** Adds the options that select the runtime. */
export const addRuntimeChoice = (command: Command): Command =>
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
    );

export const addRuntimeOptions = (command: Command): Command =>
  addRuntimeChoice(command)
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

/** Session factories for the user's runtime. */
export interface Sessions {
  /** The runtime's package name. */
  readonly runtime: string;
  /** Options for `ndscatter/onnx` functions. */
  readonly own: Pick<CaptureOptions, "createSession" | "external">;
  /** Session factories for additional thread counts, by title. */
  readonly others: Readonly<Record<string, CreateSession>>;
  /** Creates single-thread sessions; null if the runtime cannot set the thread count per session. */
  readonly oneThread: CreateSession | null;
}

/**
 * `starting` is called before each session runs, because a run may take long and cannot be interrupted. `isBrief` is
 * true if sessions run rarely, so preparing external weights for speed is not worthwhile. Throws a `Failure` if no
 * runtime is installed.
 */
export async function makeSessions(
  io: Io,
  file: string,
  { threads = [], runtime: name, provider }: RuntimeOptions,
  starting: () => void,
  isBrief = false,
): Promise<Sessions> {
  const runtime = await loadRuntime(io, name);
  const folder = folderOf(io, file);
  const { external } = externalOf(io, file);
  const maker =
    (count?: number): CreateSession =>
    (bytes, settings) => {
      starting();
      const [model, options] = withWeights(runtime, bytes, folder, external, isBrief);
      return runtime.InferenceSession.create(model, {
        // The runtime need not log messages, because the command reports them.
        logSeverityLevel: 4,
        ...(provider !== undefined && { executionProviders: [provider] }),
        ...(count !== undefined && { intraOpNumThreads: count }),
        ...settingsFor(runtime, settings),
        ...options,
      });
    };
  const [first, ...more] = threads;
  const others = more.map((count) => [printCount(count, "thread"), maker(count)] as const);
  return {
    runtime: runtime.name,
    own: { createSession: maker(first), external },
    others: Object.fromEntries(others),
    // The package onnxruntime-web sets one thread count for all sessions.
    oneThread: runtime.name === "onnxruntime-node" ? maker(1) : null,
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

/**
 * Reads an ONNX model for the runtime. Throws a `Failure` for an OpenVINO file name. In a large model, the weights
 * remain in the file as external data.
 */
export function readForRuntime(io: Io, file: string): Uint8Array {
  if (!/\.xml$/i.test(file))
    return (file === STDIN ? null : readLight(io, file)) ?? readBytes(io, file);
  const advice = `convert it with ndscatter convert ${file} --opset 18 -o model.onnx`;
  throw wrongUsage(
    `${file} is an OpenVINO IR by its name, and ONNX Runtime runs only ONNX models; ${advice}`,
  );
}

/** Returns reader options for a model with external data. */
export const externalOf = (io: Io, file: string): { readonly external: ReadExternal } => ({
  external: file === STDIN ? fromNoFolder : externalReader(folderOf(io, file)),
});

/**
 * Loads the runtime of the folder where the command runs.
 * @param chosen the package named by the user, if any
 * @throws Failure if the runtime is not installed or cannot be loaded
 */
export async function loadRuntime({ cwd }: Io, chosen?: string): Promise<Runtime> {
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

/**
 * Runs a model and names its file in errors. A missing input or an unknown node name is a usage error.
 * @param advice how to give inputs to the command
 */
export async function inModel<T>(
  file: string,
  action: () => Promise<T>,
  advice = "give inputs with --feed NAME=FILE",
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    // This error code without an axis means that an input is missing. Errors about a wrong size name the axis, and a
    // wrong rank has its own code.
    if (isTensorError(error, "shape-mismatch") && error.input && error.axis === undefined) {
      throw wrongUsage(`${printFile(file)}: ${error.message}; ${advice}`, error);
    }
    if (isTensorError(error, "unsupported-model"))
      throw wrongUsage(`${printFile(file)}: ${error.message}`, error);
    throw errorAt(file, error);
  }
}
