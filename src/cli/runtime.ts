/** The user's own ONNX Runtime: looked up from the folder in which the command runs, never a dependency of this package. */

import { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { isTensorError, type Tensor } from "../index.ts";
import {
  externalFiles,
  readModel,
  type CaptureOptions,
  type CreateSession,
  type Session,
} from "../onnx/index.ts";
import { bindFiles } from "./bindings.ts";
import { errorAt, printFile, STDIN, wrongUsage } from "./failure.ts";
import type { Io } from "./io.ts";
import { escapeControls, printCount } from "./layout.ts";
import { collect, parseInteger } from "./operator-call.ts";
import { externalReader, folderOf, readTensorFiles } from "./read-files.ts";

const PACKAGES = ["onnxruntime-node", "onnxruntime-web"];

/** As much of the runtime as is used. */
interface Runtime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<Session>;
  };
}

/** The options of commands that run a model in the user's runtime. */
export interface RuntimeOptions {
  readonly feed?: readonly string[];
  /** Counts of threads of the runtime. */
  readonly threads?: readonly number[];
  readonly iteration?: number;
}

export function parseCount(text: string, option: string): number {
  const count = parseInteger(text);
  if (count !== null && count >= 0) return count;
  throw wrongUsage(`${option} takes a number, got ${JSON.stringify(text)}`);
}

export const addRuntimeOptions = (command: Command): Command =>
  command
    .option("--feed <name=file>", "a tensor for an input of the model; once for each", collect)
    .option(
      "--threads <counts>",
      "the threads of the runtime; 1,4 runs with each",
      (text: string) => text.split(",").map((one) => parseCount(one, "--threads")),
    )
    .option("--iteration <number>", "which iteration of loops to look at, from 0", (text: string) =>
      parseCount(text, "--iteration"),
    );

/** Makers of sessions of the user's runtime. */
export interface Sessions {
  /** What the functions of `ndscatter/onnx` take. */
  readonly own: Pick<CaptureOptions, "createSession" | "external">;
  /** Those with the other counts of threads, by what they are called. */
  readonly others: Readonly<Record<string, CreateSession>>;
}

/**
 * @param starting is told before a session runs, which may take long and cannot be interrupted
 * @throws Failure where no runtime is installed
 */
export async function makeSessions(
  io: Io,
  file: string,
  { threads = [] }: RuntimeOptions,
  starting: () => void,
): Promise<Sessions> {
  const runtime = await loadRuntime(io);
  // The data of a model in other files are read where they are.
  const external = file === STDIN ? undefined : externalReader(folderOf(io, file));
  const maker =
    (count?: number): CreateSession =>
    (bytes) => {
      starting();
      const files = externalFiles(readModel(bytes));
      const externalData = files.map((name) => ({ path: name, data: external?.(name) }));
      return runtime.InferenceSession.create(bytes, {
        // What the runtime says is reported, so it need not be logged too.
        logSeverityLevel: 4,
        ...(count !== undefined && { intraOpNumThreads: count }),
        ...(files.length > 0 && { externalData }),
      });
    };
  const [first, ...more] = threads;
  const others = more.map((count) => [printCount(count, "thread"), maker(count)] as const);
  return {
    own: { createSession: maker(first), ...(external && { external }) },
    others: Object.fromEntries(others),
  };
}

async function loadRuntime({ cwd }: Io): Promise<Runtime> {
  const here = createRequire(path.join(cwd, "model.js"));
  for (const name of PACKAGES) {
    let found: string;
    try {
      found = here.resolve(name);
    } catch {
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop
    return await importRuntime(name, found);
  }
  throw wrongUsage(
    `there is no ONNX Runtime here; install yours first, such as by npm install ${PACKAGES[0]}`,
  );
}

async function importRuntime(name: string, file: string): Promise<Runtime> {
  let loaded: Partial<Runtime> & { readonly default?: Runtime };
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw wrongUsage(`the ${name} that is installed here cannot be loaded: ${reason}`, cause);
  }
  const { InferenceSession = loaded.default?.InferenceSession } = loaded;
  if (InferenceSession !== undefined) return { InferenceSession };
  throw wrongUsage(`the ${name} that is installed here makes no sessions; install it anew`);
}

/**
 * Runs a model and names its file in errors. A missing input and a name that no node has are wrong use, and the sentence says
 * what to do.
 */
export async function inModel<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    // Of a tensor that does not fit an axis is named, or its rank is another error.
    if (isTensorError(error, "shape-mismatch") && error.input && error.axis === undefined) {
      const advice = "give inputs with --feed NAME=FILE";
      throw wrongUsage(escapeControls(`${printFile(file)}: ${error.message}; ${advice}`), error);
    }
    if (isTensorError(error, "unsupported-model"))
      throw wrongUsage(escapeControls(`${printFile(file)}: ${error.message}`), error);
    throw errorAt(file, error);
  }
}

/** The tensors that are fed to a model. */
export function readFeeds(
  io: Io,
  file: string,
  inputs: readonly string[],
  { feed = [] }: RuntimeOptions,
): Record<string, Tensor> {
  const files = bindFiles(feed, inputs, "input", file);
  return Object.fromEntries(readTensorFiles(io, files));
}
