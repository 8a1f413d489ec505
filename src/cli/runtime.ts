/** The user's own ONNX Runtime: looked up from the folder in which the command runs, never a dependency of this package. */

import { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import type { Tensor } from "../index.ts";
import { externalFiles, readModel, type CaptureOptions, type Session } from "../onnx/index.ts";
import { bindFiles } from "./bindings.ts";
import { STDIN, wrongUsage } from "./failure.ts";
import type { Io } from "./io.ts";
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
  readonly threads?: number;
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
    .option("--threads <count>", "the threads of the runtime", (text: string) =>
      parseCount(text, "--threads"),
    )
    .option("--iteration <number>", "the iteration of loops that counts, from 0", (text: string) =>
      parseCount(text, "--iteration"),
    );

/** @throws Failure where no runtime is installed */
export async function makeSessions(
  io: Io,
  file: string,
  { threads }: RuntimeOptions,
): Promise<Pick<CaptureOptions, "createSession" | "external">> {
  const runtime = await loadRuntime(io);
  const options = {
    logSeverityLevel: 3,
    ...(threads !== undefined && { intraOpNumThreads: threads }),
  };
  // The data of a model in other files are read where they are.
  const external = file === STDIN ? undefined : externalReader(folderOf(io, file));
  const createSession = (bytes: Uint8Array): Promise<Session> => {
    const files = externalFiles(readModel(bytes));
    const externalData = files.map((name) => ({ path: name, data: external?.(name) }));
    return runtime.InferenceSession.create(bytes, {
      ...options,
      ...(files.length > 0 && { externalData }),
    });
  };
  return { createSession, ...(external && { external }) };
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
